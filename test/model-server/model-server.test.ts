// The scripted model server, asked as clients of the four vendors ask.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, test } from "vitest";
import type { Api } from "./conversation.ts";
import { type ModelServer, type ModelServerOptions, openModelServer } from "./model-server.ts";

const open: ModelServer[] = [];
async function server(options: ModelServerOptions = {}): Promise<ModelServer> {
  const opened = await openModelServer(options);
  open.push(opened);
  return opened;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((modelServer) => modelServer.close()));
});

type Turn = { readonly user: string } | { readonly called: string; readonly result: string };
type Asking = {
  readonly turns: readonly Turn[];
  readonly tools?: readonly object[];
  readonly stream?: boolean;
};
type Dialect = {
  readonly path: (stream: boolean) => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: (asking: Asking) => object;
  readonly tools: readonly object[];
};
const key = "sk-real-0001";
const schema = (...names: string[]): object => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});
const functions = [
  { name: "write", parameters: schema("filePath", "content") },
  { name: "bash", parameters: schema("command", "description") },
];

/** How each vendor's clients speak. */
const dialects: Readonly<Record<Api, Dialect>> = {
  anthropic: {
    path: () => "/v1/messages?beta=true",
    headers: { "x-api-key": key, "anthropic-version": "2023-06-01" },
    tools: functions.map(({ name, parameters }) => ({
      name: name === "write" ? "Write" : "Bash",
      input_schema: parameters,
    })),
    body: ({ turns, tools = [], stream = false }) => ({
      model: "claude-x",
      stream,
      tools,
      system: [{ type: "text", text: "Working directory: /proj/a\nBe brief." }],
      messages: turns.flatMap((turn, at): object[] =>
        "user" in turn
          ? [{ role: "user", content: [{ type: "text", text: turn.user }] }]
          : [
              {
                role: "assistant",
                content: [{ type: "tool_use", id: `t${at}`, name: turn.called, input: {} }],
              },
              {
                role: "user",
                content: [{ type: "tool_result", tool_use_id: `t${at}`, content: turn.result }],
              },
            ],
      ),
    }),
  },
  responses: {
    path: () => "/v1/responses",
    headers: { authorization: `Bearer ${key}` },
    tools: [
      { type: "custom", name: "apply_patch", format: {} },
      {
        type: "function",
        name: "shell",
        parameters: {
          type: "object",
          properties: { command: { type: "array" } },
          required: ["command"],
        },
      },
      {
        type: "namespace",
        name: "mcp__desk",
        tools: [{ type: "function", name: "note", parameters: schema("text") }],
      },
    ],
    body: ({ turns, tools = [], stream = false }) => ({
      model: "gpt-x",
      stream,
      tools,
      instructions: "Be brief.",
      input: turns.flatMap((turn, at): object[] =>
        "user" in turn
          ? [{ type: "message", role: "user", content: [{ type: "input_text", text: turn.user }] }]
          : [
              { type: "function_call", call_id: `c${at}`, name: turn.called, arguments: "{}" },
              { type: "function_call_output", call_id: `c${at}`, output: turn.result },
            ],
      ),
    }),
  },
  chat: {
    path: () => "/v1/chat/completions",
    headers: { authorization: `Bearer ${key}` },
    tools: functions.map((one) => ({ type: "function", function: one })),
    body: ({ turns, tools = [], stream = false }) => ({
      model: "any-x",
      stream,
      tools,
      ...(stream ? { stream_options: { include_usage: true } } : {}),
      messages: [
        { role: "system", content: "Be brief." },
        ...turns.flatMap((turn, at): object[] =>
          "user" in turn
            ? [{ role: "user", content: turn.user }]
            : [
                {
                  role: "assistant",
                  content: null,
                  tool_calls: [
                    {
                      id: `c${at}`,
                      type: "function",
                      function: { name: turn.called, arguments: "{}" },
                    },
                  ],
                },
                { role: "tool", tool_call_id: `c${at}`, content: turn.result },
              ],
        ),
      ],
    }),
  },
  gemini: {
    path: (stream) =>
      `/v1beta/models/gemini-x:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    headers: { "x-goog-api-key": key },
    tools: [
      {
        functionDeclarations: [
          {
            name: "write_file",
            parameters: {
              type: "OBJECT",
              properties: { file_path: { type: "STRING" }, content: { type: "STRING" } },
            },
          },
          {
            name: "run_shell_command",
            parameters: { type: "OBJECT", properties: { command: { type: "STRING" } } },
          },
        ],
      },
    ],
    body: ({ turns, tools = [] }) => ({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools,
      contents: turns.flatMap((turn): object[] =>
        "user" in turn
          ? [{ role: "user", parts: [{ text: turn.user }] }]
          : [
              { role: "model", parts: [{ functionCall: { name: turn.called, args: {} } }] },
              {
                role: "user",
                parts: [
                  { functionResponse: { name: turn.called, response: { output: turn.result } } },
                ],
              },
            ],
      ),
    }),
  },
};
const apis = Object.keys(dialects) as Api[];

function ask(
  { url }: ModelServer,
  api: Api,
  asking: Asking,
  signal?: AbortSignal,
): Promise<Response> {
  const { path, headers, body } = dialects[api];
  return fetch(`${url}${path(asking.stream === true)}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body(asking)),
    ...(signal === undefined ? {} : { signal }),
  });
}
const say = (prompt: string, stream = false): Asking => ({ turns: [{ user: prompt }], stream });
const framesIn = (text: string): readonly unknown[] =>
  [...text.matchAll(/^data: (\{.*\})\r?$/gm)].map(([, json = ""]) => JSON.parse(json) as unknown);
/** Everything that is under a name, anywhere in a value, in order. */
function allUnder(name: string, value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(key === name ? [inner as unknown] : []),
    ...allUnder(name, inner),
  ]);
}
const numberUnder = (name: string, value: unknown): unknown =>
  allUnder(name, value).findLast((found) => typeof found === "number");

describe.each(apis)("the scripted model over %s", (api) => {
  const { tools } = dialects[api];
  const script = "Please do. [[write a/b.txt|one\\ntwo]] [[bash cat a/b.txt]] [[say All is done.]]";

  test.each([false, true])(
    "plays the script of the prompt step by step, each step read from the conversation alone (stream: %s)",
    async (stream) => {
      const model = await server();
      const turns: Turn[] = [{ user: script }];
      const texts: string[] = [];

      for (const result of ["[[say no script, for it is a result]]", "ok", "unused"]) {
        const asked = await ask(model, api, { turns, tools, stream });
        texts.push(await asked.text());
        turns.push({ called: "x", result });
      }

      expect(texts[0]).toMatch(/txt/);
      expect(texts[1]).toMatch(/cat a/);
      expect(texts[2]?.replaceAll(/[\s\S]*?"(?:text|content|delta)":"([^"]*)"/g, "$1")).toMatch(
        /All is done\./,
      );

      expect(
        model.calls().map(({ status, outcome, isSideCall }) => [status, outcome, isSideCall]),
      ).toEqual([
        [200, "answered", false],
        [200, "answered", false],
        [200, "answered", false],
      ]);

      expect(model.calls()[0]).toMatchObject({ api, key, isStream: stream, prompt: script });
    },
  );

  test("tells in its vendor's fields the very usage it remembers", async () => {
    const model = await server();
    const figures =
      '{"inputTokens":70,"cacheReadTokens":900,"cacheWriteTokens":30,"outputTokens":55,"thinkingTokens":11}';

    for (const stream of [false, true]) {
      const asked = await ask(
        model,
        api,
        say(`[[usage ${figures}]] [[think 11]] [[say hello]]`, stream),
      );
      const text = await asked.text();
      const reported = stream ? framesIn(text) : (JSON.parse(text) as unknown);
      expect(usageRead[api](reported)).toEqual(usageMeant[api]);
    }

    expect(model.calls().map(({ usage }) => usage)).toEqual([
      JSON.parse(figures),
      JSON.parse(figures),
    ]);
  });

  test("counts what was there before the model last spoke as read from the cache", async () => {
    const model = await server();
    const turns: Turn[] = [{ user: script }];
    await ask(model, api, { turns, tools });
    await ask(model, api, { turns: [...turns, { called: "x", result: "ok" }], tools });
    const [first, second] = model.calls().map(({ usage }) => usage);
    expect(first?.cacheReadTokens).toBe(0);
    expect(first?.outputTokens).toBeGreaterThan(0);
    expect(second?.cacheReadTokens).toBeGreaterThan(10);
    expect(second?.inputTokens).toBeLessThan(
      first === null || first === undefined ? 0 : first.inputTokens + first.cacheWriteTokens,
    );
  });

  test("refuses in its vendor's own shape, as often as asked", async () => {
    const model = await server();
    const limited = await ask(
      model,
      api,
      say('[[status 429|{"retryAfterS":90,"times":1}]] [[say at last]]'),
    );
    expect(limited.status).toBe(429);
    const body = await limited.json();
    expect(body).toMatchObject(refusalMeant[api]);
    if (api !== "gemini") expect(limited.headers.get("retry-after")).toBe("90");
    if (api === "anthropic") {
      expect(
        Date.parse(limited.headers.get("anthropic-ratelimit-requests-reset") ?? ""),
      ).toBeGreaterThan(Date.now());
    }

    if (api === "chat" || api === "responses") {
      expect(limited.headers.get("x-ratelimit-reset-requests")).toBe("1m30s");
    }

    if (api === "gemini") expect(JSON.stringify(body)).toContain('"retryDelay":"90s"');
    const again = await ask(
      model,
      api,
      say('[[status 429|{"retryAfterS":90,"times":1}]] [[say at last]]'),
    );
    expect(await again.text()).toContain("at last");
    const broken = await ask(model, api, say("[[status 500]]"));
    expect(broken.status).toBe(500);
    expect(model.calls().map(({ status, outcome }) => [status, outcome])).toEqual([
      [429, "refused"],
      [200, "answered"],
      [500, "refused"],
    ]);
  });

  test("lets in the keys it knows and no other", async () => {
    const model = await server({ keys: ["another"] });
    const asked = await ask(model, api, say("[[say hi]]"));
    expect(asked.status).toBe(401);
    expect(model.calls()).toMatchObject([{ key, status: 401, usage: null }]);
  });

  test("cuts the socket in mid-stream, and breaks off with an error there", async () => {
    const model = await server();
    const cut = await ask(model, api, say("[[drop]] [[fill 400]]", true));
    expect(cut.status).toBe(200);
    await expect(cut.text()).rejects.toThrow();

    const failed = await ask(
      model,
      api,
      say('[[status 529|{"midStream":true}]] [[fill 400]]', true),
    );
    expect(failed.status).toBe(200);
    expect(
      allUnder("error", framesIn(await failed.text())).filter((error) => error !== null),
    ).toHaveLength(1);

    expect(model.calls().map(({ outcome }) => outcome)).toEqual(["dropped", "refused"]);
  });

  test("hangs and dawdles until the client leaves", async () => {
    const model = await server();
    const leave = new AbortController();
    const hung = ask(model, api, say("[[hang]] [[say never]]"), leave.signal);
    const slow = await ask(model, api, say("[[slow 5000]] [[fill 400]]", true), leave.signal);
    expect(slow.status).toBe(200);
    leave.abort();
    await expect(hung).rejects.toThrow();
    await expect(slow.text()).rejects.toThrow();
    await expect.poll(() => model.calls().map(({ outcome }) => outcome)).toEqual(["left", "left"]);
  });

  test("gives side calls a canned text and does not play the script to them", async () => {
    const model = await server();
    const asked = await ask(model, api, say(`A title for: ${script}`));
    expect(await asked.text()).toContain("A scripted session");
    expect(model.calls()).toMatchObject([{ isSideCall: true, status: 200 }]);
  });

  test("takes its script from an option: one for all turns, one answer a call, or as a function finds", async () => {
    const spoken = async (options: ModelServerOptions, turns: readonly Turn[]): Promise<string> =>
      (await ask(await server(options), api, { turns, tools })).text();
    const after: readonly Turn[] = [{ user: "go on" }, { called: "x", result: "ok" }];
    expect(await spoken({ script: "[[bash ls]] [[say whole]]" }, after)).toContain("whole");
    expect(await spoken({ script: ["[[say first]]", "[[say second]]"] }, after)).toContain("first");
    expect(
      await spoken({ script: ({ model }) => `[[bash ls]] [[say ${model} it is]]` }, after),
    ).toMatch(/[a-z]+-x it is/);

    expect(
      await spoken({ script: () => undefined }, [{ user: "[[say of the prompt]]" }]),
    ).toContain("of the prompt");
  });
});

const usageRead: Readonly<Record<Api, (reported: unknown) => unknown>> = {
  anthropic: (reported) =>
    ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"].map(
      (name) => numberUnder(name, reported),
    ),
  responses: (reported) =>
    ["input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens"].map((name) =>
      numberUnder(name, reported),
    ),
  chat: (reported) =>
    ["prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"].map((name) =>
      numberUnder(name, reported),
    ),
  gemini: (reported) =>
    [
      "promptTokenCount",
      "cachedContentTokenCount",
      "candidatesTokenCount",
      "thoughtsTokenCount",
    ].map((name) => numberUnder(name, reported)),
};
const usageMeant: Readonly<Record<Api, readonly number[]>> = {
  anthropic: [70, 900, 30, 55],
  responses: [1000, 900, 55, 11],
  chat: [1000, 900, 55, 11],
  gemini: [1000, 900, 44, 11],
};
const refusalMeant: Readonly<Record<Api, object>> = {
  anthropic: { type: "error", error: { type: "rate_limit_error" } },
  responses: { error: { type: "requests", code: "rate_limit_exceeded" } },
  chat: { error: { type: "requests", code: "rate_limit_exceeded" } },
  gemini: { error: { code: 429, status: "RESOURCE_EXHAUSTED" } },
};

test("the scripted model names tools as the request does: whole paths, patches, lists of words, groups", async () => {
  const model = await server();
  const firstCall = async (api: Api, script: string): Promise<unknown> => {
    const asked = await ask(model, api, { turns: [{ user: script }], tools: dialects[api].tools });
    const body = await asked.json();

    const [call] = [
      ...allUnder("parts", body),
      ...allUnder("output", body),
      ...allUnder("content", body),
      ...allUnder("tool_calls", body),
    ].flat();
    return call;
  };
  expect(await firstCall("anthropic", "[[write b.txt|x]]")).toMatchObject({
    name: "Write",
    input: { filePath: "/proj/a/b.txt", content: "x" },
  });

  expect(await firstCall("responses", "[[write b.txt|x]]")).toMatchObject({
    type: "custom_tool_call",
    name: "apply_patch",
    input: "*** Begin Patch\n*** Add File: b.txt\n+x\n*** End Patch",
  });

  expect(await firstCall("responses", "[[bash ls]]")).toMatchObject({
    name: "shell",
    arguments: '{"command":["bash","-lc","ls"]}',
  });

  expect(await firstCall("responses", '[[tool note|{"text":"n"}]]')).toMatchObject({
    name: "note",
    namespace: "mcp__desk",
  });

  expect(await firstCall("gemini", "[[bash ls]]")).toMatchObject({
    functionCall: { name: "run_shell_command", args: { command: "ls" } },
  });
});

test("the scripted model answers what clients ask besides: presence, models, tokens", async () => {
  const { url } = await server();
  expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
  expect(await (await fetch(`${url}/v1/models`)).json()).toMatchObject({
    data: [{ id: "scripted-1" }],
  });

  const counted = await fetch(`${url}/v1/messages/count_tokens`, {
    method: "POST",
    body: JSON.stringify({ messages: [] }),
  });
  expect(await counted.json()).toMatchObject({ input_tokens: 4 });
  expect((await fetch(`${url}/nowhere`)).status).toBe(404);
});

test("the scripted model server runs as a process and ends with its stdin", async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "start.mjs"), "--key", "k"], {
    stdio: ["pipe", "pipe", "inherit"],
  });

  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { url } = JSON.parse(String((await lines.next()).value)) as { url: string };
  const asked = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ messages: [{ role: "user", content: "[[say hi]]" }] }),
  });
  expect(asked.status).toBe(401);
  expect(JSON.parse(String((await lines.next()).value))).toMatchObject({ status: 401 });
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([0, null]);
});
