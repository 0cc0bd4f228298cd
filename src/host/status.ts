import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../contracts/answer.ts";
import { ownerOf } from "../journal/owner.ts";
import { findHome, namedRun, runFolder } from "./home.ts";
import type { Place } from "./place.ts";
import { readRun } from "./read-run.ts";
import { answered, reply } from "./reply.ts";
import { shelvedStatus } from "./status-shelf.ts";
import { statusTold } from "./status-told.ts";

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
export function status(place: Place, input: Input, { idle, beside }: StatusMore): Promise<Answer> {
  return answered(async () => {
    const home = findHome(place.cwd);
    const run = namedRun(home, input.run);
    if (home === null || run === null) return idle(home?.root ?? null);
    const folder = runFolder(home, run);
    const shelved = shelvedStatus(folder, ownerOf(folder));
    const { reason_code, state, page, data } = shelved ?? (await folded(home, run));
    const more = await beside(data["face"], home.root);
    return reply(reason_code, {
      result: "PASS",
      run_id: run,
      state,
      message: `${run} is ${state}.`,
      page: [...page, ...(more?.page ?? [])],
      data: { ...data, ...more?.data },
    });
  });
}

async function folded(home: NonNullable<ReturnType<typeof findHome>>, run: string) {
  const { view, owner } = await readRun(home, run);
  return statusTold(view, owner);
}

/** Whether `status` here is about a run, and nothing lies beside it that only the whole command line can read. */
export function isPlain(cwd: string, named: string | undefined): boolean {
  const home = findHome(cwd);
  if (home === null || existsSync(join(home.root, "_docs"))) return false;
  return named !== undefined || namedRun(home, undefined) !== null;
}
