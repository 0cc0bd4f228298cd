// pause-detail: why a run is paused, in more than its reason's own words: what was recorded, or for doubt the figures behind it.

import { reasons } from "../../contracts/reason.ts";
import type { RunView } from "../../core/state.ts";
import { figure } from "../wording.ts";

/** Paused for a question that has its answer by now: nothing is open, and only a resume is missing. */
export const isAnswered = ({ status, decided, blocks }: Pick<RunView, "status" | "decided" | "blocks">): boolean =>
  status === "paused" && decided === true && Object.keys(blocks).length === 0;

/** Null if the reason says it all. */
export function pauseDetail(run: RunView): string | null {
  if (isAnswered(run)) return null;
  if (run.detail !== null && run.detail !== "") return run.detail.replaceAll(/ \((?:outside_scope|outside_layer): /g, " ("); // the headline says it
  return run.reason === "confidence_drop_requires_handoff" ? describeCrash(run) : null;
}

/** How sure the agents were that were not sure enough, and how sure this run wants them to be. */
function describeCrash({ cursors, drafted: { options, objective } }: RunView): string | null {
  const floor = options["confidence_floor"];
  if (typeof floor !== "number") return null;
  const unsure = Object.values(cursors).flatMap(({ last }) =>
    Object.entries(last).flatMap(([step, { says }]) => {
      const confidence = says["confidence"];
      return typeof confidence === "number" && confidence < floor ? [`${step} ${figure(confidence)}`] : [];
    }),
  );
  if (unsure.length === 0) return null;
  const meaning = reasons.confidence_drop_requires_handoff.meaning.replace(/^Paused: /, "").replace(/\.$/, "");
  return `${meaning}: confidence of ${unsure.join(", ")}; risk level ${objective.risk_level} needs ${figure(floor)}`;
}
