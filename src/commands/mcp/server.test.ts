import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommandContext } from "../../project/command-context.ts";
import { commandContext } from "../../../test/support/command-context.ts";
import { Refusal } from "../../project/respond.ts";
import { serveMcp } from "../../surfaces/mcp/serve.ts";
import { toAgentName, openMcpServer } from "./server.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "mcp-"));
  execFileSync("git", ["init", "-q"], { cwd: root });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const place = (env: NodeJS.ProcessEnv = {}): CommandContext =>
  commandContext({ cwd: root, env: { HOME: root, PATH: "/usr/bin:/bin", ...env }, user: "me" });

type Shown = { readonly name: string; readonly annotations: { readonly readOnlyHint: boolean } };
const ask = async (
  server: (line: string) => Promise<string | null>,
  method: string,
  params: object = {},
): Promise<unknown> =>
  JSON.parse(
    (await server(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))) ?? "null",
  ) as unknown;
const toolsOf = async (grants: readonly string[]): Promise<readonly Shown[]> =>
  ((await ask(openMcpServer(place(), grants), "tools/list")) as { result: { tools: Shown[] } })
    .result.tools;
const call = async (
  name: string,
  input: object,
  env: NodeJS.ProcessEnv = {},
): Promise<Record<string, unknown>> => {
  const { result } = (await ask(openMcpServer(place(env), []), "tools/call", {
    name,
    arguments: input,
  })) as {
    result: { content: [{ text: string }] };
  };
  return JSON.parse(result.content[0].text) as Record<string, unknown>;
};
const granting = ["ack", "answer", "resume", "stop", "budget_raise"];

test("by default there are tools that read, draft, propose and pause; one that grants only by name", async () => {
  const usual = (await toolsOf([])).map(({ name }) => name);
  expect(usual).toEqual(
    "status runs report log inbox diff estimate roadmap_list portfolio_status explain validate doctor draft pause add_task".split(
      " ",
    ),
  );

  expect(
    (await toolsOf([]))
      .filter(({ annotations }) => !annotations.readOnlyHint)
      .map(({ name }) => name),
  ).toEqual(["draft", "pause", "add_task"]);

  expect((await toolsOf(["answer"])).map(({ name }) => name)).toEqual([...usual, "answer"]);
  expect((await toolsOf(granting)).map(({ name }) => name)).toEqual([...usual, ...granting]);
});

test("a granting tool that was not named is no tool at all, and one that is not there is refused at the start", async () => {
  for (const name of granting) {
    expect(
      await ask(openMcpServer(place(), []), "tools/call", { name, arguments: {} }),
    ).toMatchObject({ error: { code: -32602 } });
  }

  expect(() => openMcpServer(place(), ["status"])).toThrow(Refusal);
});

test("inside a run there is no server", () => {
  expect(() => openMcpServer(place({ AUTOPILOT_LIFE: "x" }), [])).toThrow("inside a run");
});

test.each([
  [null, "mcp"],
  ["", "mcp"],
  ["Claude Code", "Claude-Code"],
  ["operator:me", "operator-me"],
  ["x\n\u001b[31m", "x-31m"],
  ["a".repeat(200), "a".repeat(64)],
])("a client that calls itself %j acts as agent:%s", (client, name) => {
  expect(toAgentName(client)).toBe(name);
});

test("wrong input is told with its field, and nothing outside the project is read", async () => {
  expect(await call("log", { limit: 0 })).toMatchObject({
    reason_code: "usage",
    message: expect.stringContaining("limit") as string,
  });

  expect(await call("status", { run: "x", actor: "operator:me" })).toMatchObject({
    reason_code: "usage",
  });

  for (const path of ["/etc/passwd", "../x", "a/../../x"]) {
    expect(await call("validate", { path })).toMatchObject({
      message: expect.stringContaining("inside the project") as string,
    });
  }

  expect(await call("explain", { reason_code: "toString" })).toMatchObject({
    reason_code: "usage",
  });

  expect(await call("explain", { reason_code: "inside_a_run" })).toMatchObject({
    result: "PASS",
    data: { result: "FAIL" },
  });
});

test("a secret of the environment does not go out", async () => {
  const said = await call(
    "explain",
    { reason_code: "ghp_0123456789abcdefghij" },
    { GITHUB_TOKEN: "ghp_0123456789abcdefghij" },
  );
  expect(JSON.stringify(said)).not.toContain("0123456789");
});

test("over a stream: a line that never ends is told and skipped, the next ones are answered, the last without its line end too", async () => {
  const ping = (id: number): string => JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
  const pieces = [
    "x".repeat(3_000_000),
    "x".repeat(3_000_000),
    "x\n",
    ping(1).slice(0, 9),
    `${ping(1).slice(9)}\r\n\n`,
    ping(2),
  ];

  const lines: string[] = [];
  const response = await serveMcp(place(), { grants: [], from: Readable.from(pieces) }, (line) =>
    lines.push(line),
  );
  expect(response).toMatchObject({ result: "PASS", page: [] });
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { id: null, error: { code: -32600 } },
    { id: 1, result: {} },
    { id: 2, result: {} },
  ]);
});
