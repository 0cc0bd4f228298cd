import { expect, test } from "vitest";
import type { ReportedUsage } from "../ports/agent.ts";
import type { AccountRequest, Meter, ModelCall } from "../ports/meter.ts";
import { openMetering } from "./metering.ts";

const order = {
  attempt: "a",
  upstreams: [],
  hosts: [],
  left: () => ({ tokens: 1, usd: 1, calls: 1 }),
  isUnpaid: () => true,
} as const;
const onTool = () => Promise.resolve({ ok: true, text: "" });

function fake() {
  const state: { used: ReportedUsage; calls: ModelCall[]; request: AccountRequest | null } = {
    used: null,
    calls: [],
    request: null,
  };

  const meter: Meter = {
    open: (given) => {
      state.request = given;
      const account = {
        token: "t",
        address: "",
        urlOf: () => "",
        proxyUrl: "",
        toolsUrl: "",
        close: () => undefined,
      };

      return {
        ...account,
        used: () => state.used,
        calls: () => state.calls,
        refusedHosts: () => [],
      };
    },
  };

  return { state, metering: openMetering(meter, { ...order, onTool }) };
}
const call = (status: number): ModelCall => ({
  api: "anthropic",
  model: "m",
  status,
  ended: "whole",
  error: null,
  retryAt: null,
});

test("what was used is told once, each time what came since", () => {
  const { state, metering } = fake();
  expect(metering.takeUsed()).toBe(null);
  state.used = { tokens: 100, input: 90, output: 10, usd: 1, calls: 2 };
  expect(metering.takeUsed()).toEqual({
    tokens: 100,
    input: 90,
    output: 10,
    usd: 1,
    calls: 2,
    source: "metered",
  });

  state.used = { tokens: 150, input: 130, output: 20, cached: 5, calls: 3 };
  expect(metering.takeUsed()).toEqual({
    tokens: 50,
    input: 40,
    output: 10,
    cached: 5,
    calls: 1,
    source: "metered",
  });
});

test("the budget's end is told with the meter's sentence", () => {
  const { state, metering } = fake();
  state.request?.onCut("No more.");
  expect(metering.usedUp.aborted).toBe(true);
  expect(metering.usedUp.reason).toBe("No more.");
});

test("a provider that only fails is failing, however often; one that sends at length after a failure is not", () => {
  const { state, metering } = fake();
  const fail = (): void => {
    state.request?.onLife();
    state.calls.push(call(429));
  };

  expect(metering.isFailing()).toBe(false);
  for (let n = 0; n < 9; n += 1) {
    fail();
    expect(metering.isFailing()).toBe(true);
  }

  for (let n = 0; n < 5; n += 1) state.request?.onLife();
  expect(metering.isFailing()).toBe(false);
  state.calls.push(call(200));
  expect(metering.isFailing()).toBe(false);
});

test.each<[string, readonly ModelCall[], number, boolean]>([
  ["no call", [], 0, false],
  ["a good call", [call(200)], 1, false],
  ["one that failed", [call(429)], 1, false],
  [
    "one that failed, to be tried again soon",
    [{ ...call(429), retryAt: new Date(Date.now() + 5000).toISOString() }],
    1,
    false,
  ],
  [
    "one that failed, to be tried again in an hour",
    [{ ...call(429), retryAt: new Date(Date.now() + 3_600_000).toISOString() }],
    1,
    true,
  ],
  [
    "the same, with another call on its way",
    [{ ...call(429), retryAt: new Date(Date.now() + 3_600_000).toISOString() }],
    2,
    false,
  ],
  ["seven failures in a row", Array.from({ length: 7 }, () => call(500)), 7, false],
  ["eight failures in a row", Array.from({ length: 8 }, () => call(500)), 8, true],
  [
    "eight failures, one made up for",
    [...Array.from({ length: 7 }, () => call(500)), call(200), call(500)],
    9,
    false,
  ],
])("whether to give up: %s", (_, calls, begun, expected) => {
  const { state, metering } = fake();
  state.calls.push(...calls);
  state.used = begun === 0 ? null : { tokens: 1, calls: begun };
  expect(metering.isHopeless()).toBe(expected);
});

test("without a meter nothing is seen", () => {
  const metering = openMetering(null, { ...order, onTool });
  expect([metering.account, metering.takeUsed(), metering.calls(), metering.isFailing()]).toEqual([
    null,
    null,
    [],
    false,
  ]);
});
