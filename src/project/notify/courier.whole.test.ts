// The queue and its courier with a clock that is moved by hand, and the senders against a stand-in
// on loopback.

import { createHmac } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Notice } from "../../views/outbound/notices.ts";
import { type CourierOptions, deliverNotices } from "./courier.ts";
import { type Hook, readHooks } from "./hooks.ts";
import { openNoticeQueue } from "./notice-queue.ts";
import { type NoticeMessage, type SendOutcome, sendMessage, signBody } from "./send-message.ts";

let folder = "";
const env: Record<string, string> = {};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "notify-"));
  Object.assign(env, {
    HOME: folder,
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CONFIG_HOME: join(folder, "config"),
    PATH: process.env["PATH"] ?? "",
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const config = (text: string): void => {
  mkdirSync(join(folder, "config", "autopilot"), { recursive: true });
  writeFileSync(join(folder, "config", "autopilot", "config.yaml"), text);
};
const notice = (id: string, more: Partial<Notice> = {}): Notice => ({
  id,
  kind: "needs_you",
  run: "run-1",
  project: "shop",
  at: "2026-01-01T00:00:00.000Z",
  reason: "ok",
  title: `shop: ${id}`,
  text: "words",
  next: "autopilot inbox",
  ...more,
});
const message = (id: string, more: Partial<Notice> = {}): NoticeMessage => ({
  ...notice(id, more),
  notices: [id],
});

/** A courier whose time passes only while it waits. */
async function delivered(
  answers: (name: string, at: number, hook: Hook) => SendOutcome,
  untilMs = Number.POSITIVE_INFINITY,
) {
  let now = 1_000_000;
  const over = new AbortController();

  const messages: {
    readonly hook: string;
    readonly at: number;
    readonly ids: readonly string[];
  }[] = [];

  const options: CourierOptions = {
    env,
    waits: true,
    interrupted: over.signal,
    now: () => now,
    pause: (ms) => {
      now += ms;
      if (now > untilMs) over.abort();
      return Promise.resolve();
    },
    send: (hook, { notices }) => {
      messages.push({ hook: hook.name, at: now - 1_000_000, ids: notices });
      return Promise.resolve(answers(hook.name, now - 1_000_000, hook));
    },
  };

  return { ...(await deliverNotices(options)), messages };
}

describe("the queue", () => {
  test("takes a notice once for each hook, also after it was settled", async () => {
    config("notify: [{ name: a, run: [x] }, { name: b, run: [x] }]\n");
    const queue = openNoticeQueue(env);
    expect(queue.add(notice("1"), "a", 1_000_000)).toBe(true);
    expect(queue.add(notice("1"), "a", 1_000_000)).toBe(false);
    expect(queue.add(notice("1"), "b", 1_000_000)).toBe(true);
    const { sent, left } = await delivered(() => ({ kind: "sent", detail: "exit 0" }));
    expect({ sent, left }).toEqual({ sent: 2, left: 0 });
    expect(queue.add(notice("1"), "a", 1_000_001)).toBe(false);
  });

  test("gives up what was answered meanwhile, also while it is tried again", async () => {
    config("notify: [{ run: [x] }]\n");
    const queue = openNoticeQueue(env);
    queue.add(notice("1"), "hook-1", 1_000_000);
    queue.add(notice("2"), "hook-1", 1_000_000);
    queue.withdraw(({ id }) => id === "1");
    expect(queue.waiting().map((item) => item.notice.id)).toEqual(["2"]);
    const { messages } = await delivered(() => {
      queue.withdraw(({ id }) => id === "2");
      return { kind: "failed", detail: "exit 1" };
    });
    expect(messages).toHaveLength(1);
    expect(queue.waiting()).toEqual([]);
    expect(queue.add(notice("2"), "hook-1", 1_000_001)).toBe(false);
  });

  test("passes over what it cannot read, and its files are the user's alone", () => {
    config("notify: [{ run: [x] }]\n");
    const queue = openNoticeQueue(env);
    queue.add(notice("1"), "hook-1", 0);
    writeFileSync(join(queue.folder, "queue", "junk.json"), "{");
    expect(queue.waiting()).toHaveLength(1);
    const [name = ""] = readdirSync(join(queue.folder, "queue"));
    expect(existsSync(join(queue.folder, "queue", name))).toBe(true);
  });
});

describe("the courier", () => {
  test("a hook that answers 500 for an hour is tried again, each try is journaled, and the notice arrives once", async () => {
    config("notify: [{ run: [x] }]\n");
    const queue = openNoticeQueue(env);
    queue.add(notice("1"), "hook-1", 1_000_000);

    const { messages, left } = await delivered((_hook, index) =>
      index < 3_600_000
        ? { kind: "failed", detail: "HTTP 500" }
        : { kind: "sent", detail: "HTTP 200" },
    );
    expect(left).toBe(0);
    expect(messages.length).toBeGreaterThan(4);
    expect(messages.length).toBeLessThan(10);
    const journal = queue.deliveries();
    expect(journal.map(({ outcome }) => outcome)).toEqual([
      ...messages.slice(1).map(() => "failed"),
      "sent",
    ]);

    expect(journal[0]).toMatchObject({ hook: "hook-1", ids: ["1"], try: 1, detail: "HTTP 500" });
    expect(journal[0]?.next_at).toBeDefined();
  });

  test("one that fails holds up no other, one that refuses is not asked again, and after a day it is given up", async () => {
    config(
      "notify: [{ name: bad, run: [x] }, { name: good, run: [x] }, { name: gone, run: [x] }]\n",
    );

    const queue = openNoticeQueue(env);
    for (const hook of ["bad", "good", "gone"]) queue.add(notice("1"), hook, 1_000_000);

    const { messages, left } = await delivered((hook) =>
      hook === "bad"
        ? { kind: "failed", detail: "no answer in 10 s" }
        : hook === "good"
          ? { kind: "sent", detail: "" }
          : { kind: "refused", detail: "HTTP 404" },
    );
    expect(left).toBe(0);
    expect(messages.filter(({ hook }) => hook === "good")).toMatchObject([{ at: 0 }]);
    expect(messages.filter(({ hook }) => hook === "gone")).toHaveLength(1);
    expect(queue.deliveries().findLast(({ hook }) => hook === "bad")?.outcome).toBe("given_up");
  });

  test("many at once become one message after the third", async () => {
    config("notify: [{ run: [x] }]\n");
    const queue = openNoticeQueue(env);
    for (let n = 0; n < 3; n += 1) queue.add(notice(String(n)), "hook-1", 1_000_000 + n);
    await delivered(() => ({ kind: "sent", detail: "" }));
    for (let n = 3; n < 86; n += 1) queue.add(notice(String(n)), "hook-1", 1_000_000 + n);
    const { messages } = await delivered(() => ({ kind: "sent", detail: "" }));
    expect(messages).toHaveLength(1);
    expect(messages[0]?.ids).toHaveLength(83);
  });

  test("a courier that lacks a secret leaves the notice to one that has it, and a hook that is gone takes its notices along", async () => {
    config("notify: [{ name: a, webhook: { env: HOOK_URL } }]\n");
    const queue = openNoticeQueue(env);
    queue.add(notice("1"), "a", 1_000_000);
    queue.add(notice("1"), "former", 1_000_000);
    expect(await delivered(() => ({ kind: "sent", detail: "" }))).toMatchObject({
      sent: 0,
      left: 1,
      messages: [],
    });

    env["HOOK_URL"] = "http://127.0.0.1:9";
    expect(await delivered(() => ({ kind: "sent", detail: "" }))).toMatchObject({
      sent: 1,
      left: 0,
    });

    delete env["HOOK_URL"];
  });

  test("a hook that was fixed is used as it is now, and one that was taken out meanwhile is asked no more", async () => {
    config("notify: [{ run: [bad] }]\n");
    openNoticeQueue(env).add(notice("1"), "hook-1", 1_000_000);
    const asked: string[] = [];

    const outcomes = await delivered((_name, _at, hook) => {
      asked.push(hook.run?.[0] ?? "");
      config("notify: [{ run: [good] }]\n");
      return hook.run?.[0] === "good"
        ? { kind: "sent", detail: "" }
        : { kind: "failed", detail: "exit 1" };
    });
    expect([asked, outcomes.left]).toEqual([["bad", "good"], 0]);
    openNoticeQueue(env).add(notice("2"), "hook-1", 1_000_000);
    const { messages, left } = await delivered(() => {
      config("notify: []\n");
      return { kind: "failed", detail: "" };
    });
    expect([messages.length, left]).toEqual([1, 0]);
  });

  test("of several in one message that fails, each is given up at its own age", async () => {
    config("notify: [{ run: [x] }]\n");
    const queue = openNoticeQueue(env);
    for (const id of ["old", "older"]) queue.add(notice(id), "hook-1", 1_000_000 - 24 * 3_600_000);
    for (const id of ["new", "newer"]) queue.add(notice(id), "hook-1", 1_000_000);
    const { left } = await delivered(() => ({ kind: "failed", detail: "exit 1" }), 1_002_000);
    expect(left).toBe(2);
    expect(queue.deliveries().map(({ outcome, ids }) => [outcome, ids.toSorted()])).toEqual([
      ["given_up", ["old", "older"]],
      ["failed", ["new", "newer"]],
    ]);
  });

  test("stops where it is interrupted, and what waits stays", async () => {
    config("notify: [{ run: [x] }]\n");
    openNoticeQueue(env).add(notice("1"), "hook-1", 1_000_000);
    expect(await delivered(() => ({ kind: "failed", detail: "" }), 1_020_000)).toMatchObject({
      left: 1,
    });
  });
});

describe("the user's hooks", () => {
  test.each([
    ["notify: [{ on: [ended] }]", "either run or webhook"],
    ["notify: [{ run: [x], webhook: 'https://a.b' }]", "either run or webhook"],
    ["notify: [{ webhook: 'ftp://a.b' }]", "http"],
    ["notify: [{ run: [x], on: [sometimes] }]", "needs_you"],
    ["notify: [{ run: [x], secret: { env: A } }]", "secret beside webhook only"],
    ["notify: [{ name: a, run: [x] }, { name: a, run: [y] }]", "a name of its own"],
  ])("%s is refused", (text, expected) => {
    config(`${text}\n`);
    const { hooks, problem } = readHooks(env);
    expect(hooks).toEqual([]);
    expect(problem).toContain(expected);
    expect(problem).toContain("config.yaml");
  });
});

describe("what is sent", () => {
  type Got = { readonly headers: IncomingMessage["headers"]; readonly body: string };
  let server: Server;
  let got: Got[] = [];
  let answer: { status: number; headers?: Record<string, string> } | "hang" = { status: 200 };
  const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  beforeEach(async () => {
    got = [];
    answer = { status: 200 };
    server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        got.push({ headers: request.headers, body });
        if (answer !== "hang") {
          response.writeHead(answer.status, answer.headers).end("secret words of the receiver");
        }
      });
    });

    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test("a webhook gets JSON that is signed over time and body", async () => {
    const secret = { file: join(folder, "key") };
    writeFileSync(secret.file, "s3cret\n", { mode: 0o600 });
    expect(await sendMessage({ webhook: address(), secret }, message("1"), { env })).toEqual({
      kind: "sent",
      detail: "HTTP 200",
    });

    const { headers, body } = got[0] ?? { headers: {}, body: "" };
    expect(JSON.parse(body)).toMatchObject({ id: "1", kind: "needs_you", notices: ["1"] });
    const [, seconds = "", hex] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["autopilot-signature"])) ?? [];
    expect(createHmac("sha256", "s3cret").update(`${seconds}.${body}`).digest("hex")).toBe(hex);
    expect(signBody("s3cret", `${body} `, Number(seconds) * 1000)).not.toContain(hex);
  });

  test("a secret in a file that others can read is not used", async () => {
    const secret = { file: join(folder, "key") };
    writeFileSync(secret.file, "s3cret\n");
    chmodSync(secret.file, 0o644);
    const outcome = await sendMessage({ webhook: address(), secret }, message("1"), { env });
    expect(outcome).toMatchObject({ kind: "failed" });
    expect(outcome.detail).toContain("chmod 600");
    expect(got).toEqual([]);
  });

  test.each([
    [{ status: 500 }, "failed", "HTTP 500"],
    [{ status: 429, headers: { "retry-after": "90" } }, "failed", "HTTP 429"],
    [{ status: 404 }, "refused", "HTTP 404"],
    [{ status: 302, headers: { location: "http://127.0.0.1:9/elsewhere" } }, "refused", "HTTP 302"],
    ["hang", "failed", "no answer in 0.3 s"],
  ] as const)("an answer of %o is %s", async (given, kind, detail) => {
    answer = given === "hang" ? given : { ...given };
    const outcome = await sendMessage(
      { webhook: address() },
      message("1"),
      given === "hang" ? { env, timeoutMs: 300 } : { env },
    );
    expect(outcome).toMatchObject({ kind, detail });
    if (detail === "HTTP 429") expect(outcome).toMatchObject({ retryAfterMs: 90_000 });
  });

  test("a Retry-After may be a date", async () => {
    answer = { status: 503, headers: { "retry-after": "Fri, 31 Dec 2100 23:59:59 GMT" } };
    const outcome = await sendMessage({ webhook: address() }, message("1"), { env });
    expect(outcome.kind === "failed" && (outcome.retryAfterMs ?? 0) > 3_600_000).toBe(true);
  });

  test("an outcome names neither the address nor a word of the answer", async () => {
    answer = { status: 500 };
    const known = await sendMessage({ webhook: `${address()}/T0K3N` }, message("1"), { env });
    const unreachable = await sendMessage({ webhook: "http://127.0.0.1:1/T0K3N" }, message("1"), {
      env,
    });

    const odd = await sendMessage({ webhook: { env: "ODD" } }, message("1"), {
      env: { ...env, ODD: "T0K3N no address" },
    });
    for (const outcome of [known, unreachable, odd]) {
      expect(JSON.stringify(outcome)).not.toMatch(/T0K3N|secret|127/);
    }
  });

  test("a command gets the notice as data: words of an agent are never words of a command line", async () => {
    const out = join(folder, "out");
    const evil = `$(touch ${join(folder, "pwned")}) \`id\` "; rm -rf /`;

    const run = [
      "sh",
      "-c",
      'printf "%s|%s|%s|%s\\n" "$NOTICE_KIND" "$NOTICE_TEXT" "$AUTOPILOT_LIFE" "$(cat)" > "$OUT"',
    ];

    expect(
      await sendMessage({ run }, message("1", { text: evil }), {
        env: { ...env, OUT: out, AUTOPILOT_LIFE: "x" },
      }),
    ).toEqual({
      kind: "sent",
      detail: "exit 0",
    });

    const [kind, text, life, stdin = ""] = readFileSync(out, "utf8").trimEnd().split("|");
    expect([kind, text, life]).toEqual(["needs_you", evil, ""]);
    expect(JSON.parse(stdin)).toMatchObject({ text: evil });
    expect(existsSync(join(folder, "pwned"))).toBe(false);
  });

  test("a command that hangs is ended with what it started; one that is not there or fails is said to", async () => {
    const alive = join(folder, "alive");
    const hanging = await sendMessage(
      { run: ["sh", "-c", `(sleep 2; touch ${alive}) & sleep 60`] },
      message("1"),
      { env, timeoutMs: 300 },
    );
    expect(hanging).toEqual({ kind: "failed", detail: "no end in 0.3 s" });
    expect(await sendMessage({ run: ["/nonexistent/x"] }, message("1"), { env })).toEqual({
      kind: "failed",
      detail: "cannot be started (ENOENT)",
    });

    expect(
      await sendMessage({ run: ["sh", "-c", "echo secret >&2; exit 3"] }, message("1"), { env }),
    ).toEqual({
      kind: "failed",
      detail: "exit 3",
    });

    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(existsSync(alive)).toBe(false);
  });

  test("for Slack the text alone, with its markup escaped; brief, no word of the goal", async () => {
    await sendMessage(
      { webhook: address(), as: "slack" },
      message("1", { text: "<!channel> & <https://evil|click>" }),
      { env },
    );

    await sendMessage(
      { webhook: address(), as: "slack", content: "brief" },
      message("1", { text: "the goal" }),
      { env },
    );

    const [full, brief] = got.map(({ body }) => JSON.parse(body) as { readonly text: string });
    expect(full).toEqual({ text: "&lt;!channel&gt; &amp; &lt;https://evil|click&gt;" });
    expect(brief?.text).toContain("it waits for you");
    expect(brief?.text).not.toContain("goal");
    await sendMessage(
      { webhook: address(), content: "brief" },
      { ...message("run-1:block:secret-phase"), notices: ["run-1:block:secret-phase"] },
      { env },
    );

    expect(JSON.stringify(got.at(-1))).not.toContain("secret-phase");
    expect(JSON.parse(got.at(-1)?.body ?? "")).toMatchObject({
      id: expect.stringMatching(/^run-1:[0-9a-f]{16}$/) as string,
    });
  });
});
