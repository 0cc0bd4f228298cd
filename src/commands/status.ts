// status: shows the state of a run from its journal; reads only and executes nothing.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../contracts/answer.ts";
import { ownerOf } from "../journal/owner.ts";
import { findProject, type ProjectPaths, namedRun, runFolder } from "../project/runs/project-paths.ts";
import { openInstead } from "../project/runs/open-instead.ts";
import type { CommandContext } from "../project/command-context.ts";
import { readRun } from "../project/runs/read-run.ts";
import { answered, reply, screenRows } from "../project/reply.ts";
import { isOurs } from "../project/runs/run-binding.ts";
import { cachedStatus, type StatusSummary } from "../runner/status-cache.ts";
import { statusSummary } from "../runner/status-summary.ts";

type Input = { readonly run?: string | undefined };

/** What only the whole command line brings: the answer where there is no run at all, and what a face's own files say besides. */
export type StatusMore = {
  readonly idle: (root: string | null) => Promise<Answer>;
  readonly beside: (
    face: unknown,
    root: string,
  ) => Promise<{ readonly page: readonly string[]; readonly data: Readonly<Record<string, unknown>> } | null>;
};

/** Where a run stands. Reads only; nothing is executed to find out. */
export function status(place: CommandContext, input: Input, { idle, beside }: StatusMore): Promise<Answer> {
  return answered(async () => {
    const home = findProject(place.cwd);
    const named = namedRun(home, input.run);
    if (home === null || named === null) return idle(home?.root ?? null);
    const { run, summary: reported, draft } = await shownInstead(place, home, named, input.run !== undefined);
    const { reason_code, state, page, whole, data } = reported;
    const more = await beside(data["face"], home.root);
    return reply(reason_code, {
      result: "PASS",
      run_id: run,
      state,
      message: `${run} is ${reason_code === "run_interrupted" ? "interrupted" : state}.`,
      page: [...page, ...(more?.page ?? [])],
      whole: [...whole, ...(more?.page ?? [])],
      rowsMax: screenRows,
      warnings: draft === null ? [] : [`The draft ${draft} waits too: autopilot status --run ${draft} shows it.`],
      data: { ...data, ...more?.data, foreign: false },
    });
  });
}

/** What is shown where no run is named: neither a draft nor somebody else's run hides one of the user's own that is open. */
async function shownInstead(
  place: CommandContext,
  home: ProjectPaths,
  named: string,
  isNamed: boolean,
): Promise<{ readonly run: string; readonly summary: StatusSummary; readonly draft: string | null }> {
  const isForeign = !isNamed && !isOurs(place, home, named);
  const reported = isForeign ? null : await reportedOf(home, named);
  if (reported !== null && (isNamed || reported.state !== "draft")) return { run: named, summary: reported, draft: null };
  const open = await openInstead(place, home, named);
  if (open === null) return { run: named, summary: reported ?? (await reportedOf(home, named)), draft: null };
  return { run: open.run, summary: statusSummary(open.view, open.owner), draft: isForeign ? null : named };
}

async function reportedOf(home: ProjectPaths, run: string): Promise<StatusSummary> {
  const folder = runFolder(home, run);
  return cachedStatus(folder, ownerOf(folder)) ?? folded(home, run);
}

async function folded(home: ProjectPaths, run: string): Promise<StatusSummary> {
  const { view, owner } = await readRun(home, run);
  return statusSummary(view, owner);
}

/** Whether `status` here is about a run, and nothing lies beside it that only the whole command line can read. */
export function isPlain(cwd: string, named: string | undefined): boolean {
  const home = findProject(cwd);
  if (home === null || existsSync(join(home.root, "_docs"))) return false;
  return named !== undefined || namedRun(home, undefined) !== null;
}
