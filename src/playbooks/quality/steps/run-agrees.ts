// run-agrees: final step: BUGS.md must match the last count, and gate warnings become gaps in the verdict.

import { runOption } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { countBugHeadings } from "./counted-in.ts";
import { openQualityTree } from "./quality-tree.ts";
import { findGate } from "./terminal-gate.ts";

/** Before a run ends well: BUGS.md has as many bugs as the last phase counted. What the gate only warned of leaves a gap in the verdict. */
export function runAgrees(workspace: Pick<Workspace, "pathsAt" | "textAt">) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ state, commit }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const tree = await openQualityTree(workspace, commit);
      const now = countBugHeadings(await tree.text("quality/BUGS.md"));
      const counted = state.cursors["6"]?.last["tally"]?.facts["bugs_md_count"];
      if (counted !== now) {
        const detail = `quality/BUGS.md has ${now} bugs, and the last phase counted ${String(counted ?? "none")}`;
        return { ok: false, facts: { bugs: now }, reason: "proof_missing", detail };
      }
      // The core itself reports known placeholders.
      const isReportedAlready = (name: string): boolean => name === "content" && Object.keys(state.hollow ?? {}).length > 0;
      const warned = (findGate(state)?.checks ?? []).filter(({ name, verdict }) => verdict === "warn" && !isReportedAlready(name));
      const gaps = warned.map(({ name, reason }) => `${name}: ${reason.replaceAll(";", ",")}`);
      const isTaken = runOption(state, "earlier_verified") === true && findGate(state) === null;
      const text = String(state.cursors["6"]?.last["tally"]?.facts["gate_verdict"] ?? "unknown");
      if (isTaken) gaps.push(`the terminal gate was judged by the tool that began this run (${text}), not here`);
      return { ok: true, facts: { bugs: now, verdict: gaps.length === 0 ? "verified" : "verified_with_gaps", gaps: gaps.join("; ") } };
    },
  };
}
