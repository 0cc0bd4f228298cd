import { expect, test } from "vitest";
import { createMcpServer, sessionVersions, statelessVersion } from "./mcp-server.ts";
import {
  describeReturnsOffer,
  describeReturnsServer,
  describeTools,
} from "./answer-tools/tools.ts";

const schema = { type: "object", properties: { count: { type: "number" } }, required: ["count"] };
const calls: unknown[] = [];
const clients: unknown[] = [];
const server = createMcpServer(describeReturnsOffer(schema), (name, value, client) => {
  calls.push({ name, value });
  clients.push(client);
  if (name === "note") return Promise.reject(new Error("the line is dead"));

  return Promise.resolve({ ok: name === "submit_result", text: `${name} it is` });
});
const ask = async (message: unknown): Promise<unknown> => {
  const answer = await server(typeof message === "string" ? message : JSON.stringify(message));
  return answer === null ? null : JSON.parse(answer);
};
const request = (method: string, params?: object, id: unknown = 7) =>
  ask({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });

const versions: readonly (readonly [string, string])[] = [
  ...sessionVersions.map((known) => [known, known] as const),
  ["1999-01-01", sessionVersions[0]],
  [statelessVersion, sessionVersions[0]],
];
test.each(versions)("a client of %s is answered in %s", async (protocolVersion, expected) => {
  expect(
    await request("initialize", {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: "x", version: "1" },
    }),
  ).toMatchObject({
    jsonrpc: "2.0",
    id: 7,
    result: {
      protocolVersion: expected,
      capabilities: { tools: {} },
      serverInfo: { name: "autopilot" },
    },
  });
});

test("the tools are listed with object schemas, the result's with the step's own", async () => {
  const { result } = (await request("tools/list")) as {
    result: { tools: { name: string; inputSchema: { type: string } }[] };
  };
  expect(result.tools.map(({ name }) => name)).toEqual(["submit_result", "ask_human", "note"]);
  expect(result.tools[0]?.inputSchema).toEqual(schema);
  expect(result.tools.every(({ inputSchema }) => inputSchema.type === "object")).toBe(true);
  expect(describeTools(null).map(({ name }) => name)).toEqual(["ask_human", "note"]);
});

test("a call is passed on, and what fails is told in its result", async () => {
  expect(
    await request("tools/call", { name: "submit_result", arguments: { count: 1 } }),
  ).toMatchObject({
    result: { content: [{ type: "text", text: "submit_result it is" }], isError: false },
  });

  expect(await request("tools/call", { name: "ask_human" })).toMatchObject({
    result: { isError: true },
  });

  expect(await request("tools/call", { name: "note", arguments: {} })).toMatchObject({
    result: { content: [{ type: "text", text: "the line is dead" }], isError: true },
  });

  expect(calls).toEqual([
    { name: "submit_result", value: { count: 1 } },
    { name: "ask_human", value: {} },
    { name: "note", value: {} },
  ]);
});

test.each([
  ["a ping", { jsonrpc: "2.0", id: "p", method: "ping" }, { id: "p", result: {} }],
  [
    "a tool that is not there",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "rm" } },
    { id: 1, error: { code: -32602 } },
  ],
  [
    "a method that is not there",
    { jsonrpc: "2.0", id: 1, method: "resources/list" },
    { id: 1, error: { code: -32601 } },
  ],
  ["what is no JSON", "{ oops", { id: null, error: { code: -32700 } }],
  ["a batch", [{ jsonrpc: "2.0", id: 1, method: "ping" }], { id: null, error: { code: -32600 } }],
  [
    "a method that is no text",
    { jsonrpc: "2.0", id: 9, method: 5 },
    { id: 9, error: { code: -32600 } },
  ],
  [
    "an id of another kind",
    { jsonrpc: "2.0", id: {}, method: "ping" },
    { id: null, error: { code: -32600 } },
  ],
  [
    "arguments that are no object",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "note", arguments: [] } },
    { id: 1, error: { code: -32602 } },
  ],
  [
    "another protocol",
    { jsonrpc: "1.0", id: 1, method: "ping" },
    { id: null, error: { code: -32600 } },
  ],
])("%s", async (_, message, expected) => {
  expect(await ask(message)).toMatchObject(expected);
});

test.each([
  ["a notification", { jsonrpc: "2.0", method: "notifications/initialized" }],
  ["an answer", { jsonrpc: "2.0", id: 1, result: {} }],
  ["an empty line", ""],
])("%s is not answered", async (_, message) => {
  expect(await ask(message)).toBe(null);
});

test("calls are passed on in order, and a ping does not wait for them", async () => {
  const order: string[] = [];
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));

  const slow = createMcpServer(describeReturnsOffer(null), async (_, value) => {
    const { text } = value as { text: string };
    if (text === "first") await gate;
    order.push(text);

    return { ok: true, text };
  });
  const note = (text: string, id: number) =>
    slow(
      JSON.stringify({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "note", arguments: { text } },
      }),
    );
  const both = [note("first", 1), note("second", 2)];
  expect(await slow(JSON.stringify({ jsonrpc: "2.0", id: 3, method: "ping" }))).toContain('"id":3');
  expect(order).toEqual([]);
  release();
  await Promise.all(both);
  expect(order).toEqual(["first", "second"]);
});

test("the program is named with its address; a schema that is no object's, or too long, is left out", () => {
  const program = { node: "/bin/node", entry: "/x/returns.cjs" };
  const account = { toolsUrl: "http://127.0.0.1:1/autopilot/tools", token: "t" };
  const names = (given: object | null) =>
    describeReturnsServer(program, account, given).env.map(({ name }) => name);
  expect(names(schema)).toEqual([
    "AUTOPILOT_TOOLS_URL",
    "AUTOPILOT_TOOLS_TOKEN",
    "AUTOPILOT_TOOLS_SCHEMA",
  ]);

  for (const odd of [
    null,
    { type: "array" },
    { type: "object", description: "x".repeat(200_000) },
  ]) {
    expect(names(odd)).toHaveLength(2);
  }
});

const about = (version: string, more: object = {}) => ({
  _meta: {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
    ...more,
  },
});

test("a request of 2026-07-28 needs no handshake: it is discovered, listed and called, each answer with its type", async () => {
  const info = { "io.modelcontextprotocol/serverInfo": { name: "autopilot", version: "1" } };
  expect(await request("server/discover", about(statelessVersion))).toEqual({
    jsonrpc: "2.0",
    id: 7,
    result: {
      resultType: "complete",
      supportedVersions: [statelessVersion, ...sessionVersions],
      capabilities: { tools: {} },
      instructions: expect.any(String) as string,
      ttlMs: expect.any(Number) as number,
      cacheScope: "private",
      _meta: info,
    },
  });

  expect(await request("tools/list", about(statelessVersion))).toMatchObject({
    result: {
      resultType: "complete",
      tools: { length: 3 },
      ttlMs: expect.any(Number) as number,
      cacheScope: "private",
      _meta: info,
    },
  });

  const named = about(statelessVersion, {
    "io.modelcontextprotocol/clientInfo": { name: "modern", version: "2" },
  });

  expect(
    await request("tools/call", { name: "submit_result", arguments: {}, ...named }),
  ).toMatchObject({
    result: {
      resultType: "complete",
      content: [{ type: "text", text: "submit_result it is" }],
      isError: false,
    },
  });

  expect(clients.at(-1)).toBe("modern");
  await request("tools/call", { name: "submit_result", arguments: {}, ...about(statelessVersion) });
  expect(clients.at(-1), "nothing is taken from an earlier request").toBe(null);
});

test.each([
  ["a revision nobody knows", "tools/list", about("2030-01-01"), -32022],
  ["an older revision, which needs its handshake", "tools/list", about("2025-06-18"), -32022],
  [
    "no capabilities",
    "tools/list",
    { _meta: { "io.modelcontextprotocol/protocolVersion": statelessVersion } },
    -32602,
  ],
  ["a handshake, which is gone", "initialize", about(statelessVersion), -32601],
  ["a ping, which is gone", "ping", about(statelessVersion), -32601],
] as const)("2026-07-28: %s", async (_what, method, params, code) => {
  const { error } = (await request(method, params)) as { error: { code: number; data?: object } };
  expect(error.code).toBe(code);

  if (code === -32022) {
    expect(error.data).toMatchObject({ supported: [statelessVersion, ...sessionVersions] });
  }
});

test("several messages in one line are answered together where 2025-03-26 was agreed on", async () => {
  const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
  await request("initialize", { protocolVersion: "2025-03-26" });
  expect(await ask([ping(1), { jsonrpc: "2.0", method: "notifications/x" }, ping(2)])).toEqual([
    { jsonrpc: "2.0", id: 1, result: {} },
    { jsonrpc: "2.0", id: 2, result: {} },
  ]);

  await request("initialize", { protocolVersion: "2025-11-25" });
  expect(await ask([ping(1)])).toMatchObject({ id: null, error: { code: -32600 } });
});
