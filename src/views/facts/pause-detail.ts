// pause-detail: says why a run is paused in more detail than its reason code: what was recorded, or
// the confidence that was too low.

import { reasons } from "../../contracts/reason.ts";
import type { RunView } from "../../core/state.ts";
import { formatNumber } from "../wording.ts";

/**
 * Whether the question that the run is paused for has been answered, so that only a resume is
 * missing.
 */
export const isAnswered = ({
  status,
  decided,
  blocks,
}: Pick<RunView, "status" | "decided" | "blocks">): boolean =>
  status === "paused" && decided === true && Object.keys(blocks).length === 0;

/** The detail; null if the reason's own sentence is enough. */
export function pauseDetail(run: RunView): string | null {
  if (isAnswered(run)) return null;
  // The headline names the kind already: `a.ts (outside_scope: not in src)` becomes `a.ts (not in
  // src)`.
  if (run.detail !== null && run.detail !== "") {
    return run.detail.replaceAll(/ \((?:outside_scope|outside_layer): /g, " (");
  }

  return run.reason === "confidence_drop_requires_handoff" ? describeLowConfidence(run) : null;
}

/** The steps whose agents were not sure enough, and the confidence that this run needs. */
function describeLowConfidence({
  cursors,
  drafted: { options, objective },
}: RunView): string | null {
  const floor = options["confidence_floor"];
  if (typeof floor !== "number") return null;

  const unsure = Object.values(cursors).flatMap(({ last }) =>
    Object.entries(last).flatMap(([step, { says }]) => {
      const confidence = says["confidence"];
      return typeof confidence === "number" && confidence < floor
        ? [`${step} ${formatNumber(confidence)}`]
        : [];
    }),
  );
  if (unsure.length === 0) return null;
  const meaning = reasons.confidence_drop_requires_handoff.meaning
    .replace(/^Paused: /, "")
    .replace(/\.$/, "");

  return `${meaning}: confidence of ${unsure.join(", ")}; risk level ${objective.risk_level} needs ${formatNumber(floor)}`;
}
