// loaded-run: loads the run a command is about, and refuses commands its state does not allow.

import type { ReasonCode } from "../../contracts/reason.ts";
import { isReasonCode } from "../../contracts/reason.ts";
import type { RunView } from "../../core/state.ts";
import { type ProjectPaths, findProject, resolveRun } from "./project-paths.ts";
import { findOtherOpenRun } from "./find-other-open-run.ts";
import type { CommandContext } from "../command-context.ts";
import { readRun } from "./read-run.ts";
import { refuse } from "../respond.ts";
import { isOwnRun } from "./run-binding.ts";

/** An existing run, and its state. */
export type LoadedRun = {
  readonly paths: ProjectPaths;
  readonly run: string;
  readonly view: RunView;
  readonly owner: { readonly pid: number } | null;
};

/** The run a command is about; refused with `run_missing` if there is none. */
export async function loadRun(
  context: CommandContext,
  run: string | undefined,
): Promise<LoadedRun> {
  const paths = findProject(context.cwd);
  const id = resolveRun(paths, run);
  if (paths === null || id === null) {
    return refuse("run_missing", {
      message: "No run here.",
      state: "idle",
      remediation: ['autopilot "what you want done" begins one'],
    });
  }

  const isNamed = run !== undefined;
  const otherRun =
    isNamed || isOwnRun(context, paths, id) ? null : await findOtherOpenRun(context, paths, id);
  if (otherRun !== null) return otherRun;
  const loaded = { paths, run: id, ...(await readRun(paths, id)) };
  if (isNamed || loaded.view.status !== "draft") return loaded;

  return (await findOtherOpenRun(context, paths, id)) ?? loaded;
}

/** Refuses what the run's state does not allow, and names the states that would. */
export function requireStatus(
  loaded: LoadedRun,
  verb: string,
  ...allowed: readonly string[]
): void {
  const { view, run } = loaded;
  if (allowed.includes(view.status)) return;
  refuse("invalid_state_transition", {
    run_id: run,
    state: view.status,
    message: `${run} is ${view.status}; ${verb} is possible only from ${allowed.join(" or ")}.`,
    ...(verb === "resume" && view.status === "stopped"
      ? {
          remediation: [
            `autopilot fork ${run} (a new run that goes on from its last finished step)`,
            `autopilot report --run ${run}`,
          ],
        }
      : {}),
    data: { allowed_from: allowed },
  });
}

/**
 * A recorded reason if it is a code of our table, else `fallback`: a flow may use codes of its own.
 */
export function toReasonCode(reason: string | null, fallback: ReasonCode): ReasonCode {
  return reason !== null && isReasonCode(reason) ? reason : fallback;
}
