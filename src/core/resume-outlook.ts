// resume-outlook: predicts what a resume would do, by deciding on a copy of the state. Nothing is
// executed or recorded.

import type { Draft } from "../contracts/event.ts";
import { decide } from "./decide.ts";
import { openFold } from "./fold.ts";
import type { Run, RunView, ShortLimit } from "./state.ts";

/** More decisions without an action or a pause than any run takes; then it is not said to pause. */
const decisionsMax = 10_000;

/**
 * Whether a paused run, resumed now after these raises, would pause again before doing anything.
 */
export function wouldPauseAgain(
  run: RunView,
  raises: readonly Pick<ShortLimit, "scope" | "dimension" | "to">[] = [],
): boolean {
  const fold = openFold(run as Run); // folds on a copy
  const apply = (event: Draft): void => {
    const { seq, updatedAt, activeMs } = fold.state as Run;
    const envelope = {
      seq: seq + 1,
      epoch: 0,
      ts: updatedAt,
      active_ms: activeMs,
      prev: "",
      crc: "",
    };

    fold.apply({ actor: "system", reason_code: "ok", ...event, ...envelope });
  };

  for (const [at, { scope, dimension, to }] of raises.entries()) {
    apply({ event: "limit_raised", request: `outlook:${run.seq}:${at}`, scope, dimension, to });
  }

  apply({
    event: "run_resumed",
    request: `outlook:${run.seq}`,
    from_state: "paused",
    to_state: "running",
  });

  const isolation = { level: "", mechanism: "", enforced: [], not_enforced: [] };
  apply({
    event: "run_opened",
    opening: run.opening + 1,
    owner: { pid: 0, host: "" },
    product: "",
    isolation,
  });

  for (let n = 0; n < decisionsMax; n++) {
    const next = decide(fold.state);
    if (next.do === "survey") {
      apply({ event: "artifacts_surveyed", gone: [], proved: [...run.proved] });
    } else if (next.do !== "record") {
      return false;
    } else if (next.event.event === "run_paused") {
      return true;
    } else if (next.event.event === "run_stopped" || next.event.event === "run_completed") {
      return false;
    } else {
      apply(next.event);
    }
  }

  return false;
}
