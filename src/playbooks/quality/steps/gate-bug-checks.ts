// gate-bug-checks: the terminal gate's checks of the confirmed bugs: their headings in BUGS.md, the
// files that each must have, and what trying their regression tests came to.

import type { GateCheck } from "../../../contracts/quality/quality-facts.ts";
import type { RunView } from "../../../core/state.ts";
import { countBugHeadings, findBugIds } from "./count-in-documents.ts";
import { failed, listNames, passed, skipped, warned } from "./gate-check.ts";
import type { QualityTree } from "./quality-tree.ts";

export const bugsPath = "quality/BUGS.md";

const headingsName = "bugs_heading";

export const unreadableBugsCheck: GateCheck = failed(
  headingsName,
  `${bugsPath} isn't a regular text file that can be read, so its bugs cannot be counted`,
);

/** The headings of BUGS.md have ids, each once, and the ids are those that agents handed back. */
export function checkHeadings(document: string | null, claimedIds: readonly string[]): GateCheck {
  const idsInFile = findBugIds(document);
  const headingsWithoutId = countBugHeadings(document) - idsInFile.length;
  if (headingsWithoutId > 0) {
    const headings = headingsWithoutId === 1 ? "heading" : "headings";
    return failed(
      headingsName,
      `BUGS.md has ${headingsWithoutId} ${headings} ### BUG- without an id of letters and digits, so no write-up, patch or log can be named after it`,
    );
  }

  const duplicates = idsInFile.filter((id, index) => idsInFile.indexOf(id) !== index);
  if (duplicates.length > 0) {
    return failed(headingsName, `BUGS.md has more than one heading for ${listNames(duplicates)}`);
  }

  return compareWithClaims(idsInFile, claimedIds);
}

function compareWithClaims(idsInFile: readonly string[], claimedIds: readonly string[]): GateCheck {
  if (claimedIds.length === 0 && idsInFile.length === 0) {
    return passed(headingsName, "no bug was named, and BUGS.md has none");
  }

  if (claimedIds.length === 0) {
    return skipped(headingsName, `no agent handed back its bugs; BUGS.md has ${idsInFile.length}`);
  }

  const missingIds = claimedIds.filter((id) => !idsInFile.includes(id));
  const unclaimedIds = idsInFile.filter((id) => !claimedIds.includes(id));
  const problems: string[] = [];
  if (missingIds.length > 0) {
    problems.push(`${listNames(missingIds)} handed back and not in BUGS.md`);
  }

  if (unclaimedIds.length > 0) {
    problems.push(`${listNames(unclaimedIds)} in BUGS.md and never handed back`);
  }

  if (problems.length > 0) return failed(headingsName, problems.join("; "));
  return passed(headingsName, `${idsInFile.length} bugs, in BUGS.md and as handed back`);
}

/** Every bug has a file, and the file says something. */
export async function checkFilePerBug(
  tree: QualityTree,
  name: string,
  bugs: readonly string[],
  pathOf: (id: string) => string,
): Promise<GateCheck> {
  if (bugs.length === 0) return skipped(name, "no confirmed bug");

  const missingPaths: string[] = [];
  for (const path of bugs.map(pathOf)) {
    if (!tree.has(path) || (await tree.text(path)) === "") missingPaths.push(path);
  }

  if (missingPaths.length > 0) {
    return failed(name, `missing or empty: ${listNames(missingPaths)}`);
  }

  return passed(name, `one for each of ${bugs.length} bugs`);
}

/**
 * What the runner found when it tried the regression tests in phase 5 (bugs-shown.ts).
 * `patchesHash` is the hash of the patches now.
 */
export function checkRegressionTests(
  state: RunView,
  bugs: readonly string[],
  patchesHash: string,
): GateCheck {
  const name = "regression_tests";
  if (bugs.length === 0) return skipped(name, "no confirmed bug");

  const facts = state.cursors["5"]?.last["do"]?.facts ?? {};
  const shownCount = facts["bugs_shown"];
  if (typeof shownCount !== "number") {
    const why = readText(facts["bugs_undecided"]) ?? "this run has not tried them";
    const bugsText = `${bugs.length} ${bugs.length === 1 ? "bug" : "bugs"}`;
    return warned(name, `nobody has seen the regression tests of ${bugsText} fail: ${why}`);
  }

  if (facts["patches"] !== patchesHash) {
    return warned(name, "bugs or patches were changed after the runner had tried them");
  }

  const untriedCount = facts["bugs_untried"];
  if (typeof untriedCount === "number" && untriedCount > 0) {
    return warned(
      name,
      `the runner saw ${shownCount} fail, and has not tried ${untriedCount} more`,
    );
  }

  const unexplained = readText(facts["bugs_unexplained"]) ?? "";
  if (unexplained !== "") {
    return warned(
      name,
      `the tests of ${unexplained} fail, and nobody has seen that it is because of the bug: they pass with no fix of the accused code, and with no answer of it`,
    );
  }

  const spelled = readText(facts["bugs_spelled"]) ?? "";
  if (spelled !== "") {
    return warned(
      name,
      `the fix names the very input that its test asks for, so nobody has seen it mend more than that: ${spelled}`,
    );
  }

  return passed(name, `the runner applied ${shownCount}, and each fails on the code as it is`);
}

const readText = (fact: unknown): string | null => (typeof fact === "string" ? fact : null);
