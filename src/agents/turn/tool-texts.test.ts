import { expect, test } from "vitest";
import { claudeDialect } from "../cli/claude-dialect.ts";
import { codexDialect } from "../cli/codex-dialect.ts";
import { asRecord } from "./untrusted-json.ts";
import { toLiveEvent, ToolCalls } from "./tool-calls.ts";
import { describeInput, describeOutput } from "./tool-texts.ts";

test.each<[unknown, string | null]>([
  [{ command: "npm test" }, "npm test"],
  [{ command: ["bash", "-lc", "npm test"] }, "bash -lc npm test"],
  [{ cmd: "ls" }, "ls"],
  ["ls -la", "ls -la"],
  [
    { file_path: "a.ts", old_string: "x", new_string: "y" },
    '{"file_path":"a.ts","old_string":"x","new_string":"y"}',
  ],
  [{}, null],
  [undefined, null],
  [null, null],
  [3, null],
])("what a tool was given: %j", (raw, text) => expect(describeInput(raw)).toBe(text));

test.each<[object, string | null]>([
  [
    {
      content: [
        { type: "content", content: { type: "text", text: "one" } },
        { type: "text", text: "two" },
      ],
    },
    "one\ntwo",
  ],
  [{ content: [{ type: "diff", path: "a.ts", oldText: "x", newText: "y" }] }, "changes a.ts"],
  [{ rawOutput: "plain" }, "plain"],
  [{ rawOutput: { formatted_output: "codex" } }, "codex"],
  [{ rawOutput: [{ type: "text", text: "claude" }] }, "claude"],
  [{ rawOutput: { content: [{ type: "text", text: "mcp" }] } }, "mcp"],
  [{ rawOutput: { odd: 1 } }, '{"odd":1}'],
  [{ rawOutput: "x".repeat(3_000_000) }, "x".repeat(1024 * 1024)],
  [{}, null],
  [{ content: "junk", rawOutput: 7 }, null],
])("what a tool answered: %#", (update, text) =>
  expect(describeOutput(asRecord(update))).toBe(text),
);

/**
 * What a command line that prints JSON lines reports of its tool calls, with what they were given
 * and what they answered.
 */
function reported(
  hear: typeof claudeDialect.parseLine,
  lines: readonly object[],
): readonly object[] {
  const calls = new ToolCalls();
  return lines.flatMap((line) =>
    (hear(asRecord(line)).updates ?? []).flatMap((update) => {
      const call = calls.merge(update);
      return call === null ? [] : [toLiveEvent("1@1/do#1", call)];
    }),
  );
}

test("claude -p: a command and its output", () => {
  const use = { type: "tool_use", id: "t", name: "Bash", input: { command: "npm test" } };
  const result = {
    type: "tool_result",
    tool_use_id: "t",
    content: [{ type: "text", text: "3 passed" }],
  };

  const signals = reported(claudeDialect.parseLine, [
    { type: "assistant", message: { content: [use] } },
    { type: "user", message: { content: [result] } },
  ]);
  expect(signals).toMatchObject([
    { input: "npm test", kind: "execute" },
    { input: "npm test", status: "completed", output: "3 passed" },
  ]);

  expect(signals[0]).not.toHaveProperty("output");
});

test("codex exec: a command and its output", () => {
  const item = { id: "i", type: "command_execution", command: "bash -lc 'npm test'" };
  const signals = reported(codexDialect.parseLine, [
    { type: "item.started", item: { ...item, aggregated_output: "", status: "in_progress" } },
    {
      type: "item.completed",
      item: { ...item, aggregated_output: "1 failed", exit_code: 1, status: "failed" },
    },
  ]);
  expect(signals.at(-1)).toMatchObject({
    input: "bash -lc 'npm test'",
    status: "failed",
    output: "1 failed",
  });
});
