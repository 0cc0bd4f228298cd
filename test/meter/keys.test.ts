// Keys and sockets: who is let in, what is sent on, and that the real key is nowhere an agent could
// find it.

import { type AddressInfo, connect, createServer } from "node:net";
import { chmodSync, lstatSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { request as requestHttp } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modelApis } from "../../src/contracts/model-api.ts";
import {
  ask,
  openProvider,
  openStand,
  paths,
  type Play,
  playSamples,
  type Provider,
  raw,
  realKey,
  send,
  type Stand,
  until,
} from "./stand.ts";

let stand: Stand;
let play: Play = playSamples;
let provider: Provider;
let port = 0;
beforeAll(async () => {
  stand = await openStand();
  port = stand.meter.port ?? 0;
  provider = await openProvider((...given) => play(...given));
});
afterAll(async () => {
  await stand.close();
  await provider.close();
});

describe.each(modelApis)("%s", (api) => {
  test("a wrong, a missing, a real and a closed key open nothing", async () => {
    play = playSamples;
    const account = stand.open({ base: provider.base });
    expect(await ask(account, api)).toMatchObject({ status: 200 });
    const before = provider.seen.length;
    const wrong = { ...account, token: `${account.token.slice(0, -1)}!` };
    const real = { ...account, token: realKey };
    account.close();

    for (const other of [wrong, real, { ...account, token: "" }, account]) {
      const heard = await ask(other, api);
      expect(heard.status).toBe(401);
      expect(JSON.parse(heard.text)).toHaveProperty(
        api === "anthropic" ? "error.type" : api === "gemini" ? "error.status" : "error.code",
      );
    }

    expect(provider.seen).toHaveLength(before);
  });

  test("a key that a provider says aloud reaches neither agent nor record", async () => {
    play = (response, seen) => {
      const echo = JSON.stringify({
        error: { message: `bad key ${realKey}`, headers: seen.headers },
      });

      response
        .writeHead(401, {
          "content-type": "application/json",
          "x-request-id": `r-${realKey}`,
          "x-ratelimit-note": realKey,
          "set-cookie": `k=${realKey}`,
        })
        .end(echo);
    };

    const account = stand.open({ base: provider.base });
    const heard = await ask(account, api);
    expect(heard.status).toBe(401);
    expect(heard.text).toContain("bad key");
    expect(JSON.stringify(heard)).not.toContain(realKey);
    expect(JSON.stringify(account.calls())).not.toContain(realKey);
    expect(account.calls()).toMatchObject([{ status: 401, error: "bad key [key]" }]);
    // The provider did say it.
    expect(JSON.stringify(provider.seen.at(-1)?.headers)).toContain(realKey);
  });
});

test("a token looks like the provider's key, is long, and never the same", () => {
  const tokens = Array.from(
    { length: 20 },
    () =>
      stand.open({ upstreams: [{ api: "anthropic", base: "https://x.example", key: "k" }] }).token,
  );
  expect(new Set(tokens).size).toBe(20);
  for (const token of tokens) expect(token).toMatch(/^sk-ant-api03-[A-Za-z0-9]{60,}$/);
  expect(
    stand.open({ upstreams: [{ api: "openai-chat", base: "https://x.example", key: "k" }] }).token,
  ).toMatch(/^sk-proj-/);

  expect(
    stand.open({ upstreams: [{ api: "gemini", base: "https://x.example", key: "k" }] }).token,
  ).toMatch(/^AIza/);
});

test("the socket in the file system is the user's own, and serves the same", async () => {
  expect(lstatSync(stand.socket).mode & 0o777).toBe(0o600);
  expect(lstatSync(dirname(stand.socket)).mode & 0o777).toBe(0o700);
  play = playSamples;
  const account = stand.open({ base: provider.base });

  const status = await new Promise((resolve, reject) => {
    const request = requestHttp(
      {
        socketPath: stand.socket,
        path: `/anthropic${paths.anthropic}`,
        method: "POST",
        headers: { host: "127.0.0.1:4000", "x-api-key": account.token },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    request.on("error", reject);
    request.end('{"model":"m-1"}');
  });
  expect(status).toBe(200);
});

test("a folder that others may enter is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meter-"));
  chmodSync(folder, 0o755);
  await expect(openStand({ socket: join(folder, "egress") })).rejects.toThrow(
    "open to other users",
  );

  chmodSync(folder, 0o700);
  await (await openStand({ socket: join(folder, "egress") })).close();
  rmSync(folder, { recursive: true });
});

test("inside a box the address is the box's own", async () => {
  const boxed = await openStand({ tcp: false, seenPort: 4567 });
  const account = boxed.open({});
  expect(account).toMatchObject({
    address: "http://127.0.0.1:4567",
    toolsUrl: "http://127.0.0.1:4567/autopilot/tools",
    proxyUrl: `http://autopilot:${account.token}@127.0.0.1:4567`,
  });

  expect(modelApis.map(account.urlOf)).toEqual(
    ["/anthropic", "/openai/v1", "/openai/v1", "/gemini"].map(
      (path) => `http://127.0.0.1:4567${path}`,
    ),
  );

  expect(boxed.meter.port).toBeNull();
  await boxed.close();
});

describe("what is not sent on", () => {
  test.each([
    ["POST", "/anthropic/v1/messages/batches"],
    ["POST", "/openai/v1/files"],
    ["GET", "/openai/v1/responses/resp_1"],
    ["DELETE", "/anthropic/v1/messages"],
    ["POST", "/anthropic/v1/../admin"],
    ["POST", "/gemini/v1beta/models/m:batchGenerateContent"],
    ["POST", "/nothing"],
  ])("%s %s", async (method, path) => {
    const account = stand.open({ base: provider.base });
    const before = provider.seen.length;
    const heard = await send(`${account.address}${path}`, {
      method,
      headers: { "x-api-key": account.token },
    });
    expect(heard.status).toBe(404);
    expect(provider.seen).toHaveLength(before);
  });

  test.each([
    ["no model", {}, "names no model"],
    ["the background", { model: "m", background: true }, "background"],
    ["two models", '{"model":"cheap","model":"dear"}', "twice"],
    ["a disguised model", '{"model":"cheap","mod\\u0065l":"dear"}', "escape"],
  ])("a request with %s", async (_, body, text) => {
    const account = stand.open({ base: provider.base });
    const before = provider.seen.length;
    const heard = await ask(account, "openai-responses", { body });
    expect(heard).toMatchObject({ status: 400 });
    expect(heard.text).toContain(text);
    expect(provider.seen).toHaveLength(before);
  });

  test("a key over an open line to another machine", async () => {
    const account = stand.open({ base: "http://api.example.com" });
    expect((await ask(account, "anthropic")).text).toContain("https");
    expect(account.calls()).toMatchObject([{ ended: "refused", status: null }]);
  });

  test("a key with a line's end in it", async () => {
    const account = stand.open({
      upstreams: [{ api: "anthropic", base: provider.base, key: `${realKey}\n` }],
    });
    const heard = await ask(account, "anthropic");
    expect(heard).toMatchObject({ status: 400 });
    expect(heard.text).not.toContain(realKey);
  });

  test("a key to a provider that only pretends to speak https", async () => {
    const heardBytes: Buffer[] = [];
    const pretender = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (chunk) => (heardBytes.push(chunk), socket.destroy()));
    });
    await new Promise<void>((done) => void pretender.listen(0, "127.0.0.1", done));
    const account = stand.open({
      base: `https://127.0.0.1:${(pretender.address() as AddressInfo).port}`,
    });
    expect((await ask(account, "anthropic")).status).toBe(502);
    // It did hear something: the greeting of TLS.
    expect(Buffer.concat(heardBytes)[0]).toBe(0x16);
    expect(Buffer.concat(heardBytes).toString("latin1")).not.toContain(realKey);
    expect(account.calls()).toMatchObject([{ ended: "broken", status: null }]);
    await new Promise((done) => pretender.close(done));
  });

  test("a packed request, a request too large, and one from a page in a browser", async () => {
    const account = stand.open({ base: provider.base });
    expect(
      await ask(account, "anthropic", { headers: { "content-encoding": "gzip" } }),
    ).toMatchObject({ status: 400 });

    expect(
      await ask(account, "anthropic", { headers: { origin: "http://evil.example" } }),
    ).toMatchObject({ status: 403 });

    expect(
      await ask(account, "anthropic", { headers: { host: "rebound.evil.example" } }),
    ).toMatchObject({ status: 403 });

    expect(
      await raw(
        port,
        `POST /anthropic/v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${account.token}\r\nContent-Length: 99999999\r\n\r\n{`,
      ),
    ).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("a path in the base is kept, and the agent cannot climb out of it", async () => {
    play = playSamples;
    const account = stand.open({ base: `${provider.base}/deep/base` });
    await ask(account, "anthropic");
    expect(provider.seen.at(-1)?.url).toBe("/deep/base/v1/messages?beta=true");
  });
});

describe("bytes that are no honest request", () => {
  const head = (token: string): string =>
    `POST /anthropic/v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${token}\r\n`;
  const body = '{"model":"m-1"}';
  test("the same bytes, honest, are served", async () => {
    play = playSamples;
    const { token } = stand.open({ base: provider.base });
    expect(
      await raw(
        port,
        `${head(token)}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ),
    ).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    ["both lengths", `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["two lengths", `Content-Length: 15\r\nContent-Length: 4\r\n\r\n${body}`],
    ["a length that is none", `Content-Length: 1e1\r\n\r\n${body}`],
    ["a bare line feed", `X: a\nY: b\r\nContent-Length: 15\r\n\r\n${body}`],
    ["a bare carriage return", `X: a\rY: b\r\nContent-Length: 15\r\n\r\n${body}`],
    ["a NUL in a header", `X: a\0b\r\nContent-Length: 15\r\n\r\n${body}`],
    ["a space before the colon", `Content-Length : 15\r\n\r\n${body}`],
    ["a folded header", `X: a\r\n b\r\nTransfer-Encoding: xchunked\r\n\r\n${body}`],
    ["headers without end", `X: ${"a".repeat(100_000)}\r\n\r\n`],
  ])("%s", async (_, rest) => {
    play = playSamples;
    const { token } = stand.open({ base: provider.base });
    const before = provider.seen.length;
    expect(await raw(port, head(token) + rest)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(provider.seen).toHaveLength(before);
  });
});

test("an agent may look whether anybody is there, and learns no more", async () => {
  expect(await send(`http://127.0.0.1:${port}/anthropic`, { method: "HEAD" })).toMatchObject({
    status: 200,
    text: "",
  });

  expect(await send(`http://127.0.0.1:${port}/`, { method: "GET" })).toMatchObject({ status: 401 });
});

test("connections that show no token are not let pile up", async () => {
  const own = await openStand();
  const ownPort = own.meter.port ?? 0;
  const idle = Array.from({ length: 300 }, () => connect(ownPort, "127.0.0.1"));
  const closed = new Set<number>();

  for (const [at, socket] of idle.entries()) {
    socket.on("error", () => {});
    socket.on("close", () => closed.add(at));
  }

  await until(() => closed.size >= 44);
  expect(closed.size).toBe(44);
  for (const socket of idle) socket.destroy();
  await own.close();
});
