// roadmap-commit: the runner's pages of phases, committed once their run is over: they are the documentation of what was built.
//
// Invariants:
//   C1. Only pages of completed phases whose work landed.
//   C2. Only when the run has ended: a commit of ours on the user's branch would make a merge of every later landing.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../../../contracts/event.ts";
import type { GitSha } from "../../../contracts/ids.ts";
import type { RunView } from "../../../core/state.ts";
import { commitPages, type Pages } from "../../../workspace/landing/commit-pages.ts";
import { oneAtATime } from "../../../project/runs/one-at-a-time.ts";
import { readSettings } from "../../../project/config/settings.ts";
import type { PlaybookParts } from "../../contract/playbook.ts";
import { ownedInPhases, phaseFolder } from "../../../contracts/roadmap-places.ts";
import { isReachable, readBounded } from "../../contract/whole-file.ts";

const waitMs = 60_000;
const pageBytesMax = 50 * 1024 ** 2;
const subjectCharsMax = 72;

type Parts = Pick<PlaybookParts, "context" | "paths" | "root" | "entries"> & { readonly view: RunView };

/** Commits the pages of a run that has ended; nothing happens where that is not wanted or not possible. */
export async function commitEndedPages({ context, paths, root, entries, view }: Parts): Promise<void> {
  if (view.status !== "completed" && view.status !== "stopped") return; // C2
  const landed = landedPhases(view, entries());
  if (landed.size === 0) return;
  const settings = readSettings(context, paths.root);
  if (settings.kind === "invalid" || settings.config.roadmap?.commit_pages === false) return;
  const { run_id, base } = view.drafted;
  const subject = subjectOf([...landed.keys()]);
  const work = async (): Promise<unknown> =>
    commitPages({ root, runId: run_id, base, owned: ownedInPhases, pages: await readPages(root, landed), subject });
  await oneAtATime(paths, "landing", work, { waitMs });
}

/** C1: a landing brings all that was completed before it. */
export function landedPhases({ phases }: RunView, entries: Iterable<Entry>): ReadonlyMap<string, GitSha> {
  const completed = new Set(phases.filter(({ group, status }) => group === "phases" && status === "completed").map(({ id }) => id));
  const waiting = new Set<string>();
  const landed = new Map<string, GitSha>();
  for (const entry of entries) {
    if (entry.event === "phase_completed" && completed.has(entry.walk)) {
      landed.delete(entry.walk); // it was run again
      waiting.add(entry.walk);
    }
    const commit = entry.event === "step_completed" && entry.facts["landed"] === true ? entry.facts["commit"] : undefined;
    if (typeof commit !== "string") continue;
    for (const id of waiting) landed.set(id, commit);
    waiting.clear();
  }
  return landed;
}

async function readPages(root: string, landed: ReadonlyMap<string, GitSha>): Promise<readonly Pages[]> {
  const pages: Pages[] = [];
  for (const [id, commit] of landed) {
    const folder = phaseFolder(id);
    if (folder === null || !isReachable(root, `${folder}/page`)) continue;
    const files = new Map<string, Buffer>();
    for (const name of readdirSync(join(root, folder)).toSorted()) {
      const read = await readBounded(root, `${folder}/${name}`, pageBytesMax);
      if (read.kind === "read") files.set(`${folder}/${name}`, read.bytes);
    }
    pages.push({ folder, landed: commit, files });
  }
  return pages;
}

function subjectOf(ids: readonly string[]): string {
  const subject = `autopilot: pages of ${ids.length === 1 ? "phase" : "phases"} ${ids.join(", ")}`;
  return subject.length <= subjectCharsMax ? subject : `autopilot: pages of ${ids.length} phases`;
}
