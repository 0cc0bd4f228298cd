// gate-document-checks: the terminal gate's checks of the documents themselves: that they say
// something, were made in this run, and that nothing outside quality/ was changed.
// Invariants G1 and on: playbooks/quality/steps/terminal-gate.ts.

import type { GateCheck } from "../../../contracts/quality/quality-facts.ts";
import type { RunView } from "../../../core/state.ts";
import { isProgramText } from "../../../verify/protected/kinds.ts";
import { failed, listNames, passed, warned } from "./gate-check.ts";
import { findUnchangedPhases } from "./phase-artifacts.ts";
import type { QualityTree } from "./quality-tree.ts";

/** Shorter words of a path, such as `src` or `api`, occur in any text. */
const codeWordCharsMin = 4;

/**
 * G2: tests that name no code of the project test nothing of it. Only words are compared: a test
 * that names code and checks nothing passes.
 */
export async function checkFunctionalTests(
  tree: QualityTree,
  paths: readonly string[],
): Promise<GateCheck> {
  const name = "functional_tests";
  const nothingFound = passed(name, "functional tests name code of the project");
  const codePaths = paths.filter((path) => isProgramText(path) && !path.startsWith("quality/"));
  if (codePaths.length === 0) return nothingFound;

  const codeWords = findCodeWords(codePaths);
  for (const path of tree.matching(/^quality\/test_functional\.[^/]+$/)) {
    const text = ((await tree.text(path)) ?? "").toLowerCase();
    const namesCode = text.includes("../") || codeWords.some((word) => text.includes(word));
    if (!namesCode) {
      return warned(
        name,
        `${path} names no code of the project, so nothing shows that it tests any`,
      );
    }
  }

  return nothingFound;
}

/**
 * The folder and file names of code, without endings and without names that say nothing:
 * `lib/parser/index.js` has the word `parser`.
 */
function findCodeWords(codePaths: readonly string[]): readonly string[] {
  const pathParts = codePaths.flatMap((path) =>
    path
      .toLowerCase()
      .replace(/\.\w+$/, "")
      .split("/"),
  );

  const isTelling = (word: string): boolean =>
    word.length >= codeWordCharsMin && !/^(?:tests?|index|main)$/.test(word);
  return [...new Set(pathParts)].filter(isTelling);
}

/** G2: file names that do not follow the convention pass with a warning. */
export function checkAuditNames(tree: QualityTree): GateCheck {
  const name = "spec_audit_names";
  // quality/spec_audits/2026-triage.md, quality/spec_audits/2026-auditor-1.md
  const agreedName = /^quality\/spec_audits\/[^/]*(?:-triage|-auditor-[^/]*)\.md$/;
  if (tree.matching(agreedName).length > 0) {
    return passed(name, "triage and auditors are named as agreed");
  }

  return warned(
    name,
    "no file is named *-triage.md or *-auditor-*.md, so only their number was asked for",
  );
}

/** G2. `placeholders`: by file, why it counts as one. */
export function checkContent(placeholders: ReadonlyMap<string, string>): GateCheck {
  const name = "content";
  if (placeholders.size === 0) return passed(name, "no artifact is hollow");

  const files = [...placeholders].map(([file, why]) => `${file} (${why})`);
  return warned(name, `hollow: ${listNames(files)}`);
}

/**
 * G2: unchanged documents may prove a phase, but not that anybody inspected the code in this run.
 * Phase 6 has no documents of its own, and phase 5 writes about bugs alone.
 */
export function checkMadeHere(
  state: RunView,
  tree: QualityTree,
  {
    changedPaths,
    hasBugs,
  }: { readonly changedPaths: ReadonlySet<string>; readonly hasBugs: boolean },
): GateCheck {
  const name = "made_here";
  const unchangedPhases = findUnchangedPhases(state, tree.paths, changedPaths).filter(
    (phase) => phase !== "6" && (phase !== "5" || hasBugs),
  );
  if (unchangedPhases.length === 0) {
    return passed(name, "every phase left documents in this run");
  }

  const phases = `phase${unchangedPhases.length === 1 ? "" : "s"} ${unchangedPhases.join(", ")}`;
  return warned(
    name,
    `${phases}: this run changed none of the documents that are there, they are from before it`,
  );
}

export function checkSourceUnchanged(changedPaths: readonly string[]): GateCheck {
  const name = "source_unchanged";
  const sourcePaths = changedPaths.filter((path) => !path.startsWith("quality/"));
  if (sourcePaths.length === 0) {
    return passed(name, "nothing outside quality/ was changed since the run began");
  }

  return failed(name, `changed outside quality/: ${listNames(sourcePaths)}`);
}
