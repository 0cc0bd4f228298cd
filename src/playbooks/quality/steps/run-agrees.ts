// run-agrees: final step: BUGS.md must match the last count, and gate warnings become gaps in the verdict.

import { optionValue } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { countBugHeadings } from "./count-documents.ts";
import { openQualityTree } from "./quality-tree.ts";
import { findGate } from "./terminal-gate.ts";

export function runAgrees(workspace: Pick<Workspace, "pathsAt" | "textAt">) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ state, commit }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const tree = await openQualityTree(workspace, commit);
      const bugCount = countBugHeadings(await tree.text("quality/BUGS.md"));
      const countedBefore = state.cursors["6"]?.last["tally"]?.facts["bugs_md_count"];
      if (countedBefore !== bugCount) {
        const detail = `quality/BUGS.md has ${bugCount} bugs, and the last phase counted ${String(countedBefore ?? "none")}`;
        return { ok: false, facts: { bugs: bugCount }, reason: "proof_missing", detail };
      }
      // Known placeholders are reported as gaps by the core.
      const isReportedAlready = (name: string): boolean => name === "content" && Object.keys(state.hollow ?? {}).length > 0;
      const warnings = (findGate(state)?.checks ?? []).filter(({ name, verdict }) => verdict === "warn" && !isReportedAlready(name));
      const gaps = warnings.map(({ name, reason }) => `${name}: ${reason.replaceAll(";", ",")}`);
      const judgedElsewhere = optionValue(state, "earlier_verified") === true && findGate(state) === null;
      const earlierVerdict = String(state.cursors["6"]?.last["tally"]?.facts["gate_verdict"] ?? "unknown");
      if (judgedElsewhere) gaps.push(`the terminal gate was judged by the tool that began this run (${earlierVerdict}), not here`);
      return { ok: true, facts: { bugs: bugCount, verdict: gaps.length === 0 ? "verified" : "verified_with_gaps", gaps: gaps.join("; ") } };
    },
  };
}
