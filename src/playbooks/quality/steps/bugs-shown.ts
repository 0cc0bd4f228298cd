// bugs-shown: proof that runs the regression tests of confirmed bugs on the unchanged code: each
// must fail there.
//
// Invariants:
//   B1. A bug is shown if the project's tests pass without its test patch and fail with it. Logs
//       written by agents do not count.
//   B2. The new test must be what fails: no fewer tests pass with the patch than without it, if the
//       tests can be counted.
//   B3. If there is a fix, the tests pass with both patches, and more of them than without; and
//       neither patch changes what the other is judged by (accused-code.ts).
//   B4. If the project has no tests that run, or they fail already, the proof is undecided and says
//       so.
//   B5. Without a fix, or with one that passes without what it changes in the accused code, the
//       test must pass once the accused code answers what it expects. Otherwise nobody has seen
//       that it fails because of the bug, and that is reported.
//   B6. A test is not red because of the bug if it loads a file that only its fix adds, or does not
//       run until a fix that only adds files.
//   B7. A red test shows that the code does something else than the audit expects, not that the
//       audit is right. The project's own tests pass, so that is a gap.

import type { Check, CheckResult } from "../../../contracts/evidence.ts";
import { listSome } from "../../../kit/list-some.ts";
import type { FunctionResult } from "../../../ports/functions.ts";
import { selectTestChecks } from "../../../verify/detect/select-test-checks.ts";
import { buildCheck, hashPatches, testPatchPath } from "./regression-test-trials.ts";
import { findBugIds } from "./count-in-documents.ts";
import { openQualityTree } from "./quality-tree.ts";
import { type BugParts, type BugStepInput, type JudgedBug, judgeBug } from "./judge-bug.ts";

/**
 * Each bug costs at least one run of the project's tests. Others are counted as untried, which the
 * terminal gate warns about.
 */
const bugsTriedMax = 20;

/** The proof `bugs_shown`. */
export const createBugsShownProof = (parts: BugParts) => ({
  version: 1,
  prove: async (input: BugStepInput): Promise<FunctionResult> => {
    const tree = await openQualityTree(parts.workspace, input.commit);
    const bugIds = [...new Set(findBugIds(await tree.text("quality/BUGS.md")))];
    const bugsWithTest = bugIds.filter((id) => tree.has(testPatchPath(id)));
    if (bugsWithTest.length === 0) return { ok: true, facts: {} };

    const projectChecks = input.state.drafted.checks.filter(({ kind }) => kind === "project");
    const [testCheck] = selectTestChecks(projectChecks);
    if (testCheck === undefined) return undecided("no test command of this project is known"); // B4

    const runChecks = createCheckRunner(parts, input);
    const [unpatched] = await runChecks([
      buildCheck("tests", "the tests, as they are", testCheck.command),
    ]);
    if (unpatched?.status !== "passed") {
      return undecided(`the tests do not pass without any patch: ${testCheck.command}`); // B4
    }

    const trials: JudgedBug[] = [];
    for (const id of bugsWithTest.slice(0, bugsTriedMax)) {
      trials.push(await judgeBug(parts, input, { tree, id, testCheck, unpatched, runChecks }));
    }

    const untriedCount = bugsWithTest.length - trials.length;
    const patches = await hashPatches(tree, bugIds);
    return summarizeTrials(trials, unpatched, { bugs_untried: untriedCount, patches });
  },
});

/** Runs checks on the commit of this step, and returns the results of the audit's own. */
function createCheckRunner({ verifier }: BugParts, input: BugStepInput) {
  const { attempt, commit, cancel, onLiveEvent } = input;
  return async (checks: readonly Check[]): Promise<readonly CheckResult[]> => {
    const results = await verifier.check({ attempt, checks, commit, cancel, onLiveEvent });
    return results.filter(({ check }) => check.kind === "proof");
  };
}

function summarizeTrials(
  trials: readonly JudgedBug[],
  unpatched: CheckResult,
  otherFacts: { readonly bugs_untried: number; readonly patches: string },
): FunctionResult {
  const unshown = trials.filter(({ whyUnshown }) => whyUnshown !== null);
  const unexplained = trials.filter(({ isExplained }) => !isExplained); // B5

  const facts = {
    bugs_tried: trials.length,
    bugs_shown: trials.length - unshown.length,
    bugs_untried: otherFacts.bugs_untried,
    bugs_unexplained: unexplained.map(({ id }) => id).join(", "),
    bugs_spelled: trials.flatMap(({ spelled }) => spelled ?? []).join(", "),
    patches: otherFacts.patches,
  };

  const shown = trials.filter(({ whyUnshown }) => whyUnshown === null);
  const ids = listSome(shown.map(({ id }) => id));
  const gap = `all pass, and only the audit's own say what is wrong (${ids}): read what they expect`;
  const judged = shown.length === 0 ? unpatched : { ...unpatched, gap }; // B7

  const detail = unshown.map(({ id, whyUnshown }) => `${id}: ${whyUnshown}`).join("; ");
  return {
    ok: unshown.length === 0,
    facts,
    checks: [judged, ...trials.flatMap(({ results }) => results)],
    ...(detail === "" ? {} : { detail }),
  };
}

const undecided = (why: string): FunctionResult => ({ ok: true, facts: { bugs_undecided: why } });
