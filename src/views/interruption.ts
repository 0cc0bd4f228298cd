// interruption: recognises a run that says `running` while no process works on it, and says what is
// kept and what starts over when it is resumed.

import type { OpenAttempt, RunView } from "../core/state.ts";
import type { Owner } from "./next-actions.ts";
import { describeAttempt } from "./wording.ts";

export type Interruption = {
  /** The time of the journal's last line. */
  readonly at: string;
  /** Attempts that were running, and whether each starts over. */
  readonly open: readonly {
    readonly attempt: string;
    readonly starts_over: boolean;
    readonly what: string;
  }[];
};

/** Null if a process works on the run, or if it came to rest by itself. */
export function findInterruption(run: RunView, owner: Owner): Interruption | null {
  if (run.status !== "running" || owner !== null || run.resting !== null || run.opening === 0) {
    return null;
  }

  const open = Object.values(run.open)
    .filter(({ stage }) => stage !== "walking") // its tasks are reported by themselves
    .map(({ attempt, kind, stage }) => ({
      attempt,
      ...resumeFate(kind, stage, run.drafted.run_id),
    }));

  return { at: run.updatedAt, open };
}

type Fate = { readonly starts_over: boolean; readonly what: string };

function resumeFate(kind: OpenAttempt["kind"], stage: OpenAttempt["stage"], run: string): Fate {
  if (kind === "flow") {
    return { starts_over: false, what: "the run it called resumes where it was" };
  }

  if (kind !== "agent") return { starts_over: true, what: "runs again" };
  if (stage === "turned") {
    return { starts_over: false, what: "its turn is paid and kept; its changes are applied next" };
  }

  if (stage === "applied") {
    return { starts_over: false, what: "its commit is kept; only its checks run again" };
  }

  return {
    starts_over: true,
    what: `its unfinished changes are saved as a patch in .autopilot/runs/${run}/aside, and the turn starts over`,
  };
}

/** `autopilot ended in execute #2 (phase 1) (16:45 UTC)` */
export function describeInterruption({ at, open }: Interruption): string {
  const place =
    open.length === 0 ? "between two steps" : `in ${describeAttempt(open[0]?.attempt ?? "")}`;
  return `autopilot ended ${place} (${at.slice(11, 16)} UTC)`;
}

export const listInterruptionRows = ({
  open,
}: Interruption): readonly (readonly [string, string])[] =>
  open.map(({ attempt, what }) => ["Resumes", `${describeAttempt(attempt)}: ${what}`] as const);
