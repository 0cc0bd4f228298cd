import { createHash } from "node:crypto";
import { execFile } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Facts, openFacts } from "../../commands/dashboard/facts.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { commandContext } from "../../../test/support/command-context.ts";
import { buildAssets } from "./assets.ts";
import { createToken } from "./guards.ts";
import { dashboard } from "./serve.ts";
import { type Dashboard, serveDashboard } from "./server.ts";
import { openUnlock } from "./unlock.ts";

const folders: string[] = [];
const servers: Dashboard[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const golden = resolve(
  import.meta.dirname,
  "../../../test/golden/journals/0.1.0-people/journal.jsonl",
);
const run = "run-2026-01-01-000000";

/** A repository with a run that came with it: nobody here started it. */
function project(): { readonly root: string; readonly journal: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-dashboard-")));
  folders.push(root);
  mkdirSync(join(root, ".git"));
  const folder = join(root, ".autopilot", "runs", run);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  cpSync(golden, join(folder, "journal.jsonl"));

  return { root, journal: join(folder, "journal.jsonl") };
}

const placeIn = (cwd: string, interrupted = new AbortController().signal): CommandContext =>
  commandContext({
    cwd,
    env: { HOME: cwd, XDG_STATE_HOME: join(tmpdir(), "autopilot-nobodys-state") },
    interrupted,
  });

async function served(changes: Partial<Facts> = {}) {
  const { root, journal } = project();
  const context = placeIn(root);
  const token = createToken();
  const unlock = openUnlock();
  const facts = { ...openFacts(context), ...changes };

  const server = await serveDashboard(
    {
      context,
      facts,
      token,
      unlock,
      assets: buildAssets("script"),
      resumeApart: () => Promise.reject(new Error("nothing is resumed here")),
    },
    0,
  );
  servers.push(server);

  const ask = (
    path: string,
    {
      method = "GET",
      headers = {},
      body,
    }: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ) =>
    send(server.port, path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      body,
    });

  return { root, journal, token, unlock, server, ask };
}

type Came = {
  readonly status: number;
  readonly text: string;
  readonly headers: Record<string, unknown>;
  readonly json: () => never;
};

/** By hand, so that Host and Origin can be anything. */
function send(
  port: number,
  path: string,
  {
    method,
    headers,
    body,
  }: { method: string; headers: Record<string, string>; body?: string | undefined },
): Promise<Came> {
  return new Promise((report, fail) => {
    const asked = request({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () =>
        report({
          status: response.statusCode ?? 0,
          text,
          headers: response.headers,
          json: () => JSON.parse(text) as never,
        }),
      );
    });
    asked.on("error", fail);
    asked.end(body);
  });
}

test("the page itself holds no fact, and nothing but it and its script is served", async () => {
  const { server } = await served();
  const plain = (path: string) => send(server.port, path, { method: "GET", headers: {} });
  const page = await plain("/");
  expect(page.status).toBe(200);
  expect(page.text).not.toContain(run);
  expect((await plain("/app.js")).headers["content-type"]).toContain("text/javascript");

  for (const path of [
    "/app.css",
    "/package.json",
    "/../package.json",
    "/..%2f..%2fetc/passwd",
    "/api",
    "/__proto__",
    "/constructor",
    "//evil.example/",
  ]) {
    expect((await plain(path)).status, path).toBe(404);
  }
});

test("the page comes whole in one answer: its style is the one its policy names, its frame is there before the script", async () => {
  const { server } = await served();
  const { text, headers } = await send(server.port, "/", { method: "GET", headers: {} });
  const [, style = ""] = /<style>([^]*?)<\/style>/.exec(text) ?? [];
  const hash = createHash("sha256").update(style).digest("base64");
  expect(headers["content-security-policy"]).toContain(`style-src 'sha256-${hash}'`);
  expect(headers["content-security-policy"]).not.toContain("unsafe");
  expect(text.match(/<(?:script|link)[^>]*>/g)).toEqual([
    '<link rel="icon" href="data:,">',
    '<script src="/app.js" defer>',
  ]);

  expect(text).toMatch(/<div id="app"><div class="frame"><nav [^>]*class="rail"/);
});

test("lines of the log are given in parts: the newest, those before one, those after one", async () => {
  const { ask } = await served();
  const seqs = async (text: string): Promise<readonly number[]> => {
    const page: { rows: { seq: number }[] } = (await ask(`/api/log?run=${run}&${text}`)).json();
    return page.rows.map(({ seq }) => seq);
  };

  const { total }: { total: number } = (await ask(`/api/log?run=${run}`)).json();
  expect(total).toBeGreaterThan(9);
  expect(await seqs("max=2")).toEqual([total - 1, total]);
  expect(await seqs(`before=${total - 1}&max=3`)).toEqual([total - 4, total - 3, total - 2]);
  expect(await seqs("before=3&max=50")).toEqual([1, 2]);
  expect(await seqs("before=1&max=50")).toEqual([]);
  expect(await seqs(`after=${total - 2}`)).toEqual([total - 1, total]);
  expect(await seqs(`after=${total}`)).toEqual([]);
  expect(await seqs("max=nonsense")).toHaveLength(total);
});

test("what stands above a log is what stands above the run", async () => {
  const { ask } = await served();
  const page: object = (await ask(`/api/run?run=${run}`)).json();
  expect(page).toMatchObject((await ask(`/api/head?run=${run}`)).json());
  expect(await ask("/api/head?run=run-2026-01-09-000000")).toMatchObject({ status: 404 });
});

test("every answer bears the guarding headers, a refusal too", async () => {
  const { server, ask } = await served();
  for (const came of [
    await ask("/"),
    await ask("/api/overview"),
    await send(server.port, "/api/overview", { method: "GET", headers: {} }),
  ]) {
    expect(came.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(came.headers["cache-control"]).toBe("no-store");
    expect(came.headers["x-content-type-options"]).toBe("nosniff");
    expect(came.headers["access-control-allow-origin"]).toBeUndefined();
    expect(came.headers["set-cookie"]).toBeUndefined();
  }
});

test("without the token, by a foreign name or from another origin nothing is told and nothing is done", async () => {
  const { server, ask } = await served();
  const body = JSON.stringify({ do: "pause", key: run, now: true });

  const wrong = [
    await send(server.port, "/api/overview", { method: "GET", headers: {} }),
    await ask("/api/overview", { headers: { authorization: "Bearer wrong" } }),
    await ask("/api/overview", { headers: { host: "evil.example" } }),
    await ask("/api/request", { method: "POST", body, headers: { origin: "http://evil.example" } }),
    await ask("/api/request", { method: "POST", body, headers: { "content-type": "text/plain" } }),
    await ask("/api/events", { headers: { authorization: "" } }),
  ];
  expect(wrong.map(({ status }) => status)).toEqual([401, 401, 421, 403, 403, 401]);
  for (const { text } of wrong) expect(text).not.toContain(run);
});

test("a run that came from elsewhere is shown as such, and only read", async () => {
  const { ask } = await served();
  const overview: { runs: { key: string; foreign: boolean }[]; attention: { foreign: boolean }[] } =
    (await ask("/api/overview")).json();
  expect(overview.runs).toMatchObject([{ key: run, foreign: true }]);

  for (const body of [
    { do: "pause", key: run, now: true },
    { do: "stop", key: run, confirm: run },
    {
      do: "note",
      key: run,
      commit: "a".repeat(40),
      notes: [{ path: "a", line: 1, side: "new", text: "x" }],
    },
  ]) {
    const answer: { result: string } = (
      await ask("/api/request", { method: "POST", body: JSON.stringify(body) })
    ).json();
    expect(answer.result, JSON.stringify(body)).toBe("FAIL");
  }
});

test("a request that is none is refused with what is wrong with it", async () => {
  const { ask } = await served();
  const post = (body: string) => ask("/api/request", { method: "POST", body });
  expect((await post("not json")).status).toBe(400);
  expect((await post(JSON.stringify({ do: "format the disk" }))).status).toBe(400);
  expect(
    (await post(JSON.stringify({ do: "pause", key: run, now: true, actor: "operator:somebody" })))
      .text,
  ).toContain("actor");

  expect(
    (await post(JSON.stringify({ do: "note", key: run, commit: "x", notes: [] }))).status,
  ).toBe(400);

  expect((await post("x".repeat(2_000_000))).status).toBe(413);
  expect(
    (await post(JSON.stringify({ do: "stop", key: run, confirm: "yes" }))).json(),
  ).toMatchObject({
    result: "FAIL",
    reason_code: "usage",
  });
});

test("while an agent could read the token, a page only looks until the terminal's code is typed", async () => {
  const { ask, unlock } = await served({
    findReadOnlyReason: () => Promise.resolve("a run has isolation none"),
  });

  const pause = (headers: Record<string, string> = {}) =>
    ask("/api/request", {
      method: "POST",
      body: JSON.stringify({ do: "pause", key: run, now: true }),
      headers,
    });
  expect(await pause()).toMatchObject({ status: 403 });
  expect((await ask("/api/overview")).status).toBe(200);
  const type = (code: string) =>
    ask("/api/unlock", { method: "POST", body: JSON.stringify({ code }) });
  expect((await type("WRONG1")).status).toBe(403);
  const { key }: { key: string } = (await type(` ${unlock.code.toLowerCase()} `)).json();
  expect((await pause({ "x-unlock": key })).status).toBe(200);
  expect((await pause({ "x-unlock": `${key}x` })).status).toBe(403);
  expect((await pause({ "x-unlock": unlock.code })).status).toBe(403);
  for (let index = 0; index < 5; index++) await type("WRONG1");
  expect((await type(unlock.code)).status).toBe(429);
});

test("a page is told that something changed, and a run that goes away is missing, not an error", async () => {
  const { server, token, journal, ask, root } = await served();
  const stream = await new Promise<AsyncIterable<Buffer>>((report, fail) => {
    const asked = request(
      {
        host: "127.0.0.1",
        port: server.port,
        path: "/api/events",
        headers: { authorization: `Bearer ${token}` },
      },
      report,
    );
    asked.on("error", fail);
    asked.end();
  });
  const parts = stream[Symbol.asyncIterator]();
  expect(String((await parts.next()).value)).toContain('"changed":[]');
  appendFileSync(journal, "torn");
  expect(String((await parts.next()).value)).toContain(run);
  expect((await ask(`/api/run?run=${run}`)).status).toBe(200); // a torn tail isn't damage
  rmSync(join(root, ".autopilot", "runs", run), { recursive: true });
  expect(await ask(`/api/run?run=${run}`)).toMatchObject({ status: 404 });
  expect((await ask("/api/overview")).json()).toMatchObject({ runs: [] });
});

test("names of runs and files lead nowhere else", async () => {
  const { ask } = await served();
  for (const path of [
    "/api/run?run=../../x",
    "/api/log?run=%2fetc%2fpasswd",
    `/api/file?run=${run}&path=../../../etc/passwd`,
    `/api/entry?run=${run}&seq=999999`,
  ]) {
    expect((await ask(path)).status, path).toBe(404);
  }
});

test("a damaged journal is listed with what is wrong, and hides no other run", async () => {
  const { ask, root } = await served();
  const other = join(root, ".autopilot", "runs", "run-2026-01-02-000000");
  mkdirSync(other, { recursive: true });
  appendFileSync(join(other, "journal.jsonl"), '{"seq":1}\n');
  const overview: { runs: unknown[]; unreadable: { run: string }[] } = (
    await ask("/api/overview")
  ).json();
  expect(overview.runs).toHaveLength(1);
  expect(overview.unreadable).toMatchObject([{ run: "run-2026-01-02-000000" }]);
});

test("a port that is taken is named; without a wish another one is taken", async () => {
  const { server, root } = await served();
  expect(
    await dashboard(placeIn(root), { port: server.port, open: false }, () => "script"),
  ).toMatchObject({
    result: "FAIL",
    reason_code: "port_taken",
  });
});

test("inside a run no dashboard starts, and a process of a run that has the token changes nothing", async () => {
  const { root, server, token } = await served();
  const inside = { ...placeIn(root), env: { AUTOPILOT_LIFE: "x" } };
  expect(await dashboard(inside, { open: false })).toMatchObject({
    result: "FAIL",
    reason_code: "inside_a_run",
  });

  const client = `fetch("http://127.0.0.1:${server.port}" + process.argv[1], {
    method: process.argv[2], headers: { authorization: "Bearer ${token}", "content-type": "application/json" },
    ...(process.argv[2] === "POST" ? { body: process.argv[3] } : {}) }).then(async (answer) => console.log(answer.status, await answer.text()))`;

  const asked = (words: readonly string[], env: Record<string, string>): Promise<string> =>
    new Promise((report, fail) => {
      execFile(process.execPath, ["-e", client, ...words], { env }, (error, out) =>
        error === null ? report(out) : fail(error),
      );
    });

  const pause = ["/api/request", "POST", JSON.stringify({ do: "pause", run })];
  const code = ["/api/unlock", "POST", JSON.stringify({ code: "000000" })];
  const marked = { AUTOPILOT_LIFE: "x" };
  expect(await asked(pause, marked)).toMatch(/^403 .*inside_a_run/);
  expect(await asked(code, marked)).toMatch(/^403 .*inside_a_run/);
  expect(await asked(["/api/overview", "GET"], marked)).toMatch(/^200 /);
  expect(await asked(pause, {})).not.toContain("inside_a_run");
});
