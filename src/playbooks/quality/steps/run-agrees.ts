// run-agrees: the last step of a quality run: BUGS.md must still have as many bugs as were counted,
// and warnings of the terminal gate become gaps in the run's verdict. What an audit says beyond its
// gates always is one.

import { optionValue } from "../../../core/selectors.ts";
import { gatesGap, joinGaps } from "../../../core/verdict.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { countBugHeadings } from "./count-in-documents.ts";
import { openQualityTree } from "./quality-tree.ts";
import { findGate } from "./terminal-gate.ts";

/** The step `run_agrees`. */
export function createRunAgreesStep(workspace: Pick<Workspace, "pathsAt" | "textAt">) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ state, commit }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const tree = await openQualityTree(workspace, commit);
      const bugCount = countBugHeadings(await tree.text("quality/BUGS.md"));
      const lastTally = state.cursors["6"]?.last["tally"]?.facts;
      const countedBugs = lastTally?.["bugs_md_count"];
      if (countedBugs !== bugCount) {
        const detail = `quality/BUGS.md has ${bugCount} bugs, and the last phase counted ${String(countedBugs ?? "none")}`;
        return { ok: false, facts: { bugs: bugCount }, reason: "proof_missing", detail };
      }

      const gate = findGate(state);
      // The core reports known placeholders as gaps itself.
      const isReportedAlready = (name: string): boolean =>
        name === "content" && Object.keys(state.hollow ?? {}).length > 0;
      const warnings = (gate?.checks ?? []).filter(
        ({ name, verdict }) => verdict === "warn" && !isReportedAlready(name),
      );
      const gaps = [gatesGap, ...warnings.map(({ name, reason }) => `${name}: ${reason}`)];
      const earlierVerdict = String(lastTally?.["gate_verdict"] ?? "unknown");

      if (optionValue(state, "earlier_verified") === true && gate === null) {
        gaps.push(
          `the terminal gate was judged by the tool that began this run (${earlierVerdict}), not here`,
        );
      }

      return {
        ok: true,
        facts: {
          bugs: bugCount,
          verdict: "verified_with_gaps",
          gaps: joinGaps(gaps),
        },
      };
    },
  };
}
