// roadmap-commit: commits the runner's pages of phases when a run has ended: they document what was
// built.
//
// Invariants:
//   C1. Only pages of completed and landed phases are committed.
//   C2. Only after the run has ended: an earlier commit on the user's branch would turn every later
//       landing into a merge.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../../../contracts/event.ts";
import type { GitSha } from "../../../contracts/ids.ts";
import type { RunView } from "../../../core/state.ts";
import { commitPages, type Pages } from "../../../workspace/landing/commit-pages.ts";
import { runUnderLock } from "../../../project/runs/run-under-lock.ts";
import { readSettings } from "../../../project/config/settings.ts";
import type { PlaybookParts } from "../../contract/playbook.ts";
import { ownedInPhases, phaseFolder } from "../../../contracts/roadmap-places.ts";
import { isReachable, readBounded } from "../../contract/whole-file.ts";

/** Nobody waits for the pages, so this is shorter than a landing may wait. */
const landingWaitMaxMs = 60_000;
const pageBytesMax = 50 * 1024 ** 2;
const subjectCharsMax = 72;

type Parts = Pick<PlaybookParts, "context" | "paths" | "root" | "entries"> & {
  readonly view: RunView;
};

/**
 * Does nothing if the run has not ended, nothing has landed, or the config forbids it or cannot be
 * read. Throws if another run keeps landing.
 */
export async function commitPagesOfEndedRun({
  context,
  paths,
  root,
  entries,
  view,
}: Parts): Promise<void> {
  if (view.status !== "completed" && view.status !== "stopped") return; // C2
  const landedCommits = findLandedPhases(view, entries());
  if (landedCommits.size === 0) return;
  const settings = readSettings(context, paths.root);
  if (settings.kind === "invalid" || settings.config.roadmap?.commit_pages === false) return;
  const { run_id, base } = view.drafted;
  const subject = buildSubject([...landedCommits.keys()]);

  const commit = async (): Promise<true> => {
    await commitPages({
      root,
      runId: run_id,
      base,
      owned: ownedInPhases,
      pages: await readPages(root, landedCommits),
      subject,
    });

    return true;
  };
  const hasTried = await runUnderLock(paths, "landing", commit, { waitMs: landingWaitMaxMs });
  if (hasTried === null) {
    throw new Error(`another run's work is still landing here after ${landingWaitMaxMs / 1_000} s`);
  }
}

/**
 * C1: each landed phase with the commit of its landing. A landing includes all phases completed
 * before it.
 */
export function findLandedPhases(
  { phases }: RunView,
  entries: Iterable<Entry>,
): ReadonlyMap<string, GitSha> {
  const completed = new Set(
    phases
      .filter(({ group, status }) => group === "phases" && status === "completed")
      .map(({ id }) => id),
  );

  const unlanded = new Set<string>();
  const landedCommits = new Map<string, GitSha>();

  for (const entry of entries) {
    if (entry.event === "phase_completed" && completed.has(entry.walk)) {
      landedCommits.delete(entry.walk); // it was run again
      unlanded.add(entry.walk);
    }

    const commit =
      entry.event === "step_completed" && entry.facts["landed"] === true
        ? entry.facts["commit"]
        : undefined;
    if (typeof commit !== "string") continue;
    for (const id of unlanded) landedCommits.set(id, commit);
    unlanded.clear();
  }

  return landedCommits;
}

async function readPages(
  root: string,
  landedCommits: ReadonlyMap<string, GitSha>,
): Promise<readonly Pages[]> {
  const pages: Pages[] = [];
  for (const [id, commit] of landedCommits) {
    const folder = phaseFolder(id);
    if (folder === null || !isReachable(root, `${folder}/page`)) continue; // the folder is missing, or behind a link
    const files = new Map<string, Buffer>();

    for (const name of readdirSync(join(root, folder)).toSorted()) {
      const file = await readBounded(root, `${folder}/${name}`, pageBytesMax);
      if (file.kind === "read") files.set(`${folder}/${name}`, file.bytes);
    }

    pages.push({ folder, landed: commit, files });
  }

  return pages;
}

function buildSubject(ids: readonly string[]): string {
  const subject = `autopilot: pages of ${ids.length === 1 ? "phase" : "phases"} ${ids.join(", ")}`;
  return subject.length <= subjectCharsMax ? subject : `autopilot: pages of ${ids.length} phases`;
}
