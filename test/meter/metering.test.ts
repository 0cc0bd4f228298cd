// Calls through the meter, in all four languages: counted by the provider's own figures, with the
// real key, and not changed on the way.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modelApis } from "../../src/contracts/model-api.ts";
import { samples } from "../../src/meter/samples.test-support.ts";
import { openModelServer } from "../model-server/model-server.ts";
import {
  ask,
  openProvider,
  openStand,
  type Play,
  playSamples,
  type Provider,
  realKey,
  send,
  type Stand,
} from "./stand.ts";

let stand: Stand;
let play: Play = playSamples;
let provider: Provider;
beforeAll(async () => {
  stand = await openStand({
    priceOf: () => ({ input: 3, output: 15, cached: 0.3, cache_write: 3.75 }),
  });

  provider = await openProvider((...given) => play(...given));
});
afterAll(async () => {
  await stand.close();
  await provider.close();
});

describe.each(samples)("$api", ({ api, events, whole, used }) => {
  test("a stream comes through as it is, and is counted", async () => {
    play = playSamples;
    const account = stand.open({ base: provider.base });
    expect(account.used()).toBeNull();
    const heard = await ask(account, api);
    expect(heard).toMatchObject({ status: 200, text: events, isBroken: false });
    const usd =
      api === "anthropic"
        ? (100 * 3 + 300 * 0.3 + 20 * 3.75 + 55 * 15) / 1e6
        : (120 * 3 + 300 * 0.3 + 55 * 15) / 1e6;

    expect(account.used()).toEqual({
      ...used,
      tokens: 475,
      usd: expect.closeTo(usd, 9) as number,
      calls: 1,
      source: "metered",
    });

    expect(account.calls()).toEqual([
      { api, model: "m-1", status: 200, ended: "whole", error: null, retryAt: null },
    ]);

    expect(account.lives()).toBeGreaterThan(0);
  });

  test("an answer in one piece is counted the same", async () => {
    play = playSamples;
    const account = stand.open({ base: provider.base });
    const path = api === "gemini" ? "/v1beta/models/m-1:generateContent" : undefined;
    const heard = await ask(account, api, {
      body: { model: "m-1", stream: false },
      ...(path === undefined ? {} : { path }),
    });
    expect(heard).toMatchObject({ status: 200, text: whole });
    expect(account.used()).toMatchObject({ ...used, tokens: 475, calls: 1 });
  });

  test("the provider gets the real key, and nothing of the token, of the agent's machine, or of the way", async () => {
    play = playSamples;
    const account = stand.open({ base: provider.base });
    await ask(account, api, {
      headers: {
        cookie: "a=b",
        "x-forwarded-for": "1.2.3.4",
        "proxy-authorization": "x",
        "accept-encoding": "gzip, br",
        te: "trailers",
        "x-http-method-override": "DELETE",
        "anthropic-beta": "kept",
      },
    });

    const seen = provider.seen.at(-1);
    expect(JSON.stringify(seen)).not.toContain(account.token);
    expect(JSON.stringify(seen)).toContain(realKey);
    expect(seen?.headers).toMatchObject({
      "accept-encoding": "identity",
      "anthropic-beta": "kept",
      host: new URL(provider.base).host,
    });

    for (const name of [
      "cookie",
      "x-forwarded-for",
      "proxy-authorization",
      "te",
      "transfer-encoding",
      "x-http-method-override",
    ]) {
      expect(seen?.headers).not.toHaveProperty(name);
    }
  });

  test("an error of the provider's is handed on and noted, with the time it gives, and costs no tokens", async () => {
    play = (response) =>
      void response
        .writeHead(429, { "retry-after": "30", "content-type": "application/json" })
        .end('{"error":{"type":"rate_limit_error","message":"slow down"}}');

    const account = stand.open({ base: provider.base });
    const heard = await ask(account, api);
    expect(heard).toMatchObject({
      status: 429,
      headers: { "retry-after": "30" },
      text: '{"error":{"type":"rate_limit_error","message":"slow down"}}',
    });

    expect(account.calls()).toEqual([
      {
        api,
        model: "m-1",
        status: 429,
        ended: "whole",
        error: "rate_limit_error: slow down",
        retryAt: "2026-01-01T00:00:30.000Z",
      },
    ]);

    expect(account.used()).toMatchObject({ tokens: 0, calls: 1 });
  });
});

test("an error in the midst of a stream is noted although the status was good", async () => {
  play = (response) =>
    void response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      );

  const account = stand.open({ base: provider.base });
  await ask(account, "anthropic");
  expect(account.calls()).toMatchObject([
    { status: 200, ended: "broken", error: "overloaded_error: Overloaded" },
  ]);
});

describe("chat streams are asked for their figures", () => {
  test.each([
    [
      '{"model":"m-1","stream":true,"messages":[{"role":"user","content":"{\\"x\\""}]}',
      { include_usage: true },
    ],
    [
      '{ "stream_options" : {"include_usage":false,"x":1}, "model":"m-1","stream":true}',
      { include_usage: true, x: 1 },
    ],
    ['{"model":"m-1","stream":true,"stream_options":null}', { include_usage: true }],
  ])("%s", async (body, options) => {
    play = playSamples;
    const account = stand.open({ base: provider.base });
    await ask(account, "openai-chat", { body });
    const seen = JSON.parse(provider.seen.at(-1)?.body ?? "") as Record<string, unknown>;
    expect(seen).toEqual({ ...(JSON.parse(body) as object), stream_options: options });
    expect(provider.seen.at(-1)?.headers["content-length"]).toBe(
      String(Buffer.byteLength(provider.seen.at(-1)?.body ?? "")),
    );
  });

  test("what asks for them itself, and what does not stream, is left as it is", async () => {
    const account = stand.open({ base: provider.base });
    for (const body of [
      '{"model":"m-1","stream":true, "stream_options":{"include_usage":true}}',
      '{"model":"m-1", "stream":false}',
    ]) {
      await ask(account, "openai-chat", { body });
      expect(provider.seen.at(-1)?.body).toBe(body);
    }
  });
});

test("counting tokens and listing models is free", async () => {
  play = (response) =>
    void response
      .writeHead(200, { "content-type": "application/json" })
      .end('{"input_tokens":5,"usage":{"input_tokens":9,"output_tokens":9}}');

  const account = stand.open({ base: provider.base });
  expect(
    await ask(account, "anthropic", { path: "/v1/messages/count_tokens?beta=true" }),
  ).toMatchObject({ status: 200 });

  expect(
    await send(`${account.urlOf("openai-chat")}/models`, {
      method: "GET",
      headers: { authorization: `Bearer ${account.token}` },
    }),
  ).toMatchObject({ status: 200 });

  expect(
    await send(`${account.urlOf("gemini")}/v1beta/models?key=${account.token}`, { method: "GET" }),
  ).toMatchObject({ status: 200 });

  expect(provider.seen.at(-1)).toMatchObject({
    url: "/v1beta/models",
    headers: { "x-goog-api-key": realKey },
  });

  expect(account.used()).toBeNull();
  expect(account.calls()).toEqual([]);
});

test("a packed answer is unpacked, so that it can be counted", async () => {
  const { gzipSync } = await import("node:zlib");
  play = (response) =>
    void response
      .writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" })
      .end(gzipSync(samples[0]?.events ?? ""));

  const account = stand.open({ base: provider.base });
  expect(await ask(account, "anthropic")).toMatchObject({ text: samples[0]?.events });
  expect(account.used()).toMatchObject({ tokens: 475 });
});

test("a model without a price is counted in tokens, and its sum in dollars is left out", async () => {
  const plain = await openStand();
  play = playSamples;
  const account = plain.open({ base: provider.base });
  await ask(account, "anthropic");
  expect(account.used()).toEqual({
    tokens: 475,
    input: 420,
    output: 55,
    cached: 300,
    calls: 1,
    source: "metered",
  });

  await plain.close();
});

test("keys and tokens are told to whoever keeps them out of the logs", () => {
  const account = stand.open({});
  expect(stand.secrets).toContain(account.token);
  expect(stand.secrets).toContain(realKey);
});

describe("against the scripted model server", () => {
  test.each(modelApis)("%s: what the server told is what the meter counted", async (api) => {
    const server = await openModelServer({ keys: [realKey] });
    const account = stand.open({ base: server.url });
    const script =
      '[[say hello]] [[usage {"inputTokens":70,"outputTokens":30,"cacheReadTokens":20}]]';

    const bodies = {
      anthropic: {
        model: "m-1",
        stream: true,
        max_tokens: 99,
        messages: [{ role: "user", content: script }],
      },
      "openai-responses": { model: "m-1", stream: true, input: script },
      "openai-chat": { model: "m-1", stream: true, messages: [{ role: "user", content: script }] },
      gemini: { contents: [{ role: "user", parts: [{ text: script }] }] },
    };

    const heard = await ask(account, api, { body: bodies[api] });
    expect(heard.status).toBe(200);
    const usage = server.calls().at(-1)?.usage;
    expect(usage).toMatchObject({ inputTokens: 70, outputTokens: 30, cacheReadTokens: 20 });
    const input = 70 + 20 + (usage?.cacheWriteTokens ?? 0);
    expect(account.used()).toMatchObject({ input, output: 30, cached: 20, tokens: input + 30 });
    await server.close();
  });
});
