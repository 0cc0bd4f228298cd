// small-run: one whole run, small enough to be crashed hundreds of times: a turn that leaves its
// scope, a cycle that proves half, a cycle that proves the rest, and the landing. With what must
// hold of it however often it was interrupted.

import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect } from "vitest";
import { verifyJournal } from "../../src/journal/read.ts";
import {
  autopilot,
  type Ended,
  type Entry,
  processesOf,
  scripted,
  until,
} from "../support/autopilot.ts";
import { checkedOnce, git, scratch } from "../support/scratch-repository.ts";

const turns = [
  {
    do: [
      { write: { path: "src/a.txt", text: "two\n" } },
      { write: { path: "outside.txt", text: "x\n" } },
      { say: "finished <promise>DONE</promise>" },
    ],
  },
  {
    do: [
      { write: { path: "src/a.txt", text: "two\n" } },
      { say: "half way" },
      { usage: { input: 100, output: 10 } },
    ],
  },
  {
    do: [
      { write: { path: "src/b.txt", text: "bee\n" } },
      { say: "finished <promise>DONE</promise>" },
      { usage: { input: 100, output: 10 } },
    ],
  },
];

/**
 * Where nobody has begun yet. What proof does beside running its checks is in the way of kills and
 * errors with AUTOPILOT_FAULTS=all alone.
 */
export function smallRepository(): string {
  const folder = scratch({ files: { "src/a.txt": "one\n", "README.md": "# small\n" } });
  return process.env["AUTOPILOT_FAULTS"] === "all" ? folder : checkedOnce(folder);
}

/**
 * The words of the objective; a crash costs estimated tokens, so the budget is none that a test
 * could reach.
 */
export function objectiveArgs(folder: string): readonly string[] {
  return [
    "write two and bee",
    "--scope=src/**",
    "--done-criteria=two :: grep -q two src/a.txt",
    "--done-criteria=bee :: grep -q bee src/b.txt",
    "--max-budget=tokens=90m,minutes=900,calls=90000",
    "--isolation=clone",
    ...scripted(folder, turns),
  ];
}

export const goArgs = (folder: string): readonly string[] => [
  "go",
  ...objectiveArgs(folder),
  "--yes",
  "--json",
];

/**
 * Does what a person would do after a crash, as `status` tells: again, acknowledge, resume. Gives
 * every answer on the way.
 */
export async function recover(folder: string): Promise<readonly Ended[]> {
  const answers: Ended[] = [];
  for (let tries = 0; tries < 6; tries++) {
    const status = await autopilot(folder, ["status", "--json"]);
    answers.push(status);
    expect(status.code, said(status)).toBe(0);
    if (status.json.state === "completed") return answers;
    answers.push(await autopilot(folder, wayOn(folder, String(status.json.state))));
  }

  throw new Error(`the run did not complete:\n${answers.map(said).join("\n")}`);
}

/** The command that a state asks for. */
export function wayOn(folder: string, state: string): readonly string[] {
  if (state === "idle") return goArgs(folder);
  return state === "draft" ? ["go", "--yes", "--json"] : ["resume", "--json"];
}

const charsMax = 300;
/** An answer in short, for the message of a test that failed. */
export const said = ({ code, signal, out, err }: Ended): string =>
  `exit ${code ?? signal}: ${out.trim().slice(0, charsMax)} … ${err.trim().split("\n").slice(-4).join(" / ")}`;

/** The result of a run, without what differs from life to life. */
export type Story = { readonly tree: string; readonly events: readonly unknown[] };

export function storyOf(folder: string): Story {
  return {
    tree: git(folder, "rev-parse", "HEAD^{tree}"),
    events: retold(entriesOf(newestRun(folder))),
  };
}

/**
 * All that must hold of a run that was interrupted and came to its end, beside the same run
 * undisturbed.
 */
export async function expectSame(
  folder: string,
  undisturbed: Story,
  before: Acknowledged,
): Promise<void> {
  const run = newestRun(folder);
  expectKept(before, run);
  await expectWhole(folder);
  const { tree, events } = storyOf(folder);
  expect(tree).toBe(undisturbed.tree);
  const reported = events.map((event) => JSON.stringify(event));
  const wanted = undisturbed.events.map((event) => JSON.stringify(event));
  const at = wanted.findIndex((event, n) => event !== reported[n]);
  const names = entriesOf(run).map(({ event }) => event);
  expect(reported[at] ?? "", `event ${at} without the recoveries, of ${names.join(" ")}`).toBe(
    wanted[at] ?? "",
  );

  expect(reported).toHaveLength(wanted.length);
}

/**
 * What must hold of every run that came to its end: verified, sound, each attempt committed once,
 * landed once, nothing left behind.
 */
export async function expectWhole(folder: string): Promise<void> {
  const run = newestRun(folder);
  const { ok, reason } = verifyJournal(run);
  expect(ok, `the chain: ${reason}`).toBe(true);
  const entries = entriesOf(run);
  expect(entries.at(-1)).toMatchObject({ event: "run_completed", verdict: "verified" });
  const ended = entries
    .filter(({ event }) => event === "step_completed" || event === "step_failed")
    .map((entry) => String(entry["attempt"]));
  expect(new Set(ended).size, `each attempt ends once: ${ended.join()}`).toBe(ended.length);

  const commits = git(folder, "log", "--format=%(trailers:key=Autopilot-Attempt,valueonly)", "main")
    .split("\n")
    .filter((line) => line !== "");
  expect(new Set(commits).size, `one commit an attempt: ${commits.join()}`).toBe(commits.length);
  expect(git(folder, "rev-list", "--count", "main")).toBe(String(commits.length + 1));
  expect(git(folder, "rev-parse", `autopilot/${basename(run)}`)).toBe(
    git(folder, "rev-parse", "main"),
  );

  // Git writes its log before it moves the branch, so a landing that a kill cut short may be told
  // twice; it leads to one commit.
  const landings = git(folder, "reflog", "show", "--format=%gs %H", "main")
    .split("\n")
    .filter((line) => line.startsWith("autopilot land"));
  expect(new Set(landings).size, `landed once: ${landings.join()}`).toBe(1);
  expect(git(folder, "status", "--porcelain"), "a clean checkout").toBe("");
  expect(locksIn(folder), "no lock of git's is left").toEqual([]);
  await until(
    "no process of the run is left",
    () => processesOf(basename(run), folder).length === 0,
  );
}

/**
 * Where AUTOPILOT_KEEP names a folder, a repository in which something went wrong is copied there
 * for a look.
 */
export async function keptIfWrong(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const keep = process.env["AUTOPILOT_KEEP"];
    if (keep !== undefined) {
      cpSync(folder, join(keep, basename(dirname(folder))), { recursive: true });
    }

    throw new Error(
      `${basename(dirname(folder))}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

export type Acknowledged = { readonly run: string; readonly lines: string } | null;

/** The whole lines of the newest journal now; null if none was begun. */
export function acknowledgedIn(folder: string): Acknowledged {
  const run = newestRun(folder);
  if (run === "" || !existsSync(join(run, "journal.jsonl"))) return null;
  const text = readFileSync(join(run, "journal.jsonl"), "utf8");

  return { run, lines: text.slice(0, text.lastIndexOf("\n") + 1) };
}

/**
 * Nothing acknowledged is lost: what the journal held is how it still begins. A draft that never
 * ran may have been replaced.
 */
export function expectKept(before: Acknowledged, run: string): void {
  if (before === null) return;
  expect(
    readFileSync(join(before.run, "journal.jsonl"), "utf8").startsWith(before.lines),
    "what was acknowledged is still there",
  ).toBe(true);

  if (before.run !== run) {
    expect(before.lines, "only a draft is replaced").not.toContain('"event":"run_started"');
  }
}

export function newestRun(folder: string): string {
  const runs = join(folder, ".autopilot", "runs");
  const [newest] = existsSync(runs) ? readdirSync(runs).toSorted(byAge).toReversed() : [];
  return newest === undefined ? "" : join(runs, newest);
}

const byAge = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

export function entriesOf(run: string): readonly Entry[] {
  const text = readFileSync(join(run, "journal.jsonl"), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Entry);
}

/** Locks of git's own that a killed git may leave in the user's repository. */
function locksIn(folder: string): readonly string[] {
  return readdirSync(join(folder, ".git"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".lock"),
  );
}

/** Events of taking up and settling, which only an interrupted run has. */
const ofRecovery = [
  "run_opened",
  "artifacts_surveyed",
  "journal_repaired",
  "attempt_settled",
  "run_resumed",
  "run_paused",
];
const ofATurn = ["session_opened", "turn_ended", "changes_applied"];
const kept = [
  "event",
  "walk",
  "step",
  "attempt",
  "reason_code",
  "to",
  "count",
  "verdict",
  "gaps",
  "paths",
  "tree",
  "by",
  "promised",
  "said",
];

/**
 * The journal without its recoveries: what an attempt wrote before it was repeated counts once, by
 * its repetition.
 */
function retold(entries: readonly Entry[]): readonly unknown[] {
  const reported: Entry[] = [];
  for (const entry of entries) {
    if (entry.event === "attempt_settled" && entry["remedy"] === "repeat") {
      forgetTurn(reported, String(entry["attempt"]));
    }

    if (entry.event === "session_opened") forgetTurn(reported, String(entry["attempt"]));
    if (!ofRecovery.includes(entry.event)) reported.push(entry);
  }

  return reported.map(comparable);
}

function forgetTurn(reported: Entry[], attempt: string): void {
  for (
    let last = reported.at(-1);
    last !== undefined && last["attempt"] === attempt && ofATurn.includes(last.event);
    last = reported.at(-1)
  ) {
    reported.pop();
  }
}

function comparable(entry: Entry): unknown {
  const same = Object.fromEntries(
    kept.flatMap((name) => (entry[name] === undefined ? [] : [[name, entry[name]]])),
  );

  const {
    commit: _commit,
    session: _session,
    ...facts
  } = (entry["facts"] ?? {}) as Record<string, unknown>;

  const results =
    entry.event === "run_drafted"
      ? []
      : ((entry["checks"] ?? []) as readonly { check: { id: string }; status: string }[]);
  const checks = results.map(({ check, status }) => `${check.id} ${status}`);
  return { ...same, facts, checks };
}
