// table: the table of questions about a passing check, each with the checks it is asked of, what it
// costs, and the gap it may leave in the verdict; and how they are asked.
//
// Invariants:
//   Q1. A question that the change does not raise costs nothing.
//   Q2. Questions whose good answer is a pass share one run if they change different files: a pass
//       answers all of them. If it fails, each is asked alone.

import { findLostCallers } from "../callers/lost-callers.ts";
import { findOutsideGap } from "../without-runner/ask-outside.ts";
import type { QuestionContext, RaisedQuestion } from "./question-context.ts";
import { findAnswersBesideInputs } from "../authorship/answers-beside-inputs.ts";
import { findUnrelatedTests } from "../new-tests/unrelated-tests.ts";
import { findRecordedSnapshots } from "./recorded-snapshots.ts";
import { askExamplesAsBefore } from "./examples-as-before.ts";
import { findShadows } from "./shadowing.ts";
import { findLookAtCode, findPlannedLook } from "./looks-only.ts";
import { findProgramOnlyFiles } from "./main-program-only.ts";
import { findSkippedTests } from "../new-tests/skipped-tests.ts";
import { findSelfWrittenTests } from "../authorship/self-written.ts";
import { findBuildDependence } from "../other-build/build-dependence.ts";
import { askNonCodeFiles } from "./non-code-files.ts";
import { askExpectedSources, findUnaskedReferences } from "./expected-values.ts";
import { askManifestSettings } from "./manifest-settings.ts";
import { askTestConfiguration } from "../set-up/ask-set-up.ts";
import { findTagDependence } from "../other-build/build-tags.ts";
import { findWorldDependence } from "../other-world/find-world-dependence.ts";
import { findKindsOnly } from "./altered-answers.ts";
import { findUncomparedParts } from "./compared-parts.ts";
import { findDivergedCopies } from "./diverged-copies.ts";
import { findDanglingCitations } from "./dangling-citations.ts";
import { findDisplacedFiles } from "./displaced-files.ts";
import { makeFilesAgain } from "../generated-files/generated-files.ts";
import { findAnswersInGoldenFiles } from "./golden-files.ts";
import { findWrongExamples } from "../documents/wrong-examples.ts";
import { findAnswersInExamples } from "./document-examples.ts";
import { findDroppedEntries } from "./dropped-entries.ts";
import { findEarlyGoEnd } from "./go-last-test.ts";
import { askSuppressedFindings } from "./suppressed-findings.ts";
import { findUnprintedOutput } from "./quoted-output.ts";
import { findUnnoticedStatements } from "../documents/unnoticed-statements.ts";
import { findUntouchedSubjects } from "./untouched-subject.ts";
import { findUnrunFunctions } from "./unrun-functions.ts";
import { findUnrunTests } from "../new-tests/unrun-tests.ts";
import { askDeclarations, askUntypedCode } from "./untyped-code.ts";
import { askComparersAsBefore } from "./restore-definitions.ts";
import { askPrintedValues } from "./printed-values.ts";
import { findReplacedFunctions } from "./replaced-functions.ts";
import { askNumberTypes } from "./foreign-equality.ts";
import { findOwnCommands } from "./own-commands.ts";
import { findUncoveredBranches } from "../branches/uncovered-branches.ts";
import { findUnanswered } from "./shared-runs.ts";
import { askOwnRandom } from "./own-random.ts";

type Row = {
  /** What is shown while it is asked. */
  readonly name: string;
  readonly appliesTo:
    | "criteria"
    | "first criterion"
    | "checks with tests"
    | "criteria with tests"
    | "all";
};
export type MustPass = Row & {
  readonly raise: (context: QuestionContext) => Promise<RaisedQuestion | null>;
};
export type Question = Row & {
  readonly costs: "nothing" | "a run" | "a program";
  readonly gap: (context: QuestionContext) => Promise<string | null>;
};

/** One run each, or one for several (Q2). */
const mustPass: readonly MustPass[] = [
  { name: "does it rest on files beside the code?", appliesTo: "all", raise: askNonCodeFiles },
  {
    name: "does it rest on settings of the package?",
    appliesTo: "all",
    raise: askManifestSettings,
  },
  {
    name: "does it rest on what sets up its tests?",
    appliesTo: "all",
    raise: askTestConfiguration,
  },
  {
    name: "does it rest on changed expected values?",
    appliesTo: "checks with tests",
    raise: askExpectedSources,
  },
  { name: "does it rest on a changed comparison?", appliesTo: "all", raise: askComparersAsBefore },
  {
    name: "does it rest on chance it shares with its tests?",
    appliesTo: "all",
    raise: askOwnRandom,
  },
  { name: "does it rest on an equality of its own?", appliesTo: "all", raise: askNumberTypes },
  {
    name: "are its answers what they are equal to?",
    appliesTo: "checks with tests",
    raise: askPrintedValues,
  },
  { name: "does it rest on code without types?", appliesTo: "criteria", raise: askUntypedCode },
  {
    name: "does it rest on what checkers may not see?",
    appliesTo: "criteria",
    raise: askSuppressedFindings,
  },
  {
    name: "does it rest on declarations of its own?",
    appliesTo: "criteria",
    raise: askDeclarations,
  },
  { name: "do examples pass as they were?", appliesTo: "criteria", raise: askExamplesAsBefore },
];
const questions: readonly Question[] = [
  {
    name: "do tests ask their references?",
    appliesTo: "checks with tests",
    costs: "a run",
    gap: findUnaskedReferences,
  },
  {
    name: "does it answer the same without its test runner?",
    appliesTo: "criteria",
    costs: "a program",
    gap: findOutsideGap,
  },
  {
    name: "do its tests compare all they expect?",
    appliesTo: "criteria with tests",
    costs: "a run",
    gap: findUncomparedParts,
  },
  {
    name: "do its tests still ask all they asked?",
    appliesTo: "criteria",
    costs: "a run",
    gap: findDroppedEntries,
  },
  {
    name: "do Go's tests come to their end?",
    appliesTo: "all",
    costs: "a run",
    gap: findEarlyGoEnd,
  },
  {
    name: "do new files take the place of others?",
    appliesTo: "all",
    costs: "a program",
    gap: findShadows,
  },
  {
    name: "do new files take the place of older ones?",
    appliesTo: "all",
    costs: "a run",
    gap: findDisplacedFiles,
  },
  {
    name: "do new functions take the place of others?",
    appliesTo: "all",
    costs: "a program",
    gap: findReplacedFunctions,
  },
  { name: "does its command only look?", appliesTo: "all", costs: "nothing", gap: findPlannedLook },
  {
    name: "does it pass in another build?",
    appliesTo: "criteria",
    costs: "a run",
    gap: findBuildDependence,
  },
  {
    name: "does it pass in the build of others?",
    appliesTo: "criteria",
    costs: "a run",
    gap: findTagDependence,
  },
  {
    name: "does it pass in another world?",
    appliesTo: "criteria",
    costs: "a run",
    gap: findWorldDependence,
  },
  {
    name: "who wrote its snapshots?",
    appliesTo: "criteria with tests",
    costs: "a run",
    gap: findRecordedSnapshots,
  },
  {
    name: "does it read what its tests compare with?",
    appliesTo: "criteria",
    costs: "a run",
    gap: findAnswersInGoldenFiles,
  },
  {
    name: "does it read the examples it is asked for?",
    appliesTo: "criteria",
    costs: "a run",
    gap: findAnswersInExamples,
  },
  {
    name: "who wrote what it goes by?",
    appliesTo: "criteria",
    costs: "nothing",
    gap: findOwnCommands,
  },
  {
    name: "do its documents cite what is there?",
    appliesTo: "first criterion",
    costs: "nothing",
    gap: findDanglingCitations,
  },
  {
    name: "do its documents quote what is printed?",
    appliesTo: "first criterion",
    costs: "a run",
    gap: findUnprintedOutput,
  },
  {
    name: "do its documents say what is answered?",
    appliesTo: "first criterion",
    costs: "a program",
    gap: findWrongExamples,
  },
  {
    name: "does a check notice what its documents say?",
    appliesTo: "first criterion",
    costs: "a run",
    gap: findUnnoticedStatements,
  },
  {
    name: "does it touch what its goal is about?",
    appliesTo: "first criterion",
    costs: "nothing",
    gap: findUntouchedSubjects,
  },
  {
    name: "are copies still the same?",
    appliesTo: "first criterion",
    costs: "nothing",
    gap: findDivergedCopies,
  },
  {
    name: "does the project still call it rightly?",
    appliesTo: "first criterion",
    costs: "nothing",
    gap: findLostCallers,
  },
  { name: "are new tests skipped?", appliesTo: "all", costs: "nothing", gap: findSkippedTests },
  { name: "are all new tests run?", appliesTo: "criteria", costs: "a run", gap: findUnrunTests },
  {
    name: "do new tests look at more than kinds?",
    appliesTo: "all",
    costs: "a run",
    gap: findKindsOnly,
  },
  {
    name: "do new tests ask the work?",
    appliesTo: "criteria",
    costs: "nothing",
    gap: findUnrelatedTests,
  },
  {
    name: "are answers written in the code?",
    appliesTo: "criteria",
    costs: "nothing",
    gap: findAnswersBesideInputs,
  },
  {
    name: "are all new branches covered?",
    appliesTo: "all",
    costs: "a run",
    gap: findUncoveredBranches,
  },
  {
    name: "who wrote its tests?",
    appliesTo: "criteria",
    costs: "nothing",
    gap: findSelfWrittenTests,
  },
];
/** Its answer is more than a gap: files that were made again need nobody's review. */
const generatedFiles: Row = {
  name: "are its generated files what is generated?",
  appliesTo: "first criterion",
};
/** What they find is a gap only if no other check shows the work (compare-checks.ts). */
const openQuestions: readonly Question[] = [
  {
    name: "does its command only look at code?",
    appliesTo: "all",
    costs: "nothing",
    gap: findLookAtCode,
  },
  {
    name: "does it run the new functions?",
    appliesTo: "criteria",
    costs: "a run",
    gap: findUnrunFunctions,
  },
];

type Answers = {
  /** What a person has to review, as text. */
  readonly gaps: readonly string[];
  /** The same, unless another check shows the work. */
  readonly open: readonly string[];
  /**
   * Of the files that newly read the command line those that are loaded only as programs; null if
   * there is none.
   */
  readonly programs: readonly string[] | null;
  /** Generated files that came out the same when they were made again. */
  readonly madeAgain: readonly string[];
};

export async function askAll(context: QuestionContext): Promise<Answers> {
  const { check, lab, announce, runWith, isFirst } = context;
  const ran = lab.now.tests?.ran ?? 0;
  const isAsked = ({ appliesTo: scope }: Row): boolean =>
    (!scope.includes("criteri") || check.kind === "criterion") &&
    (!scope.endsWith("tests") || ran > 0) &&
    (scope !== "first criterion" || isFirst);

  const raised: (RaisedQuestion & Row)[] = [];
  for (const row of mustPass.filter(isAsked)) {
    const question = await row.raise(context);
    if (question !== null) raised.push({ ...row, ...question });
  }

  const [gaps, open]: [string[], string[]] = [[], []];
  for (const { name, whether, change, gap, confirmed } of await findUnanswered(context, raised)) {
    announce(name);
    if (
      (await runWith(whether, change))?.passed === false &&
      (confirmed === undefined || (await confirmed()))
    ) {
      gaps.push(gap);
    }
  }

  for (const question of [...questions, ...openQuestions].filter(isAsked)) {
    announce(question.name);
    const text = await question.gap(context);
    if (text !== null) (openQuestions.includes(question) ? open : gaps).push(text);
  }

  let madeAgain: readonly string[] = [];
  if (isAsked(generatedFiles)) {
    announce(generatedFiles.name);
    const remadeFiles = await makeFilesAgain(context);
    if (remadeFiles.gap !== null) gaps.push(remadeFiles.gap);
    madeAgain = remadeFiles.madeAgain;
  }

  announce("is it loaded as a program alone?");
  const programs = await findProgramOnlyFiles(context);
  return { gaps, open, programs, madeAgain };
}
