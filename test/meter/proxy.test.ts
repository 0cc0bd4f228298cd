// The way to other hosts, the runner's own tools, and agents that send everything through the
// proxy.

import { createServer as createTcp, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  openProvider,
  openStand,
  playSamples,
  type Provider,
  raw,
  send,
  type Stand,
  until,
} from "./stand.ts";

let stand: Stand;
let site: Provider;
let port = 0;
const dialled: string[] = [];
beforeAll(async () => {
  stand = await openStand({
    lookup: async (host) => {
      dialled.push(host);
      return host === "localhost" || host.endsWith("inside.example")
        ? ["127.0.0.1"]
        : host === "metadata.example"
          ? ["169.254.169.254"]
          : [];
    },
  });

  port = stand.meter.port ?? 0;
  site = await openProvider(
    (response, { url, headers }) => void response.end(JSON.stringify({ url, headers })),
  );
});
afterAll(async () => {
  await stand.close();
  await site.close();
});

const basic = (token: string): string =>
  `Proxy-Authorization: Basic ${Buffer.from(`autopilot:${token}`).toString("base64")}\r\n`;
const tunnel = (authority: string, token: string): string =>
  `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${basic(token)}\r\n`;
const inside = "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

describe("a tunnel", () => {
  test("with an empty list reaches nothing", async () => {
    const { token, refusedHosts } = stand.open({ hosts: [] });
    for (const authority of [`127.0.0.1:${site.port}`, "localhost:443", "example.com:443"]) {
      expect(await raw(port, tunnel(authority, token))).toMatch(/^HTTP\/1\.1 403 /);
    }

    expect(refusedHosts()).toEqual([`127.0.0.1:${site.port}`, "localhost:443", "example.com:443"]);
  });

  test("to a listed host and port comes through", async () => {
    const { token } = stand.open({ hosts: [`127.0.0.1:${site.port}`] });
    const heard = await raw(port, tunnel(`127.0.0.1:${site.port}`, token) + inside);
    expect(heard).toMatch(/^HTTP\/1\.1 200 Connection Established\r\n\r\nHTTP\/1\.1 200 OK/);
    expect(heard).toContain('"url":"/hello"');
    expect(heard).not.toContain(token);
  });

  test("needs the token of an open account", async () => {
    const account = stand.open({ hosts: [`127.0.0.1:${site.port}`] });
    const authority = `127.0.0.1:${site.port}`;
    expect(await raw(port, tunnel(authority, "wrong"))).toMatch(
      /^HTTP\/1\.1 407 [^]*Proxy-Authenticate: Basic/,
    );

    expect(await raw(port, `CONNECT ${authority} HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 407 /,
    );

    account.close();
    expect(await raw(port, tunnel(authority, account.token))).toMatch(/^HTTP\/1\.1 407 /);
  });

  test.each([
    "evil.example\0.good.example:443",
    "evil.example%00.good.example:443",
    "evil.example\t.good.example:443",
    "user@good.example:443",
    "good.example:443@evil.example:443",
    "good.example:443/../evil",
    "gööd.example:443",
    "good.example",
    "good.example:99999",
    "127.1:443",
    "0x7f000001:443",
    "2130706433:443",
    "[::ffff:127.0.0.1]:443",
    "[::1]:443",
    "169.254.169.254:80",
    "metadata.example:80",
    "a.inside.example:443",
    "localhost:443",
    "LOCALHOST.:443",
    "good.example:22",
    "evilgood.example:443",
  ])("to %j is refused, and nothing is dialled", async (authority) => {
    const traps: string[] = [];
    const trap = createTcp((socket) => (traps.push("connected"), socket.destroy()));
    await new Promise<void>((done) => void trap.listen(0, "127.0.0.1", done));

    const { token } = stand.open({
      hosts: [
        "good.example",
        "*.good.example",
        "metadata.example",
        "*.inside.example",
        "localhost",
        "127.0.0.1",
      ],
    });
    expect(await raw(port, Buffer.from(tunnel(authority, token)))).toMatch(
      /^HTTP\/1\.1 (?:400|403) /,
    );

    expect(traps).toEqual([]);
    await new Promise((done) => trap.close(done));
  });

  test("a name on this machine is reached only by its very host and port", async () => {
    const { token } = stand.open({
      hosts: [`localhost:${site.port}`, `*.inside.example:${site.port}`],
    });

    expect(await raw(port, tunnel(`localhost:${site.port}`, token) + inside)).toContain("/hello");
    expect(await raw(port, tunnel(`LocalHost.:${site.port}`, token) + inside)).toContain("/hello");
    expect(await raw(port, tunnel(`a.inside.example:${site.port}`, token) + inside)).toMatch(
      /^HTTP\/1\.1 403 /,
    );

    expect(dialled.every((name) => name === name.toLowerCase() && !name.endsWith("."))).toBe(true);
  });

  test("ends with its account", async () => {
    const silent = createTcp();
    await new Promise<void>((done) => void silent.listen(0, "127.0.0.1", done));
    const far = (silent.address() as AddressInfo).port;
    let isHere = false;
    let isGone = false;
    silent.on("connection", (socket) => {
      isHere = true;
      socket.on("error", () => {});
      socket.on("close", () => (isGone = true));
    });

    const account = stand.open({ hosts: [`127.0.0.1:${far}`] });
    const heard = raw(port, tunnel(`127.0.0.1:${far}`, account.token));
    await until(() => isHere);
    account.close();
    expect(await heard).toContain("200 Connection Established");
    await until(() => isGone);
    await new Promise((done) => silent.close(done));
  });
});

describe("plain HTTP through the proxy", () => {
  const get = (url: string, token: string): string =>
    `GET ${url} HTTP/1.1\r\nHost: ignored.example\r\n${basic(token)}Connection: close, X-Drop\r\nX-Drop: 1\r\nX-Kept: 1\r\n\r\n`;
  test("a listed host is reached, without what belongs to the proxy", async () => {
    const { token } = stand.open({ hosts: [`127.0.0.1:${site.port}`] });
    const heard = await raw(port, get(`http://127.0.0.1:${site.port}/a?b=c`, token));
    expect(heard).toMatch(/^HTTP\/1\.1 200 /);
    expect(heard).toContain('"url":"/a?b=c"');
    const seen = site.seen.at(-1);
    expect(seen?.headers).toMatchObject({ host: `127.0.0.1:${site.port}`, "x-kept": "1" });
    expect(seen?.headers).not.toHaveProperty("proxy-authorization");
    expect(seen?.headers).not.toHaveProperty("x-drop");
  });

  test.each([
    "http://127.0.0.1:1/",
    "http://user@good.example/",
    "http://evil.example/",
    "https://good.example/",
    "ftp://good.example/",
    "http://good.example\\@evil.example/",
  ])("%s is refused", async (url) => {
    const { token } = stand.open({ hosts: ["good.example"] });
    expect(await raw(port, get(url, token))).toMatch(/^HTTP\/1\.1 (?:400|403) /);
  });

  test("without a token nothing is", async () => {
    expect(await raw(port, get(`http://127.0.0.1:${site.port}/`, "wrong"))).toMatch(
      /^HTTP\/1\.1 407 /,
    );
  });
});

describe("an agent that sends everything through the proxy", () => {
  test("reaches its model by a whole address and by a tunnel", async () => {
    const provider = await openProvider(playSamples);
    const account = stand.open({ base: provider.base });
    const ask = (target: string): string =>
      `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Api-Key: ${account.token}\r\nConnection: close\r\nContent-Length: 29\r\n\r\n{"model":"m-1","stream":true}`;
    expect(await raw(port, ask(`${account.urlOf("anthropic")}/v1/messages`))).toContain(
      "message_stop",
    );

    const authority = `127.0.0.1:${port}`;
    expect(
      await raw(
        port,
        `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n${ask("/anthropic/v1/messages")}`,
      ),
    ).toMatch(/^HTTP\/1\.1 200 Connection Established\r\n\r\nHTTP\/1\.1 200 OK[^]*message_stop/);

    expect(account.used()).toMatchObject({ tokens: 2 * 475, calls: 2 });
    await provider.close();
  });
});

describe("the runner's tools", () => {
  const call = (
    account: { toolsUrl: string; token: string },
    body: object | string,
    token = account.token,
  ) => send(account.toolsUrl, { body, headers: { authorization: `Bearer ${token}` } });

  test("are called with their name and arguments, and answer", async () => {
    const called: unknown[] = [];
    const account = stand.open({
      onTool: async (name, value) => {
        called.push([name, value]);
        return { ok: name === "note", text: `did ${name}` };
      },
    });
    const heard = await call(account, { tool: "note", arguments: { text: "hi" } });
    expect(JSON.parse(heard.text)).toEqual({ ok: true, text: "did note" });
    expect(JSON.parse((await call(account, { tool: "other" })).text)).toEqual({
      ok: false,
      text: "did other",
    });

    expect(called).toEqual([
      ["note", { text: "hi" }],
      ["other", undefined],
    ]);
  });

  test("need the token, a name, and no more than 4 MiB; a fault of the runner's is an answer", async () => {
    const account = stand.open({ onTool: () => Promise.reject(new Error("disk full")) });
    expect(await call(account, { tool: "note" }, "wrong")).toMatchObject({ status: 401 });
    expect(await call(account, "{")).toMatchObject({ status: 400 });
    expect(
      await call(account, { tool: "note", arguments: "x".repeat(4 * 1024 * 1024) }),
    ).toMatchObject({ status: 413 });

    expect(
      await send(account.toolsUrl, {
        method: "GET",
        headers: { authorization: `Bearer ${account.token}` },
      }),
    ).toMatchObject({
      status: 405,
    });

    expect(JSON.parse((await call(account, { tool: "note" })).text)).toEqual({
      ok: false,
      text: "The runner could not do that: disk full",
    });

    account.close();
    expect(await call(account, { tool: "note" })).toMatchObject({ status: 401 });
  });
});
