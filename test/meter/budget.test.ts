// The budget: asked before every call and after every chunk, shared by all turns of a meter, and
// overshot by one request at most.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { modelApis } from "../../src/contracts/model-api.ts";
import { createPriceLookup } from "../../src/meter/prices.ts";
import { samples } from "../../src/meter/samples.test-support.ts";
import {
  ask,
  endless,
  openProvider,
  openStand,
  type Play,
  playEndless,
  playSamples,
  type Provider,
  type Stand,
  until,
} from "./stand.ts";

let stand: Stand;
let play: Play = playSamples;
let provider: Provider;
beforeAll(async () => {
  provider = await openProvider((...given) => play(...given));
});
beforeEach(async () => {
  stand = await openStand({
    priceOf: createPriceLookup({ "m-1": { input: 1_000_000, output: 1_000_000 } }),
  });
});
afterEach(() => stand.close());
afterAll(() => provider.close());

const lastMessage = {
  anthropic: /event: error\ndata: (\{"type":"error","error":\{"type":"billing_error".*\})\n\n$/,
  "openai-responses":
    /event: response\.failed\ndata: (\{"type":"response\.failed".*"insufficient_quota".*\})\n\n$/,
  "openai-chat": /data: (\{"error":\{.*"code":"insufficient_quota"\}\})\n\n$/,
  gemini: /data: (\{"error":\{"code":402,.*\})\n\n$/,
};

describe.each(modelApis)("%s", (api) => {
  test("a model that thinks without end is cut, in words its programs understand, and the provider is let go", async () => {
    play = playEndless;
    const account = stand.open({ base: provider.base, left: () => ({ ...endless, tokens: 1000 }) });
    const heard = await ask(account, api);
    expect(heard).toMatchObject({ status: 200, isBroken: true });
    expect(heard.text).toMatch(lastMessage[api]);

    // Whatever came before the last words is whole events.
    const before = heard.text.slice(
      0,
      heard.text.search(
        /(?:event: (?:error|response\.failed)\n)?data: [^\n]*(?:billing_error|insufficient_quota|"code":402)/,
      ),
    );
    expect(before).toMatch(/\n\n$/);

    for (const [, data] of before.matchAll(/^data: (.*)$/gm)) {
      expect(() => JSON.parse(data ?? "") as unknown).not.toThrow();
    }

    expect(account.cuts).toHaveLength(1);
    expect(account.cuts[0]).toContain("tokens");
    expect(account.calls()).toMatchObject([{ api, status: 200, ended: "cut" }]);
    expect(account.used()?.tokens).toBeGreaterThanOrEqual(1000);
    // One chunk, not one budget, beyond the limit: a piece is 25 tokens, and slow machines send
    // several at once.
    expect(account.used()?.tokens).toBeLessThan(2000);
    await until(() => provider.seen.at(-1)?.isClosed === true);
  });

  test("from then on every call is refused with 402, which nobody tries again, and the turn is told once", async () => {
    play = playEndless;
    const account = stand.open({ base: provider.base, left: () => ({ ...endless, tokens: 500 }) });
    await ask(account, api);
    const calls = provider.seen.length;

    for (let again = 0; again < 3; again++) {
      const heard = await ask(account, api);
      expect(heard).toMatchObject({
        status: 402,
        isBroken: false,
        headers: { "x-should-retry": "false" },
      });

      expect(heard.text).toContain("The budget is used up");
      expect(JSON.parse(heard.text)).toHaveProperty("error");
    }

    expect(provider.seen).toHaveLength(calls);
    expect(account.cuts).toHaveLength(1);
    expect(account.calls().map(({ ended }) => ended)).toEqual([
      "cut",
      "refused",
      "refused",
      "refused",
    ]);

    expect(account.used()?.calls).toBe(1);
  });

  test("an answer that has come to its end is not taken away, and the next call is refused", async () => {
    play = playSamples;
    const account = stand.open({ base: provider.base, left: () => ({ ...endless, tokens: 470 }) });
    const heard = await ask(account, api);
    expect(heard).toMatchObject({
      status: 200,
      isBroken: false,
      text: samples.find((sample) => sample.api === api)?.events,
    });

    expect(account.cuts).toEqual([]);
    expect(await ask(account, api)).toMatchObject({ status: 402 });
    expect(account.cuts).toHaveLength(1);
    expect(account.used()).toMatchObject({ tokens: 475, calls: 1 });
  });

  test.each([
    ["negative", -1],
    ["absurd", 1e15],
    ["no", "many"],
    ["tiny", 1],
  ])("%s figures buy nothing: what came by is charged", async (_, figure) => {
    const text = "x".repeat(40_000);
    const usage = {
      anthropic: `event: x\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"${text}"}}\n\nevent: message_delta\ndata: ${JSON.stringify({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: figure } })}\n\n`,
      "openai-responses": `data: {"type":"response.output_text.delta","delta":"${text}"}\n\ndata: ${JSON.stringify({ type: "response.completed", response: { usage: { input_tokens: 5, output_tokens: figure } } })}\n\n`,
      "openai-chat": `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\ndata: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 5, completion_tokens: figure } })}\n\n`,
      gemini: `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 5, candidatesTokenCount: figure } })}\n\n`,
    }[api];

    play = (response) =>
      void response.writeHead(200, { "content-type": "text/event-stream" }).end(usage);
    const account = stand.open({ base: provider.base });
    await ask(account, api);
    expect(account.used()?.output).toBe(10_000);
  });
});

test("two turns share one budget: what one uses, the other has not", async () => {
  play = playSamples;
  const shared = await openStand();
  const left = () => ({ ...endless, tokens: 1000 });
  const one = shared.open({ base: provider.base, left });
  const other = shared.open({ base: provider.base, left });
  expect(await ask(one, "anthropic")).toMatchObject({ status: 200 });
  expect(await ask(other, "openai-chat")).toMatchObject({ status: 200 });
  expect(await ask(other, "openai-chat")).toMatchObject({ status: 200 });
  expect((one.used()?.tokens ?? 0) + (other.used()?.tokens ?? 0)).toBe(1425);
  expect(await ask(one, "anthropic")).toMatchObject({ status: 402 });
  expect(await ask(other, "anthropic")).toMatchObject({ status: 402 });
  await shared.close();
});

test("a turn that streams is cut by what another used", async () => {
  const tokens = 4000;
  const left = () => ({ ...endless, tokens });
  play = (response, seen, request) => {
    if (!seen.url.includes("messages")) return playSamples(response, seen, request);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const piece = `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"${"x".repeat(100)}"}}\n\n`;
    const timer = setInterval(() => response.write(piece), 20);
    response.on("close", () => clearInterval(timer));
  };

  const slow = stand.open({ base: provider.base, left });
  const quick = stand.open({ base: provider.base, left });
  const streaming = ask(slow, "anthropic");
  for (let at = 0; at < 5; at++) await ask(quick, "openai-responses");
  expect(await streaming).toMatchObject({ isBroken: true });
  expect(slow.cuts).toHaveLength(1);
  expect(slow.used()?.tokens).toBeLessThan(tokens);
});

test("what a closed turn used counts until it is paid", async () => {
  play = playSamples;
  const shared = await openStand();
  let isUnpaid = true;
  const left = () => ({ ...endless, tokens: 475 });
  const first = shared.open({ base: provider.base, left, isUnpaid: () => isUnpaid });
  await ask(first, "anthropic");
  first.close();
  const second = shared.open({ base: provider.base, left });
  expect(await ask(second, "anthropic")).toMatchObject({ status: 402 });
  isUnpaid = false;
  const third = shared.open({ base: provider.base, left });
  expect(await ask(third, "anthropic")).toMatchObject({ status: 200 });
  await shared.close();
});

test("many calls at once overshoot by no more than one: what is on its way counts already", async () => {
  const shared = await openStand();
  play = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": wait\n\n");
  };

  const account = shared.open({
    base: provider.base,
    left: () => ({ ...endless, tokens: 10_000 }),
  });

  const before = provider.seen.length;
  const body = {
    model: "m-1",
    stream: true,
    messages: [{ role: "user", content: "x".repeat(16_000) }],
  };

  const answers = Array.from({ length: 10 }, () =>
    ask(account, "anthropic", { body }).catch(() => null),
  );

  await until(() => account.calls().filter(({ ended }) => ended === "refused").length === 7);
  expect(provider.seen.length - before).toBe(3);
  account.close();
  await Promise.all(answers);
  expect(account.used()?.tokens).toBeLessThan(10_000 + 4100);
  await shared.close();
});

test("a limit on calls is a limit on calls", async () => {
  play = playSamples;
  const shared = await openStand();
  const account = shared.open({ base: provider.base, left: () => ({ ...endless, calls: 2 }) });
  const statuses = [];
  for (let at = 0; at < 4; at++) statuses.push((await ask(account, "gemini")).status);
  expect(statuses).toEqual([200, 200, 402, 402]);
  expect(account.cuts).toEqual([expect.stringContaining("2 model calls made, 2 were left")]);
  await shared.close();
});

describe("a limit in dollars", () => {
  test("cuts a stream when the price of what came reaches it", async () => {
    play = playEndless;
    // A dollar a token.
    const account = stand.open({ base: provider.base, left: () => ({ ...endless, usd: 700 }) });
    expect(await ask(account, "openai-responses")).toMatchObject({ isBroken: true });
    expect(account.cuts[0]).toMatch(/\$7\d\d\.\d+ used, \$700\.0000 were left/);
  });

  test("refuses a model whose price nobody knows, before it is asked, and says how to tell it", async () => {
    play = playSamples;
    const before = provider.seen.length;
    const account = stand.open({ base: provider.base, left: () => ({ ...endless, usd: 5 }) });
    const heard = await ask(account, "anthropic", { body: { model: "new-model", stream: true } });
    expect(heard.status).toBe(402);
    expect(account.cuts).toEqual([
      expect.stringContaining('prices: { "new-model": { input: …, output: … } }'),
    ]);

    expect(provider.seen).toHaveLength(before);
    expect(account.calls()).toMatchObject([{ model: "new-model", status: null, ended: "refused" }]);
    expect(account.used()).toBeNull();
  });

  test("without one the same model is asked", async () => {
    play = playSamples;
    const account = stand.open({ base: provider.base });
    expect(
      await ask(account, "anthropic", { body: { model: "new-model", stream: true } }),
    ).toMatchObject({ status: 200 });
  });
});

test("whoever hears of the cut may close the account at once: the agent still hears why", async () => {
  play = playEndless;
  let close = (): void => {};

  const account = stand.open({
    base: provider.base,
    left: () => ({ ...endless, tokens: 300 }),
    onCut: () => close(),
  });
  close = account.close;
  expect((await ask(account, "anthropic")).text).toContain("The budget is used up");

  const other = stand.open({
    base: provider.base,
    left: () => ({ ...endless, tokens: 0 }),
    onCut: () => close(),
  });
  close = other.close;
  expect((await ask(other, "anthropic")).text).toContain("The budget is used up");
});

test("a stream that never tells its figures is charged by its bytes, in and out", async () => {
  play = (response) =>
    void response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(`data: {"choices":[{"delta":{"content":"${"x".repeat(4000)}"}}]}\n\ndata: [DONE]\n\n`);

  const account = stand.open({ base: provider.base });
  const body = JSON.stringify({ model: "m-1", stream: true, messages: ["y".repeat(4000)] });
  await ask(account, "openai-chat", { body });
  expect(account.used()).toMatchObject({ output: 1000, input: Math.ceil(body.length / 4) });
});

test("what an image weighs is not what it costs", async () => {
  play = (response) =>
    void response.writeHead(200, { "content-type": "text/event-stream" }).end("data: [DONE]\n\n");
  const account = stand.open({ base: provider.base });
  await ask(account, "anthropic", {
    body: {
      model: "m-1",
      messages: [{ content: [{ source: { type: "base64", data: "A".repeat(1_000_000) } }] }],
    },
  });

  expect(account.used()?.input).toBeLessThan(2000);
});
