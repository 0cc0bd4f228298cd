// The lines are written by hand after what the two commands were seen to print; no recordings.

import { describe, expect, test } from "vitest";
import { claudeDialect } from "./claude-dialect.ts";
import { codexDialect } from "./codex-dialect.ts";
import type { ParsedLine, PromptRequest } from "./dialect.ts";

const unlimited = { tokens: Infinity, usd: Infinity, calls: Infinity };
const tools = {
  name: "autopilot",
  command: "/bin/node",
  args: ["/x/returns.cjs"],
  env: [{ name: "AUTOPILOT_TOOLS_URL", value: "http://u" }],
};
const promptRequest = (changes: Partial<PromptRequest>): PromptRequest => ({
  argv: ["agent", "exec", "--json"],
  prompt: "Do it.",
  session: null,
  mode: "full",
  allowanceLeft: unlimited,
  tools: null,
  ...changes,
});

describe("claude -p", () => {
  const { composeCommand, parseLine } = claudeDialect;

  test("a new session bears our name, and what is left is handed down", () => {
    const { argv, input } = composeCommand(
      promptRequest({
        argv: ["claude", "-p"],
        session: { name: "u", isResumed: false },
        allowanceLeft: { tokens: 9, usd: 1.5, calls: 7.9 },
      }),
    );
    expect(argv).toEqual([
      "claude",
      "-p",
      "--session-id",
      "u",
      "--max-turns",
      "7",
      "--max-budget-usd",
      "1.5000",
      "--",
      "Do it.",
    ]);

    expect(input).toBe(null);
  });

  test("an older session is resumed, without a limit that would count all of it", () => {
    const { argv } = composeCommand(
      promptRequest({
        argv: ["claude"],
        session: { name: "u", isResumed: true },
        allowanceLeft: { ...unlimited, usd: 1 },
      }),
    );
    expect(argv).toEqual(["claude", "--resume", "u", "--", "Do it."]);
  });

  test("the runner's tools are named, and a long prompt is given to read", () => {
    const { argv, input } = composeCommand(promptRequest({ tools, prompt: "x".repeat(200_000) }));
    const config = JSON.parse(argv[argv.indexOf("--mcp-config") + 1] ?? "") as unknown;
    expect(config).toMatchObject({
      mcpServers: {
        autopilot: {
          command: "/bin/node",
          args: ["/x/returns.cjs"],
          env: { AUTOPILOT_TOOLS_URL: "http://u" },
        },
      },
    });

    expect(argv).not.toContain("--");
    expect(input).toHaveLength(200_000);
  });

  test.each<[string, object, object]>([
    ["its beginning", { type: "system", subtype: "init", session_id: "u" }, { session: "u" }],
    [
      "a word and an action",
      {
        type: "assistant",
        message: {
          id: "m",
          content: [
            { type: "text", text: "ok" },
            {
              type: "tool_use",
              id: "t",
              name: "Write",
              input: { file_path: "/l/a", content: "x" },
            },
          ],
        },
      },
      {
        updates: [
          { sessionUpdate: "usage_update", messageId: "m" },
          { sessionUpdate: "agent_message_chunk", content: { text: "ok\n" } },
          {
            sessionUpdate: "tool_call",
            toolCallId: "t",
            kind: "edit",
            locations: [{ path: "/l/a" }],
          },
        ],
      },
    ],
    [
      "the word of an agent below it",
      {
        type: "assistant",
        parent_tool_use_id: "t",
        message: { id: "m", content: [{ type: "text", text: "mine" }] },
      },
      { updates: [{ sessionUpdate: "usage_update" }] },
    ],
    [
      "an action's end",
      {
        type: "user",
        message: { content: [{ type: "tool_result", tool_use_id: "t", is_error: true }] },
      },
      { updates: [{ sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed" }] },
    ],
    [
      "a good end, whose type is not the first key",
      {
        subtype: "success",
        is_error: false,
        usage: { input_tokens: 1, output_tokens: 2 },
        total_cost_usd: 0.5,
        permission_denials: [],
        type: "result",
      },
      { usage: { input_tokens: 1 }, costUsd: 0.5, end: { by: "stop", stop: "end_turn" } },
    ],
    [
      "a success that is an error of the provider",
      {
        type: "result",
        subtype: "success",
        is_error: true,
        api_error_status: 429,
        result: "API Error: 429 slow down",
      },
      { end: { by: "error", code: 429, message: "API Error: 429 slow down" } },
    ],
    [
      "too many turns",
      { type: "result", subtype: "error_max_turns", is_error: true },
      { end: { by: "stop", stop: "max_turn_requests" } },
    ],
    [
      "its budget",
      { type: "result", subtype: "error_max_budget_usd", is_error: true },
      { end: { by: "budget" } },
    ],
    [
      "interrupted, whatever its exit code",
      { type: "result", subtype: "error_during_execution", is_error: true },
      { end: { by: "error", code: -32603 } },
    ],
    ["an end nobody knows", { type: "result", subtype: "whatever" }, { end: { by: "error" } }],
    [
      "what was denied",
      {
        type: "result",
        subtype: "success",
        is_error: false,
        permission_denials: [{ tool_name: "Bash" }, { tool_name: "Bash" }],
      },
      { warnings: ["2 of its tool calls were denied: Bash"] },
    ],
  ])("%s", (_, line, expected) => {
    expect(parseLine(line as Record<string, unknown>)).toMatchObject(expected);
  });

  test.each<[string, object, ParsedLine]>([
    ["a line nobody knows", { type: "stream_event", whatever: 1 }, {}],
    [
      "nonsense, which counts as a call",
      { type: "assistant", message: 7 },
      { updates: [{ sessionUpdate: "usage_update" }] },
    ],
  ])("no word in %s", (_, line, expected) => {
    expect(parseLine(line as Record<string, unknown>)).toEqual(expected);
  });
});

describe("codex exec", () => {
  const { composeCommand, parseLine } = codexDialect;

  test("a thread is taken up by its name, before every option", () => {
    expect(composeCommand(promptRequest({})).argv).toEqual(["agent", "exec", "--json", "Do it."]);
    expect(
      composeCommand(promptRequest({ session: { name: "th", isResumed: true } })).argv,
    ).toEqual(["agent", "exec", "resume", "--json", "th", "Do it."]);
  });

  test("the runner's tools are named as changes to its config, and a long prompt is given to read", () => {
    const { argv, input } = composeCommand(promptRequest({ tools, prompt: "x".repeat(200_000) }));
    expect(argv).toContain('mcp_servers.autopilot.env={ AUTOPILOT_TOOLS_URL = "http://u" }');
    expect(argv).toContain('mcp_servers.autopilot.args=["/x/returns.cjs"]');
    expect(argv.at(-1)).toBe("-");
    expect(input).toHaveLength(200_000);
  });

  test.each<[string, object, object]>([
    ["its beginning", { type: "thread.started", thread_id: "th" }, { session: "th" }],
    [
      "a word",
      { type: "item.completed", item: { id: "i", type: "agent_message", text: "ok" } },
      { updates: [{ content: { text: "ok\n" } }] },
    ],
    [
      "a command at work",
      {
        type: "item.started",
        item: { id: "i", type: "command_execution", command: "ls", status: "in_progress" },
      },
      { updates: [{ toolCallId: "i", kind: "execute", status: "in_progress", title: "ls" }] },
    ],
    [
      "a command that failed",
      {
        type: "item.completed",
        item: { id: "i", type: "command_execution", command: "ls", status: "failed", exit_code: 1 },
      },
      { updates: [{ status: "failed" }] },
    ],
    [
      "a change",
      {
        type: "item.completed",
        item: {
          id: "i",
          type: "file_change",
          changes: [{ path: "/l/a", kind: "add" }],
          status: "completed",
        },
      },
      { updates: [{ kind: "edit", locations: [{ path: "/l/a" }], status: "completed" }] },
    ],
    [
      "a good end",
      { type: "turn.completed", usage: { input_tokens: 5 } },
      { usage: { input_tokens: 5 }, end: { by: "stop", stop: "end_turn" } },
    ],
    [
      "a bad end",
      { type: "turn.failed", error: { message: "exceeded retry limit, last status: 429" } },
      { end: { by: "error", message: "exceeded retry limit, last status: 429" } },
    ],
    [
      "a complaint that ends nothing",
      { type: "error", message: "Reconnecting... 1/5" },
      { errorText: "Reconnecting... 1/5" },
    ],
  ])("%s", (_, line, expected) => {
    expect(parseLine(line as Record<string, unknown>)).toMatchObject(expected);
  });

  test.each<[string, object, ParsedLine]>([
    ["a line nobody knows", { type: "turn.started" }, {}],
    ["nonsense", { type: "item.completed", item: null }, {}],
  ])("no word in %s", (_, line, expected) => {
    expect(parseLine(line as Record<string, unknown>)).toEqual(expected);
  });
});
