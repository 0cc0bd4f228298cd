// open-runs: one open run per flow family and repository. Whoever starts a run looks and starts under one lock, so that two never both do.

import { isOpen } from "../../core/selectors.ts";
import { type ProjectPaths, listRuns } from "./project-paths.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import type { CommandContext } from "../command-context.ts";
import { readRunOrNull } from "./read-run.ts";
import { refuse } from "../reply.ts";
import { isOurs } from "./run-binding.ts";

const waitMs = 10_000;

/** Does something while no other process starts a run in this repository. */
export async function whileNoOtherStarts<Value>(paths: ProjectPaths, work: () => Promise<Value>): Promise<Value> {
  const done = await oneAtATime(paths, "starting", async () => ({ value: await work() }), { waitMs });
  if (done !== null) return done.value;
  return refuse("run_locked", { message: `Another process has been starting a run here for ${waitMs / 1_000} s.` });
}

type Family = { readonly flow: string; readonly face?: string | undefined };

/** Flows that show themselves in the same files are of one family: only one run of it can be open. */
const familyOf = ({ flow, face }: Family): string => (face === undefined ? `flow ${flow}` : `face ${face}`);

/** Refuses where another run of this family is still open here. A run whose journal cannot be read is left alone. */
export async function refuseSecondRun(
  place: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  flow: Family,
  { self, isNew }: { self: string | null; isNew: boolean },
): Promise<void> {
  const maySecond = flow.face === undefined; // two runs cannot share one set of files
  if (isNew && maySecond) return;
  for (const run of listRuns(paths).toReversed()) {
    if (run === self || !isOurs(place, paths, run)) continue; // somebody else's is in nobody's way
    const view = (await readRunOrNull(paths, run))?.view ?? null;
    if (view === null || !isOpen(view) || familyOf(view.drafted.flow) !== familyOf(flow)) continue;
    refuse("run_open", {
      run_id: run,
      state: view.status,
      message: `${run} is still ${view.status}: "${view.drafted.objective.goal}".`,
      remediation: [
        "autopilot resume goes on with it",
        "autopilot stop ends it",
        ...(maySecond ? ["--new begins a second run beside it"] : []),
      ],
    });
  }
}
