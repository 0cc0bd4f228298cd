// completion: decides from evidence whether a phase or run is complete. The agent's own statement
// never suffices.
//
// Invariants:
//   C1. Nothing is verified unless a command that the runner ran proved it. (What gates and child
//       runs prove: verdict.ts.)
//   C2. An agent that changed nothing never brings a run to `verified`.
//   C3. A check that was red before the run doesn't block it unless it got worse; a green one must
//       stay green.
//   C4. A flaky check is not passed. One in quarantine blocks nothing and proves nothing.
//   C5. At least one thing went from red to green, or fails when the work is removed: a check that
//       passed all along proves nothing about the work.

import {
  type Check,
  type CheckResult,
  type CheckStatus,
  couldNotRun,
  type TestTally,
} from "../contracts/evidence.ts";
import type { Verdict } from "../contracts/objective.ts";
import type { ReasonCode } from "../contracts/reason.ts";
import { unreachable } from "../kit/unreachable.ts";
import { ownValue } from "./own-values.ts";

/** A check's result, and what it reported of its tests. */
type CheckOutcome = {
  readonly status: CheckStatus;
  readonly tests?: TestTally | undefined;
  readonly broke?: number | undefined;
  readonly canary?: CheckResult["canary"];
};
type RecordedChecks = Readonly<
  Record<string, { readonly baseline: CheckOutcome; readonly isLate?: true }>
>;
type CriterionState = "holds" | "failing" | "regressed" | "red_before" | "quarantined";

export type ChecksJudgement = {
  readonly passed: boolean;
  /** Required checks that do not pass. */
  readonly failing: readonly CheckResult[];
  /** Project checks that passed before the run and fail now. */
  readonly regressed: readonly CheckResult[];
  /** Project checks that failed before the run and still fail: reported, not blocking. */
  readonly redBefore: readonly CheckResult[];
  /** Checks known to be flaky for a while: reported, neither blocking nor proof. */
  readonly quarantined: readonly CheckResult[];
  /** Whether the only problem is that checks gave different results on the same tree. */
  readonly isOnlyFlaky: boolean;
};

/**
 * Compares results with those from before the run; `known`: the checks as the run's state records
 * them.
 */
export function judgeChecks(
  results: readonly CheckResult[],
  known: RecordedChecks,
): ChecksJudgement {
  const stateOf = (result: CheckResult): CriterionState =>
    result.quarantined === undefined
      ? criterionState(result.check.kind, findBaseline(ownValue(known, result.check.id)), result)
      : "quarantined"; // C4
  const inState = (wanted: CriterionState): readonly CheckResult[] =>
    results.filter((result) => stateOf(result) === wanted);
  const failing = inState("failing");
  const regressed = inState("regressed");
  const problems = [...failing, ...regressed];

  return {
    passed: problems.length === 0,
    failing,
    regressed,
    redBefore: inState("red_before"),
    quarantined: inState("quarantined"),
    isOnlyFlaky: problems.length > 0 && problems.every(({ status }) => status === "flaky"),
  };
}

/** A check's result before anything was changed; null if it was not run then. */
export const findBaseline = (known: RecordedChecks[string] | undefined): CheckOutcome | null =>
  known === undefined || known.isLate === true ? null : known.baseline;

function criterionState(
  kind: Check["kind"],
  before: CheckOutcome | null,
  now: CheckOutcome,
): CriterionState {
  const passes = now.status === "passed";
  const baseline = before === null ? null : before.status;

  switch (kind) {
    case "criterion":
    case "holdout":
    case "proof":
      return passes ? "holds" : "failing";
    case "red_green":
      // A check that was flaky before the run was not red.
      return passes && baseline !== null && baseline !== "passed" && baseline !== "flaky"
        ? "holds"
        : "failing";
    case "project":
    case "restore":
      if (passes) return "holds";
      if (before === null) return "failing";
      return baseline === "passed" || isWorse(before, now) ? "regressed" : "red_before"; // C3
    default:
      return unreachable(kind);
  }
}

/**
 * Whether a check that failed before fails worse: it cannot even be run, a test fails that passed,
 * more of it fails, nothing of it passes any more, it does not reach its tests at all, or its
 * command passes and was shown to be unable to fail.
 */
function isWorse(before: CheckOutcome, now: CheckOutcome): boolean {
  if (before.status !== "failed") return false;
  if (now.status !== "failed" && now.status !== "flaky") return true;
  if (now.status === "failed" && ((now.broke ?? 0) > 0 || now.canary?.outcome === "missed")) {
    return true;
  }

  if (before.tests === undefined) return false;
  if (now.tests === undefined) return now.status === "failed" && before.tests.ran > 0;
  const passing = ({ ran, failed }: TestTally): number => Math.max(0, ran - failed);
  const [testsBefore, testsNow] = [before.tests, now.tests];

  return (
    testsNow.failed > testsBefore.failed ||
    (passing(testsNow) === 0 && passing(testsBefore) > 0) ||
    (testsNow.ran === 0 && testsBefore.ran > 0)
  );
}

export type CriterionStatus = {
  readonly id: string;
  readonly text?: string;
  /** The command that proves it, if there is one. */
  readonly check: string | null;
  readonly baseline: CheckStatus | null;
  readonly latest: CheckStatus | null;
  /** Its check passes, or without one a cycle worked on it. */
  readonly cycleDone: boolean;
  /** Whether its check was seen to fail with the work removed and only its new tests left in. */
  readonly failsWithoutWork?: boolean | undefined;
  /** Its check is known to be flaky until this day. */
  readonly quarantined?: string | undefined;
};

export type CompletionInput = {
  /**
   * `promise`: complete only once the agent says it is finished; `objective`: once every criterion
   * is worked on.
   */
  readonly mode: "promise" | "objective";
  readonly promised: boolean;
  /** The agent promised, and announced more work with it. */
  readonly announcedMore: boolean;
  readonly criteria: readonly CriterionStatus[];
  /** Every other check that is known: project, red-green, holdout. */
  readonly others: readonly {
    readonly check: Check;
    readonly baseline: CheckStatus | null;
    readonly latest: CheckStatus;
    /** The check's test counts, before the run and now. */
    readonly testsBefore?: TestTally | undefined;
    readonly tests?: TestTally | undefined;
    readonly broke?: number | undefined;
    /** What breaking something it should notice has shown. */
    readonly canary?: CheckResult["canary"];
    readonly quarantined?: string | undefined;
  }[];
  readonly treeChanged: boolean;
};

export type CompletionJudgement = {
  readonly complete: boolean;
  readonly verdict: Verdict;
  readonly reason_code: ReasonCode;
  readonly gaps: readonly string[];
};

export function judgeCompletion(input: CompletionInput): CompletionJudgement {
  const { mode, promised, announcedMore, criteria, treeChanged } = input;
  const counted = countedChecks(input);
  const blocks = blockMessages(counted);

  if (mode === "promise" && !promised) {
    return incomplete("completion_promise_missing", "unverified", blocks);
  }

  if (mode === "promise" && announcedMore) {
    return incomplete("continuation_pending", "unverified", blocks);
  }

  if (blocks.length > 0) return incomplete(blockReason(mode, counted), "refuted", blocks);
  const undone = criteria.filter(({ cycleDone }) => !cycleDone);
  if (mode === "objective" && undone.length > 0) {
    const gaps = undone.map((criterion) => `${criterionName(criterion)}: not worked on yet`);
    return incomplete(treeChanged ? "cycle_progressed" : "nothing_changed", "unverified", gaps);
  }

  const unchecked = uncheckedGaps(input);
  if (counted.runnable.length > 0) return judgeCriteria(counted, unchecked, treeChanged);
  if (!treeChanged) return incomplete("nothing_changed", "unverified", unchecked); // C2

  return judgeWithoutCriteria(counted, unchecked);
}

type Criteria = CompletionInput["criteria"];
type OtherChecks = CompletionInput["others"];
/** The checks that count, and those of them that keep the run from being complete. */
type CountedChecks = {
  readonly runnable: Criteria;
  readonly others: OtherChecks;
  readonly failingCriteria: Criteria;
  readonly vetoes: OtherChecks;
};

function countedChecks({ criteria, others: allOthers }: CompletionInput): CountedChecks {
  const others = allOthers.filter(({ quarantined }) => quarantined === undefined); // C4
  const runnable = criteria.filter(
    ({ check, quarantined }) => check !== null && quarantined === undefined,
  );

  const vetoes = others.filter(({ check, baseline, latest, testsBefore, tests, broke, canary }) => {
    const baselineOutcome = baseline === null ? null : { status: baseline, tests: testsBefore };
    return ["failing", "regressed"].includes(
      criterionState(check.kind, baselineOutcome, { status: latest, tests, broke, canary }),
    );
  });

  return {
    runnable,
    others,
    failingCriteria: runnable.filter(({ latest }) => latest !== "passed"),
    vetoes,
  };
}

const blockMessages = ({ failingCriteria, vetoes }: CountedChecks): readonly string[] => [
  ...failingCriteria.map(
    (criterion) =>
      `${criterionName(criterion)}: its check ${criterion.latest === "flaky" ? flakyMessage : "does not pass"}`,
  ),
  ...vetoes.map(
    ({ check, latest, baseline }) =>
      `${check.title}: ${latest === "flaky" ? flakyMessage : vetoMessage(check.kind, baseline)}`,
  ),
];

function blockReason(
  mode: CompletionInput["mode"],
  { failingCriteria, vetoes }: CountedChecks,
): ReasonCode {
  if ([...failingCriteria, ...vetoes].every(({ latest }) => latest === "flaky")) {
    return "check_flaky";
  }

  if (mode === "promise") return "completion_gates_blocked";
  return failingCriteria.length > 0 ? "criterion_failed" : "check_regressed";
}

const incomplete = (
  reason_code: ReasonCode,
  verdict: Verdict,
  gaps: readonly string[],
): CompletionJudgement => ({
  complete: false,
  verdict,
  reason_code,
  gaps,
});

/** Criteria without a command, and checks in quarantine. */
function uncheckedGaps({ criteria, others }: CompletionInput): readonly string[] {
  const quarantines = [
    ...criteria.map((criterion) => ({
      name: criterionName(criterion),
      until: criterion.quarantined,
    })),
    ...others.map(({ check, quarantined }) => ({ name: check.title, until: quarantined })),
  ];

  return [
    ...criteria
      .filter(({ check }) => check === null)
      .map((criterion) => `${criterionName(criterion)}: no command proves it`),
    ...quarantines.flatMap(({ name, until }) =>
      until === undefined
        ? []
        : [`${name}: its check is in quarantine until ${until} and proves nothing`],
    ),
  ];
}

/**
 * The tree changed, and no criterion has a command that counts: only the project's own checks say
 * anything.
 */
function judgeWithoutCriteria(
  { others }: CountedChecks,
  unchecked: readonly string[],
): CompletionJudgement {
  const turnedGreen = others.some(hasTurnedGreen);
  const stillRed = others
    .filter(({ latest }) => latest !== "passed")
    .map(
      ({ check, latest }) =>
        `${check.title}: ${isUnable(latest) ? unableMessage : "failed before the run and still fails"}`,
    );
  const gaps = [...unchecked, ...stillRed];

  // A project check that was red and passes now proves something, though not the criterion's own
  // text.
  if (turnedGreen) {
    return {
      complete: true,
      verdict: "verified_with_gaps",
      reason_code: "completion_with_gaps",
      gaps,
    };
  }

  return { complete: true, verdict: "unverified", reason_code: "completion_unverified", gaps }; // C1
}

/** Every criterion's command passes: what it may still not show is a gap. */
function judgeCriteria(
  { runnable, others }: CountedChecks,
  unchecked: readonly string[],
  treeChanged: boolean,
): CompletionJudgement {
  const untouched = (criterion: Criteria[number]): string =>
    criterion.baseline === "passed"
      ? "held before anything was done, and nothing was changed"
      : "passes although nothing was changed";

  const untouchedGaps = treeChanged
    ? []
    : runnable.map((criterion) => `${criterionName(criterion)}: ${untouched(criterion)}`);

  const turnedGreen = [...runnable, ...others].some(hasTurnedGreen);
  const showsWork =
    turnedGreen || runnable.some(({ failsWithoutWork }) => failsWithoutWork === true);
  const before = ({ baseline }: Criteria[number]): string =>
    baseline === null ? "was not run before the work began" : "passed before the work began";

  const passedBefore =
    !treeChanged || showsWork
      ? []
      : runnable.map(
          (criterion) =>
            `${criterionName(criterion)}: ${before(criterion)}, so it does not show what the work did`,
        ); // C5

  const unableGaps = others
    .filter(({ check, latest }) => check.kind === "project" && isUnable(latest))
    .map(({ check }) => `${check.title}: ${unableMessage}`);
  const gaps = [...unchecked, ...untouchedGaps, ...passedBefore, ...unableGaps]; // C2
  if (gaps.length > 0) {
    return {
      complete: true,
      verdict: "verified_with_gaps",
      reason_code: "completion_with_gaps",
      gaps,
    };
  }

  return { complete: true, verdict: "verified", reason_code: "completion_verified", gaps };
}

type StatusChange = { readonly baseline: CheckStatus | null; readonly latest: CheckStatus | null };

/**
 * Whether it passes now and did not before anything was changed; a check that was not run then
 * shows no difference.
 */
const hasTurnedGreen = ({ baseline, latest }: StatusChange): boolean =>
  baseline !== null && baseline !== "passed" && latest === "passed";

const isUnable = (status: CheckStatus | null): boolean =>
  status !== null && couldNotRun({ status });
const unableMessage = "it could not be run here, so it proves nothing";
const flakyMessage = "passes and fails on the same tree";

const criterionName = ({ id, text }: CriterionStatus): string =>
  text === undefined || text === "" ? id : `${id} (${text})`;

function vetoMessage(kind: Check["kind"], baseline: CheckStatus | null): string {
  if (kind === "red_green") return "must fail before and pass now";
  if (kind === "holdout" || kind === "proof" || baseline === null) return "does not pass";
  return baseline === "failed"
    ? "failed before the run and fails worse now"
    : "passed before the run and fails now";
}
