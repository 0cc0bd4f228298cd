// Several terminals ask for different things at once: each is told what came of its own asking, not
// of another's.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { listOpenQuestions } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { isApplicable } from "../engine/record-requests.ts";
import { openJournal } from "../journal/file-journal.ts";
import { sendToRun } from "./send-to-run.ts";
import { runFolder, type ProjectPaths } from "../project/runs/project-paths.ts";
import type { CommandContext } from "../project/command-context.ts";
import { commandContext } from "../../test/support/command-context.ts";
import { readRun } from "../project/runs/read-run.ts";
import { bindRun } from "../project/runs/run-binding.ts";
import type { LoadedRun } from "../project/runs/loaded-run.ts";

const golden = "test/golden/journals/0.1.0-people/journal.jsonl";
const run = "run-2026-11-15-044340";
/** So many of its lines end with a question that waits: whether to merge. */
const linesAsking = 51;

const made: string[] = [];
afterEach(() =>
  made.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })),
);

function laid(): { readonly context: CommandContext; readonly paths: ProjectPaths } {
  const root = mkdtempSync(join(tmpdir(), "autopilot-ask-"));
  made.push(root);
  const home = { root, folder: join(root, ".autopilot") };
  execFileSync("git", ["init", "-q", root]);
  mkdirSync(runFolder(home, run), { recursive: true, mode: 0o700 });
  const text = readFileSync(golden, "utf8").split("\n").slice(0, linesAsking).join("\n");
  writeFileSync(join(runFolder(home, run), "journal.jsonl"), `${text}\n`);
  const env = { XDG_STATE_HOME: mkdtempSync(join(tmpdir(), "autopilot-state-")) };
  made.push(env.XDG_STATE_HOME);
  const { ack, isolation } = JSON.parse(text.split("\n")[0] ?? "") as {
    ack: string;
    isolation: string;
  };

  bindRun(env, home, runFolder(home, run), { run, ack, isolation });
  const context = commandContext({ cwd: root, env, user: "ada" });
  return { context, paths: home };
}

async function seen(paths: ProjectPaths): Promise<LoadedRun> {
  return { paths, run, ...(await readRun(paths, run)) };
}

const answering = (answer: string) =>
  ({ event: "block_answered", block: "block:after.land@1/approve#1", answer }) as const;
const isAnswered = ({ blocks }: RunView): boolean => Object.keys(blocks).length === 0;
const journalOf = (paths: ProjectPaths): string =>
  readFileSync(join(runFolder(paths, run), "journal.jsonl"), "utf8");

test("of two answers to one question the first counts, and the second is told that it does not", async () => {
  const { context, paths } = laid();
  const both = await seen(paths);
  expect(listOpenQuestions(both.view).map(({ block }) => block)).toEqual([answering("A").block]);
  expect(await sendToRun(context, both, answering("B"), isAnswered)).toMatchObject({
    outcome: "done",
  });

  expect(await sendToRun(context, both, answering("A"), isAnswered)).toMatchObject({
    outcome: "late",
  });

  expect(journalOf(paths).match(/"event":"block_answered"/g)).toHaveLength(1);
});

test("a limit that was raised further meanwhile is not lowered by a raise that knew less", async () => {
  const { context, paths } = laid();
  const both = await seen(paths);

  const raise = (to: number) =>
    sendToRun(
      context,
      both,
      { event: "limit_raised", scope: "run", dimension: "calls", to },
      () => true,
    );
  expect(await raise(5_000)).toMatchObject({ outcome: "done" });
  expect(await raise(1_000)).toMatchObject({ outcome: "late" });
  expect((await seen(paths)).view.limits.run["calls"]).toBe(5_000);
});

test("while another command has the run in hand for a moment, one waits for it rather than give up", async () => {
  const { context, paths } = laid();
  const before = await seen(paths);

  const { journal } = await openJournal(runFolder(paths, run), {
    commit: "sync",
    now: () => before.view.updatedAt,
    activeMs: () => 0,
  });

  const asked = sendToRun(context, before, answering("A"), isAnswered);
  setTimeout(() => void journal.close(), 100);
  expect(await asked).toMatchObject({ outcome: "done" });
});

test("a run that is over takes no answer and asks nobody", async () => {
  const { paths } = laid();
  const over = { ...(await seen(paths)).view, status: "stopped" } as const;
  expect(isApplicable(over, { ...answering("A"), request: "r", actor: "operator:ada" })).toBe(
    false,
  );

  expect(listOpenQuestions(over)).toEqual([]);
});
