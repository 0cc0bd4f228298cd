import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { CommandContext } from "../project/command-context.ts";
import { commandContext } from "../../test/support/command-context.ts";
import type { Event } from "../contracts/event.ts";
import { openJournal } from "../journal/file-journal.ts";
import { live } from "../../test/simulation/support/scenarios.ts";
import { stories } from "../../test/simulation/support/stories.ts";
import { renderPortfolioFile } from "../views/web/portfolio-file.ts";
import { reportHtml } from "./report-html.ts";

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const journals = resolve(import.meta.dirname, "../../test/golden/journals");
const run = "run-2026-01-01-000000";

function place(golden: string): CommandContext {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-html-")));
  folders.push(root);
  execFileSync("git", ["init", "-q", root]);
  mkdirSync(join(root, ".autopilot", "runs", run), { recursive: true, mode: 0o700 });
  cpSync(
    join(journals, golden, "journal.jsonl"),
    join(root, ".autopilot", "runs", run, "journal.jsonl"),
  );

  return commandContext({ cwd: root, env: { HOME: root, XDG_STATE_HOME: join(root, "state") } });
}

/** Nothing that a browser would run or fetch. */
function expectInert(html: string): void {
  expect(html).not.toMatch(
    /<script|<iframe|<img|<object|<form|javascript:|\son\w+=|url\(|@import/i,
  );

  expect(html).toContain("default-src 'none'");
  expect(
    [...html.matchAll(/(?:href|src)="([^"]*)"/g)]
      .map(([, address = ""]) => address)
      .filter((address) => !/^(#|data:,$)/.test(address)),
  ).toEqual([]);
}

test.each(["0.1.0-people", "0.1.0-demo"])(
  "the report of %s is one file that asks for nothing and says what the run came to",
  async (golden) => {
    const here = place(golden);
    const response = await reportHtml(here, { run, file: "report.html" });
    expect(response).toMatchObject({
      result: "PASS",
      data: { file: join(here.cwd, "report.html") },
    });

    const html = readFileSync(join(here.cwd, "report.html"), "utf8");
    expectInert(html);

    const first = JSON.parse(
      readFileSync(join(journals, golden, "journal.jsonl"), "utf8").split("\n")[0] ?? "",
    ) as {
      objective: { goal: string };
    };
    expect(html).toContain(first.objective.goal.replaceAll("'", "&#39;").replaceAll('"', "&#34;"));

    for (const part of [
      "Asked for",
      "Proof",
      "What happened, in time",
      "Cost over time",
      "Change",
    ]) {
      expect(html).toContain(part);
    }
  },
);

test.each([
  ["roadmap: everything at once", "Phases"],
  ["quality: two gates fail, then six phases", "Phases"],
  ["greenfield: rounds, boundary, waves, a batch refused, retries spent", "Phases"],
] as const)(
  "the report of a run of another playbook (%s) is whole and inert too",
  async (story, part) => {
    const reported = stories[story];
    if (reported === undefined) throw new Error(`no story ${story}`);
    const here = place("0.1.0-people");
    const folder = join(here.cwd, ".autopilot", "runs", run);
    rmSync(join(folder, "journal.jsonl"));

    const { journal } = await openJournal(folder, {
      commit: "sync",
      now: () => "2026-01-01T00:00:00.000Z",
      activeMs: () => 0,
    });

    const { tape } = live(reported);
    await journal.append(
      tape.entries.map(
        ({
          seq: _seq,
          epoch: _epoch,
          ts: _ts,
          active_ms: _active,
          prev: _prev,
          crc: _crc,
          ...event
        }) => event as Event,
      ),
    );

    await journal.close();
    expect(await reportHtml(here, { run, file: "report.html" })).toMatchObject({ result: "PASS" });
    const html = readFileSync(join(here.cwd, "report.html"), "utf8");
    expectInert(html);

    for (const one of ["Proof", "What happened, in time", "Cost over time", part]) {
      expect(html).toContain(one);
    }

    for (const { name } of tape.run.phases.filter(({ group }) => group === "phases")) {
      expect(html).toContain(name);
    }
  },
);

test("with earlier runs of the flow it draws what was forecast beside what was used", async () => {
  const here = place("0.1.0-demo");
  for (const n of [1, 2, 3, 4]) {
    const earlier = join(here.cwd, ".autopilot", "runs", `run-2025-12-0${n}-000000`);
    cpSync(join(here.cwd, ".autopilot", "runs", run), earlier, { recursive: true });
  }

  await reportHtml(here, { run, file: "report.html" });
  const html = readFileSync(join(here.cwd, "report.html"), "utf8");
  expectInert(html);
  expect(html).toContain("Forecast and outcome");
  expect(html).toContain("2 of 2 used no more than the upper figure");
  expect(html).toContain("Tokens forecast and used in 2 runs");
});

test("a place that cannot be written is named, and a link is not written through", async () => {
  const here = place("0.1.0-people");
  expect(await reportHtml(here, { run, file: "nowhere/report.html" })).toMatchObject({
    result: "FAIL",
    reason_code: "usage",
  });

  symlinkSync("/dev/null", join(here.cwd, "link.html"));
  expect(await reportHtml(here, { run, file: "link.html" })).toMatchObject({
    result: "FAIL",
    reason_code: "usage",
  });

  expect(await reportHtml(here, { run: "run-2026-01-01-999999", file: "r.html" })).toMatchObject({
    reason_code: "run_missing",
  });
});

test("a portfolio is one file too, and hostile names in it stay text", () => {
  const counts = { ready: 1, done: 2 };
  const hostile = "<script>alert(1)</script>";

  const line = {
    id: "task-a-1",
    project: "proj-a",
    title: hostile,
    key: null,
    at: "2026-01-01T00:00:00Z",
    note: hostile,
  };

  const html = renderPortfolioFile({
    at: "2026-01-01T00:00:00.000Z",
    name: hostile,
    needs_you: 3,
    product: "autopilot",
    counts,
    spent: { tokens: 10, usd: 1 },
    projects: [
      {
        id: "proj-a",
        name: hostile,
        priority: 1,
        phase: "building",
        counts,
        spent: { tokens: 10, usd: 1 },
        budget: { usd: 10 },
      },
    ],
    queue: [line],
    batch: ["task-a-1"],
    returned: [line],
    landed: [line],
    workers: [{ ...line, agent: hostile, age_ms: 1_000, alive: true, is_resting: false }],
    waiting: [{ because: hostile, count: 3 }],
    runs: [],
  });
  expectInert(html);
  expect(html).toContain("&#60;script&#62;");
});
