// A run that several machines share: while it isn't certain that this one still has it, the meter
// lets nothing through.

import { afterAll, beforeAll, expect, test } from "vitest";
import { modelApis } from "../../src/contracts/model-api.ts";
import {
  ask,
  openProvider,
  openStand,
  playSamples,
  type Provider,
  raw,
  type Stand,
} from "./stand.ts";

let stand: Stand;
let provider: Provider;
let isHeld = true;
beforeAll(async () => {
  provider = await openProvider(playSamples);
  stand = await openStand({ isOwner: () => isHeld });
});
afterAll(async () => {
  await stand.close();
  await provider.close();
});

test.each(modelApis)(
  "%s: no call is sent on while the run may be another's, and the next one is when it is certain again",
  async (api) => {
    const account = stand.open({ base: provider.base });
    isHeld = false;
    const before = provider.seen.length;
    const refused = await ask(account, api);
    expect(refused.status).toBe(503);
    expect(refused.text).toContain("still has the run");
    expect(provider.seen).toHaveLength(before);
    expect(account.used()?.calls ?? 0).toBe(0);
    isHeld = true;
    expect((await ask(account, api)).status).toBe(200);
    expect(provider.seen).toHaveLength(before + 1);
  },
);

test("neither a tunnel nor a plain request goes out through it meanwhile", async () => {
  const { token } = stand.open({ hosts: [`127.0.0.1:${provider.port}`] });
  const given = `Proxy-Authorization: Basic ${Buffer.from(`autopilot:${token}`).toString("base64")}\r\n\r\n`;
  const authority = `127.0.0.1:${provider.port}`;
  isHeld = false;
  const before = provider.seen.length;
  const port = stand.meter.port ?? 0;
  expect(
    await raw(port, `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${given}`),
  ).toMatch(/^HTTP\/1\.1 503 /);

  expect(
    await raw(
      port,
      `GET http://${authority}/x HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n${given}`,
    ),
  ).toMatch(/^HTTP\/1\.1 503 /);

  expect(provider.seen).toHaveLength(before);
  isHeld = true;
});
