// When one side is slow, goes away, or breaks: the other is held back, let go, or told, and what
// was used is charged.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toolsPath } from "../../src/meter/answer-tool-call.ts";
import { openPerAccountMax } from "../../src/meter/limits.ts";
import {
  ask,
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
  stand = await openStand();
  provider = await openProvider((...given) => play(...given));
});
afterAll(async () => {
  await stand.close();
  await provider.close();
});

test("a reader that does not read holds the provider back: nothing piles up in between", async () => {
  const event = Buffer.from(
    `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"${"x".repeat(16_000)}"}}\n\n`,
  );

  const totalBytes = 256 * 1024 * 1024;
  let sentBytes = 0;
  let isHeldBack = false;
  play = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const pump = (): void => {
      while (sentBytes < totalBytes) {
        sentBytes += event.length;
        if (response.write(event)) continue;
        isHeldBack = true;

        return void response.once("drain", pump);
      }

      response.end();
    };
    pump();
  };

  const account = stand.open({ base: provider.base });
  const reader = connect(stand.meter.port ?? 0, "127.0.0.1");
  reader.on("error", () => {});
  reader.pause();
  reader.write(
    `POST /anthropic/v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${account.token}\r\nContent-Length: 15\r\n\r\n{"model":"m-1"}`,
  );

  await until(() => isHeldBack);
  // Until two looks in a row see the same: everything on the way is full.
  for (let before = -1; before !== sentBytes;) {
    before = sentBytes;
    await new Promise((done) => setTimeout(done, 300));
  }

  const stalledBytes = sentBytes;
  // Four socket buffers of the system's (each a few MiB at most) and a chunk or two of ours; the
  // whole would be 256 MiB.
  expect(stalledBytes).toBeLessThan(32 * 1024 * 1024);
  // Nothing was lost by waiting: once it reads, all of it comes.
  let readBytes = 0;
  reader.on("data", (chunk: Buffer) => (readBytes += chunk.length));
  reader.resume();
  await until(() => readBytes > stalledBytes * 2, 60_000);
  reader.destroy();
  await until(() => provider.seen.at(-1)?.isClosed === true);
});

test("an agent that goes away in the midst lets the provider go, and pays for what came", async () => {
  play = playEndless;
  const account = stand.open({ base: provider.base });
  await expect(
    ask(account, "openai-responses", { onChunk: (text, stop) => text.length > 2000 && stop() }),
  ).resolves.toMatchObject({
    isBroken: true,
  });

  await until(() => provider.seen.at(-1)?.isClosed === true);
  await until(() => account.calls().length === 1);
  expect(account.calls()).toMatchObject([
    { status: 200, ended: "broken", error: "The agent went away." },
  ]);

  expect(account.used()?.output).toBeGreaterThan(200);
});

test("a provider that dies in the midst breaks the agent's stream too, and what came is charged", async () => {
  play = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(
      `data: {"type":"response.output_text.delta","delta":"${"x".repeat(4000)}"}\n\n`,
      () => response.socket?.resetAndDestroy(),
    );
  };

  const account = stand.open({ base: provider.base });
  const heard = await ask(account, "openai-responses").catch(() => ({ isBroken: true }));
  expect(heard.isBroken).toBe(true);
  await until(() => account.calls().length === 1);
  expect(account.calls()).toMatchObject([
    { status: 200, ended: "broken", error: expect.stringContaining("broke off") as string },
  ]);

  expect(account.used()?.calls).toBe(1);
});

describe("a provider that is not there", () => {
  test("is said to be, in the agent's words, and costs nothing", async () => {
    const nobody = createServer();
    await new Promise<void>((done) => void nobody.listen(0, "127.0.0.1", done));
    const { port } = nobody.address() as AddressInfo;
    await new Promise((done) => nobody.close(done));
    const account = stand.open({ base: `http://127.0.0.1:${port}` });
    const heard = await ask(account, "anthropic");
    expect(heard.status).toBe(502);
    expect(JSON.parse(heard.text)).toMatchObject({ type: "error", error: { type: "api_error" } });
    expect(account.calls()).toMatchObject([
      { status: null, ended: "broken", error: expect.stringContaining("ECONNREFUSED") as string },
    ]);

    expect(account.used()).toMatchObject({ tokens: 0, calls: 1 });
  });

  test("any more, on a connection kept from before, is asked once again", async () => {
    play = playSamples;
    const account = stand.open({ base: provider.base });
    await ask(account, "anthropic");
    const before = provider.seen.length;
    let kept = 0;
    play = (response, seen, request) => {
      kept++;
      // The first comes in on the kept connection, which dies; the second on a new one.
      if (kept === 1) return void request.socket.resetAndDestroy();
      return playSamples(response, seen, request);
    };

    expect(await ask(account, "anthropic")).toMatchObject({ status: 200 });
    expect(provider.seen.length - before).toBe(2);
  });
});

test("one turn cannot have more than its share of calls open, and another is not hindered", async () => {
  play = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": wait\n\n");
  };

  const greedy = stand.open({ base: provider.base });
  const open = Array.from({ length: openPerAccountMax.call + 3 }, () =>
    ask(greedy, "anthropic").catch(() => null),
  );

  await until(() => greedy.calls().length === 3);
  expect(greedy.calls()).toMatchObject(
    Array.from({ length: 3 }, () => ({
      ended: "refused",
      error: expect.stringContaining("at once") as string,
    })),
  );

  play = playSamples;
  expect(await ask(stand.open({ base: provider.base }), "anthropic")).toMatchObject({
    status: 200,
  });

  greedy.close();
  const statuses = (await Promise.all(open)).map((heard) => heard?.status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(3);
});

test("a connection beyond the limit of its turn is told so, and not that its key is wrong", async () => {
  const account = stand.open({ base: provider.base });
  const sockets = await Promise.all(
    Array.from({ length: openPerAccountMax.connection }, async () => {
      const socket = connect(stand.meter.port ?? 0, "127.0.0.1");
      const head = `POST ${toolsPath} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${account.token}\r\nContent-Length: 2`;
      socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n`); // the answer says that the head was read
      await new Promise((answered) => void socket.once("data", answered));

      return socket;
    }),
  );

  expect(await ask(account, "anthropic")).toMatchObject({
    status: 429,
    text: expect.stringContaining("connections at once") as string,
  });

  for (const socket of sockets) socket.destroy();
  account.close();
});

test("a turn that ends ends its streams at once", async () => {
  play = playEndless;
  const account = stand.open({ base: provider.base });
  const heard = ask(account, "anthropic", {
    onChunk: (text) => text.length > 1000 && account.close(),
  }).catch(() => ({ isBroken: true }));
  expect((await heard).isBroken).toBe(true);
  expect(account.calls()).toMatchObject([{ ended: "cut", error: "The turn is over." }]);
  expect(account.used()?.tokens).toBeGreaterThan(0);
  await until(() => provider.seen.at(-1)?.isClosed === true);
});

test("a meter that is closed leaves nothing behind: no stream, no socket, no file", async () => {
  const own = await openStand();
  play = playEndless;
  const account = own.open({ base: provider.base });
  const heard = ask(account, "anthropic").catch(() => ({ isBroken: true }));
  await until(() => account.lives() > 0);
  expect(existsSync(own.socket)).toBe(true);
  await own.meter.close();
  expect((await heard).isBroken).toBe(true);
  expect(existsSync(own.socket)).toBe(false);
  await until(() => provider.seen.at(-1)?.isClosed === true);
  await own.close();
});

test("a socket that a killed runner left is taken over; one that somebody serves is not", async () => {
  const first = await openStand();
  await expect(openStand({ socket: first.socket })).rejects.toThrow("Something else lies");
  expect((await ask(first.open({ base: provider.base }), "anthropic", { body: {} })).status).toBe(
    400,
  );

  await first.meter.close();
  const killed =
    "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))";
  expect(spawnSync(process.execPath, ["-e", killed, first.socket], { env: {} }).signal).toBe(
    "SIGKILL",
  );

  expect(existsSync(first.socket)).toBe(true);
  const second = await openStand({ socket: first.socket });
  expect((await ask(second.open({ base: provider.base }), "anthropic", { body: {} })).status).toBe(
    400,
  );

  await second.close();
  await first.close();
});
