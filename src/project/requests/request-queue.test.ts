import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunRequest } from "../../ports/request-queue.ts";
import { requestBytesMax } from "./request-files.ts";
import { lineBytesMax } from "./request-socket.ts";
import { openRequestQueue, type OwnedRequestQueue } from "./request-queue.ts";
import { sendRequest } from "./send-request.ts";

let runDir = "";
let queue: OwnedRequestQueue | null = null;
let atRest = (): Promise<void> => Promise.resolve();
beforeEach(() => {
  runDir = mkdtempSync(join(tmpdir(), "requests-"));
});
afterEach(async () => {
  await queue?.close();
  await atRest();
  queue = null;
  rmSync(runDir, { recursive: true, force: true });
});

const pause = (request: string): RunRequest => ({
  event: "control_requested",
  actor: "operator:me",
  request,
  control: "pause",
  now: false,
});
const left = (request: string, folder = runDir) =>
  sendRequest(folder, pause(request), { waitMs: 0 });
const keys = async (of: OwnedRequestQueue) => (await of.pending()).map(({ request }) => request);
const files = () => readdirSync(join(runDir, "inbox")).filter((name) => name.endsWith(".json"));
const open = async (folder = runDir): Promise<OwnedRequestQueue> =>
  (queue = await openRequestQueue(folder));

/** An owner as the engine is one: journals what is new to the journal, tells, forgets. */
async function drain(of: OwnedRequestQueue, journal: string[]): Promise<void> {
  for (const { request } of await of.pending()) {
    if (!journal.includes(request)) {
      journal.push(request);
      of.acknowledge(request);
    }

    await of.forget(request);
  }
}

/**
 * Lets the owner drain whenever something may have come, one look after the other; the answer waits
 * until it is at rest.
 */
function serve(of: OwnedRequestQueue, journal: string[] = []): () => Promise<void> {
  let last = Promise.resolve();
  of.watch(() => {
    last = last.then(() => drain(of, journal));
  });

  return (atRest = () => last);
}

test("with nobody there a request is left, and the next owner finds it as it was sent", async () => {
  expect(await left("r1")).toBe("left");
  const owner = await open();
  expect(await owner.pending()).toEqual([pause("r1")]);
  await owner.forget("r1");
  expect(await owner.pending()).toEqual([]);
});

test("requests come in the order they were sent, whatever their names", async () => {
  for (const request of ["z", "a", "m", "b"]) await left(request);
  expect(await keys(await open())).toEqual(["z", "a", "m", "b"]);
});

test("an owner that listens journals it, and the sender hears so", async () => {
  const owner = await open();
  const journal: string[] = [];
  const rest = serve(owner, journal);
  expect(await sendRequest(runDir, pause("r1"), { waitMs: 10_000 })).toBe("journaled");
  expect(journal).toEqual(["r1"]);
  await rest();
  expect(files()).toEqual([]);
});

test("two senders at once are both heard, each of its own request", async () => {
  const owner = await open();
  const journal: string[] = [];
  serve(owner, journal);
  const sent = await Promise.all(
    ["a", "b", "c", "d"].map((request) => sendRequest(runDir, pause(request), { waitMs: 10_000 })),
  );
  expect(sent).toEqual(["journaled", "journaled", "journaled", "journaled"]);
  expect(journal.sort()).toEqual(["a", "b", "c", "d"]);
});

test("an owner that dies between journal and forget: the next one sees it again and does not write it twice", async () => {
  const journal: string[] = [];
  await left("r1");
  await left("r2");
  const first = await openRequestQueue(runDir);
  journal.push(...(await keys(first)).slice(0, 1));
  await first.close();
  expect(files()).toHaveLength(2);
  const second = await open();
  await drain(second, journal);
  expect(journal).toEqual(["r1", "r2"]);
  expect(files()).toEqual([]);
});

test("a request sent twice under one key counts once and is forgotten altogether", async () => {
  await left("r1");
  await left("r1");
  expect(files()).toHaveLength(2);
  const owner = await open();
  expect(await keys(owner)).toEqual(["r1"]);
  await owner.forget("r1");
  expect(files()).toEqual([]);
});

test("a request that no longer fits is taken away, and the sender learns that nothing will come of it", async () => {
  const owner = await open();
  owner.watch(() => void owner.forget("r1"));
  expect(await sendRequest(runDir, pause("r1"), { waitMs: 10_000 })).toBe("gone");
});

test("a request that comes while nobody listens on the socket is found by looking", async () => {
  const owner = await open();
  rmSync(join(runDir, "control.sock"));
  const journal: string[] = [];
  serve(owner, journal);
  expect(await sendRequest(runDir, pause("r1"), { waitMs: 10_000 })).toBe("gone");
  expect(journal).toEqual(["r1"]);
});

test("what a dead owner left of its socket does not keep the next one from listening", async () => {
  const { createServer } = await import("node:net");
  const stale = createServer();
  const path = join(runDir, "control.sock");
  await new Promise<void>((resolve) => stale.listen(path, resolve));
  // A killed process leaves the name behind; closing would take it away, so a second name for it is
  // kept and put back.
  const { linkSync, renameSync } = await import("node:fs");
  linkSync(path, `${path}.kept`);
  await new Promise((resolve) => stale.close(resolve));
  renameSync(`${path}.kept`, path);
  expect(lstatSync(path).isSocket()).toBe(true);
  expect(await left("r0")).toBe("left");
  const owner = await open();
  serve(owner);
  expect(await sendRequest(runDir, pause("r1"), { waitMs: 10_000 })).toBe("journaled");
});

test("a run in a deep folder has its socket elsewhere, in a folder of the user's own, and still works", async () => {
  const deep = join(runDir, "d".repeat(120));
  mkdirSync(deep);
  const owner = await open(deep);
  serve(owner);
  const { socket } = JSON.parse(readFileSync(join(deep, "control.json"), "utf8")) as {
    socket: string;
  };
  expect(socket.startsWith(tmpdir())).toBe(true);
  expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(100);
  expect(lstatSync(join(socket, "..")).mode & 0o777).toBe(0o700);
  expect(await sendRequest(deep, pause("r1"), { waitMs: 10_000 })).toBe("journaled");
  await owner.close();
  expect(existsSync(socket)).toBe(false);
});

test("a control.json that points somewhere else is not followed", async () => {
  const deep = join(runDir, "d".repeat(120));
  mkdirSync(deep);
  let connections = 0;
  const { createServer } = await import("node:net");
  const stranger = createServer((socket) => (connections++, socket.end('{"journaled":"r1"}\n')));
  const path = join(runDir, "s");
  await new Promise<void>((resolve) => stranger.listen(path, resolve));
  writeFileSync(join(deep, "control.json"), JSON.stringify({ socket: path }));
  expect(await sendRequest(deep, pause("r1"), { waitMs: 300 })).toBe("left");
  expect(connections).toBe(0);
  await new Promise((resolve) => stranger.close(resolve));
});

test("what is no request goes to bad/ with a reason, and the good ones are read", async () => {
  await left("good");
  const folder = join(runDir, "inbox");
  writeFileSync(join(folder, "1-junk.json"), "{ not json");
  writeFileSync(
    join(folder, "2-other.json"),
    JSON.stringify({ event: "run_completed", request: "other" }),
  );

  writeFileSync(join(folder, "3-huge.json"), `"${"x".repeat(requestBytesMax)}"`);
  writeFileSync(join(folder, "4-more.json"), JSON.stringify({ ...pause("more"), extra: 1 }));
  writeFileSync(join(folder, "5-alias.json"), JSON.stringify(pause("another")));
  writeFileSync(join(folder, "6-path.json"), JSON.stringify(pause("../../etc")));
  writeFileSync(join(runDir, "secret"), JSON.stringify(pause("secret")));
  symlinkSync("../secret", join(folder, "7-secret.json"));
  mkdirSync(join(folder, "8-folder.json"));
  const owner = await open();
  expect(await keys(owner)).toEqual(["good"]);
  const reason = (name: string) =>
    readFileSync(join(folder, "bad", `${name}.json.reason`), "utf8").trim();
  expect([reason("1-junk"), reason("2-other"), reason("3-huge"), reason("5-alias")]).toEqual([
    "it is not JSON",
    expect.stringContaining("event") as string,
    `it is larger than ${requestBytesMax} bytes`,
    "its name does not carry its request id",
  ]);

  expect([reason("4-more"), reason("6-path"), reason("7-secret"), reason("8-folder")]).toEqual([
    expect.stringContaining("extra") as string,
    expect.stringContaining("request id") as string,
    "it is a link",
    "it is not a regular file",
  ]);

  expect(existsSync(join(runDir, "secret"))).toBe(true);
  expect(files()).toHaveLength(1);
});

test("a sender cannot leave what is no request", async () => {
  await expect(sendRequest(runDir, pause("no/slash"), { waitMs: 0 })).rejects.toThrow("request id");
  const detail = "x".repeat(requestBytesMax);
  await expect(
    sendRequest(runDir, { ...pause("big"), detail } as RunRequest, { waitMs: 0 }),
  ).rejects.toThrow("larger than");
});

test("an inbox that is a link is refused, for both sides", async () => {
  mkdirSync(join(runDir, "elsewhere"));
  symlinkSync("elsewhere", join(runDir, "inbox"));
  await expect(openRequestQueue(runDir)).rejects.toThrow("is not a folder");
  await expect(left("r1")).rejects.toThrow("is not a folder");
  expect(readdirSync(join(runDir, "elsewhere"))).toEqual([]);
});

test("junk on the socket is cut off and changes nothing", async () => {
  const owner = await open();
  let rung = 0;
  owner.watch(() => rung++);

  const say = (bytes: string | Buffer) =>
    new Promise<string>((resolve) => {
      let heard = "";
      const socket = connect(join(runDir, "control.sock"), () => socket.write(bytes));
      socket.on("data", (chunk) => (heard += chunk.toString()));
      socket.on("error", () => undefined).on("close", () => resolve(heard));
    });

  const junk = [
    "not json\n",
    "[]\n",
    '{"nudge":3}\n',
    '{"nudge":""}\n',
    '{"nudge":"x","more":1}\n',
    Buffer.from([0xff, 0x00, 0x0a]),
    "x".repeat(lineBytesMax + 2),
  ];
  expect(await Promise.all(junk.map(say))).toEqual(junk.map(() => ""));
  expect(rung).toBe(0);
  serve(owner);
  expect(await sendRequest(runDir, pause("r1"), { waitMs: 10_000 })).toBe("journaled");
});

test("a nudge for what was told already is answered at once; one for what is not there only makes the owner look", async () => {
  const owner = await open();
  owner.acknowledge("early");
  expect(await sendRequest(runDir, pause("early"), { waitMs: 10_000 })).toBe("journaled");
  await owner.forget("early");
  const nudged = new Promise<void>((resolve) => owner.watch(resolve));
  const socket = connect(join(runDir, "control.sock"), () => socket.write('{"nudge":"nothing"}\n'));
  await nudged;
  expect(await owner.pending()).toEqual([]);
  socket.destroy();
});

test("files, folder and socket are the user's alone", async () => {
  chmodSync(runDir, 0o755);
  mkdirSync(join(runDir, "inbox"));
  chmodSync(join(runDir, "inbox"), 0o755);
  await open();
  await left("r1");
  const mode = (path: string) => lstatSync(join(runDir, path)).mode & 0o777;
  expect([mode("inbox"), mode(`inbox/${files()[0] ?? ""}`), mode("control.sock")]).toEqual([
    0o700, 0o600, 0o600,
  ]);
});

test("a sender that died while writing leaves no request, and its rubbish is swept once it is old", async () => {
  mkdirSync(join(runDir, "inbox"));
  for (const name of [".aside-old", ".aside-new"]) {
    writeFileSync(join(runDir, "inbox", name), '{"event":');
  }

  utimesSync(join(runDir, "inbox/.aside-old"), 1, 1);
  expect(await keys(await open())).toEqual([]);
  expect(readdirSync(join(runDir, "inbox"))).toEqual([".aside-new"]);
});

test("whoever stops watching is not called again, and closing takes the socket away", async () => {
  const owner = await open();
  let rung = 0;
  owner.watch(() => rung++)();
  await left("r1");
  await owner.close();
  expect(rung).toBe(0);
  expect(existsSync(join(runDir, "control.sock"))).toBe(false);
});
