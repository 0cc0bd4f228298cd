// verdict: derives the verdict of a run, and of what would land now, from the recorded evidence,
// with every gap. If a step of the run has judged its criteria (core/completion.ts), that verdict
// is where this begins; else checks, gates and child runs decide here.

import { configDefaults } from "../contracts/config-defaults.ts";
import { type CheckResult, editedOutput, readsArguments } from "../contracts/evidence.ts";
import { type LandMinimum, type Verdict, verdicts } from "../contracts/objective.ts";
import type { Proof, Step } from "../contracts/flow.ts";
import type { ReasonCode } from "../contracts/reason.ts";
import { phaseRule } from "./selectors.ts";
import { ownValue } from "./own-values.ts";
import type { RunView, CursorView } from "./state.ts";

export const isVerdict = (value: unknown): value is Verdict =>
  typeof value === "string" && (verdicts as readonly string[]).includes(value);

/** Gaps as one fact, since a fact is a single value; `splitGaps` reads it. */
export const joinGaps = (gaps: readonly string[]): string => gaps.map(withoutSeparator).join("; ");
export const splitGaps = (fact: unknown): string[] =>
  typeof fact === "string" && fact !== "" ? fact.split("; ") : [];
/** A sentence as a part of another. */
const lowerFirst = (sentence: string): string =>
  `${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.$/, "")}`;
const withoutSeparator = (gap: string): string => gap.replaceAll(";", ",");

export type VerdictWithGaps = { readonly verdict: Verdict; readonly gaps: readonly string[] };

/** The verdict that follows from the evidence. */
export const computeVerdict = (run: RunView): VerdictWithGaps => withGaps(run, baseVerdict(run));

/** How many points for a person to review are listed as gaps. */
const reviewGapsMax = 20;

/**
 * What leaves a gap in any verdict: artifacts without real content, child runs that are not
 * verified, skipped phases and steps, what experiments found of a check, and changes that a person
 * should look at.
 */
function withGaps(run: RunView, judged: VerdictWithGaps): VerdictWithGaps {
  const placeholderGaps = Object.entries(run.hollow ?? {}).map(
    ([file, why]) => `${file} is hollow: ${why}`,
  );

  const childGaps = Object.entries(run.called ?? {})
    .filter(([, verdict]) => verdict !== "verified")
    .map(([step, verdict]) => `the child run of ${step} is ${verdict}`);

  const checkGaps = Object.values(run.checks).flatMap(({ latest }) => experimentGaps(latest));
  const programs = Object.values(run.checks).flatMap(({ latest }) =>
    latest.programs === undefined ? [] : [latest.programs],
  );
  const isProgram = (path: string): boolean =>
    programs.length > 0 && programs.every((paths) => paths.includes(path));
  const madeAgain = new Set(
    Object.values(run.checks).flatMap(({ latest }) => latest.made_again ?? []),
  );
  const isExcused: Readonly<Record<string, (path: string) => boolean>> = {
    [readsArguments]: isProgram,
    [editedOutput]: (path) => madeAgain.has(path),
  };
  const heldGaps = listHeldTests(run).map(
    ({ path, detail }) =>
      `look at ${path} before you merge, it judges this work: ${lowerFirst(detail)}`,
  );
  const reviewGaps = (run.oracles?.look ?? [])
    .filter(({ gap, path, what }) => gap === true && isExcused[what]?.(path) !== true)
    .map(({ path, what }) => `look at ${path}: it ${what}`);

  const skipGaps = findSkipped(run).map((name) => `${name} was skipped`);
  const gaps = [
    ...heldGaps,
    ...placeholderGaps,
    ...childGaps,
    ...skipGaps,
    ...checkGaps,
    ...reviewGaps.slice(0, reviewGapsMax),
  ];
  if (gaps.length === 0) return judged;

  return {
    verdict: judged.verdict === "verified" ? "verified_with_gaps" : judged.verdict,
    gaps: [...judged.gaps, ...gaps.map(withoutSeparator)],
  };
}

/** Experiments ask whether a check can fail at all, and whether it passes because of the work. */
function experimentGaps({
  check,
  status,
  canary,
  without_work,
  gap,
}: Pick<CheckResult, "check" | "status" | "canary" | "without_work" | "gap">): readonly string[] {
  if (status !== "passed") return [];
  const gapText = (text: string): string => `${check.title}: ${text}`;
  return [
    ...(canary?.outcome === "unknown"
      ? [gapText(`nothing shows that this check can fail (${canary.detail})`)]
      : []),
    ...(canary?.outcome === "differs"
      ? [gapText(`it comes to other things when a test is changed (${canary.detail})`)]
      : []),
    ...(canary?.outcome === "partly"
      ? [gapText(`not every test it rests on was seen to fail (${canary.detail})`)]
      : []),
    ...(gap === undefined ? [] : [gapText(gap)]),
    ...(without_work?.outcome === "missed"
      ? [gapText(`its new tests prove nothing: ${without_work.detail}`)]
      : []),
  ];
}

/**
 * The newest verdict of the runner's own; else whether every criterion that can be run holds. A
 * flow without checks is judged by its gates and by what its child runs proved: a flow ends only
 * past its gates, so if it had any, they held. A gate looks up what can be looked up: what a
 * document says beyond that stays the word of the agent that wrote it.
 */
function baseVerdict(run: RunView): VerdictWithGaps {
  if (run.judged !== null) return run.judged;
  const criteria = Object.values(run.checks).filter(
    ({ latest }) => latest.check.kind === "criterion",
  );

  const provedChildren = Object.values(run.called ?? {}).filter(hasProof);
  const hasGates = (run.gated ?? 0) + run.proved.length > 0;
  if (criteria.length === 0 && !flowHasChecks(run)) {
    if (hasGates && !hasCommandGate(run)) return gatedVerdict;
    return { verdict: hasGates || provedChildren.length > 0 ? "verified" : "unverified", gaps: [] };
  }

  const isProved =
    criteria.length > 0 && criteria.every(({ latest }) => latest.status === "passed");

  return { verdict: isProved ? "verified" : "unverified", gaps: [] };
}

export const gatesGap =
  "its gates hold, but what its documents say beyond them is the agents' word: read them";
const gatedVerdict: VerdictWithGaps = { verdict: "verified_with_gaps", gaps: [gatesGap] };

/** Whether a verdict says that something was proved. */
const hasProof = (verdict: Verdict): boolean =>
  verdict === "verified" || verdict === "verified_with_gaps";

/** Whether a step of the flow runs checks: then they prove its work, and gates alone do not. */
const flowHasChecks = ({ drafted: { flow } }: RunView): boolean => hasCheckSteps(listSteps(flow));

/** Whether a gate runs a command: who wrote the flow decided what proves its documents. */
function hasCommandGate({ drafted: { flow } }: RunView): boolean {
  const rules = [...listPhases(flow), ...withTaskSteps(listSteps(flow))];
  return rules.some(({ proof = [] }) => (proof as readonly Proof[]).some(restsOnCommand));
}

/** A command in an `if` proves nothing: it only chooses which rules are asked. */
function restsOnCommand(proof: Proof): boolean {
  if (typeof proof === "string") return false;
  return (
    proof.command !== undefined ||
    [...(proof.all ?? []), ...(proof.else ?? [])].some(restsOnCommand)
  );
}

type DraftedFlow = RunView["drafted"]["flow"];

const listPhases = (flow: DraftedFlow) => [
  ...(flow.before ?? []),
  ...("read" in flow.phases ? [] : flow.phases),
  ...(flow.after ?? []),
];

const listSteps = (flow: DraftedFlow): readonly Step[] =>
  [
    ...listPhases(flow).flatMap(({ steps }) => steps),
    ...(flow.steps ?? []),
    ...(flow.closing ?? []),
  ] as readonly Step[];

/** The steps, and those that each of their tasks and waves runs. */
const withTaskSteps = (steps: readonly Step[]): readonly Step[] =>
  steps.flatMap((step) => [step, ...(step.tasks?.each ?? []), ...(step.tasks?.wave ?? [])]);

const hasCheckSteps = (steps: readonly Step[]): boolean =>
  withTaskSteps(steps).some(({ check }) => check !== undefined);

/** Optional phases that were not run, and steps that a person skipped. */
function findSkipped(run: RunView): readonly string[] {
  const phases = run.phases.filter(
    ({ id, status, because }) =>
      status === "completed" &&
      because === "optional_skipped" &&
      phaseRule(run.drafted.flow, id).optional === true,
  );
  return [
    ...phases.map(({ id, name }) => `phase ${id} (${name})`),
    ...Object.values(run.cursors).flatMap(({ path, left_out = [] }) =>
      left_out.map((step) => `step ${step} of ${path}`),
    ),
  ];
}

/** From the worst to the best. */
const verdictOrder: readonly Verdict[] = [
  "refuted",
  "unverified",
  "verified_with_gaps",
  "verified",
];
const worstVerdict = (judged: readonly VerdictWithGaps[]): VerdictWithGaps => ({
  verdict:
    verdictOrder[Math.min(...judged.map(({ verdict }) => verdictOrder.indexOf(verdict)))] ??
    "unverified",
  gaps: [...new Set(judged.flatMap(({ gaps }) => gaps))],
});

/**
 * The verdict of what would land now: for a run that lands as a whole its own, for one that lands
 * after each phase the worst of the phases whose work is on the branch.
 */
export function computeLandingVerdict(
  run: RunView,
  cursor: Pick<CursorView, "kind">,
): VerdictWithGaps {
  if (cursor.kind !== "closing") return computeVerdict(run);
  const completedPhases = run.phases.filter(
    ({ group, status }) => group === "phases" && status === "completed",
  );
  return withGaps(run, worstVerdict(completedPhases.map((phase) => phaseVerdict(run, phase))));
}

/**
 * Judged by the checks that its document or plan gives it; without any by the run's criteria. A
 * phase whose steps run no checks at all is judged by its gates and child runs.
 */
function phaseVerdict(
  run: RunView,
  { id, checks: documentChecks = [] }: RunView["phases"][number],
): VerdictWithGaps {
  const phaseChecks = ownValue(run.cursors, id)?.checks ?? documentChecks;
  if (phaseChecks.length > 0) {
    return judgePhaseResults(
      id,
      phaseChecks.map((check) => ownValue(run.checks, check.id)?.latest),
    );
  }

  if (hasCheckSteps(phaseRule(run.drafted.flow, id).steps)) {
    return judgePhaseResults(id, listLatestCriteria(run));
  }

  if (isPhaseGated(run, id) && !hasCommandGate(run)) return gatedVerdict;
  return isPhaseGated(run, id) || hasProvedChild(run, id)
    ? { verdict: "verified", gaps: [] }
    : { verdict: "unverified", gaps: [`phase ${id}: nothing proves it`] };
}

type LatestResult = ReturnType<typeof listLatestCriteria>[number];

/** A check without a result was not run, and one in quarantine does not count: both leave a gap. */
function judgePhaseResults(
  id: string,
  results: readonly (LatestResult | undefined)[],
): VerdictWithGaps {
  const failing = results.filter(
    (result) =>
      result !== undefined && result.status !== "passed" && result.quarantined === undefined,
  );
  if (failing.length > 0) {
    return {
      verdict: "refuted",
      gaps: failing.map((result) => `phase ${id}: ${result?.check.title ?? ""} does not pass`),
    };
  }

  const notPassed = results.filter((result) => result?.status !== "passed").length;
  if (results.length === 0 || notPassed === results.length) {
    return { verdict: "unverified", gaps: [`phase ${id}: no command proves it`] };
  }

  return notPassed === 0
    ? { verdict: "verified", gaps: [] }
    : {
        verdict: "verified_with_gaps",
        gaps: [`phase ${id}: ${notPassed} of its checks did not count`],
      };
}

/** Whether a completed phase had a gate: then it held, or the phase would not have completed. */
function isPhaseGated(run: RunView, id: string): boolean {
  const { proof, steps } = phaseRule(run.drafted.flow, id);
  return (
    run.proved.includes(id) ||
    proof !== undefined ||
    withTaskSteps(steps).some((step) => (step.proof?.length ?? 0) > 0)
  );
}

/**
 * Whether a child run of this phase, or of its tasks (`1@1/build#1/task-2/call`), proved something.
 */
const hasProvedChild = (run: RunView, id: string): boolean =>
  Object.entries(run.called ?? {}).some(
    ([step, verdict]) =>
      (step.startsWith(`${id}/`) || step.startsWith(`${id}@`)) && hasProof(verdict),
  );

const listLatestCriteria = (run: RunView) =>
  Object.values(run.checks)
    .map(({ latest }) => latest)
    .filter(({ check }) => check.kind === "criterion");

/** Changed tests that a person has to look at before the work lands. */
export const listHeldTests = ({ oracles }: Pick<RunView, "oracles">) =>
  (oracles?.changes ?? []).filter(({ allowed }) => allowed === "held");

/**
 * Whether work of this verdict may land. A minimum of `unverified` lands everything, refuted work
 * too.
 */
export function mayLand(
  verdict: Verdict,
  minimum: LandMinimum = configDefaults.land.minimum,
): boolean {
  return minimum === "unverified" || verdictOrder.indexOf(verdict) >= verdictOrder.indexOf(minimum);
}

export const completionCodes = {
  verified: "completion_verified",
  verified_with_gaps: "completion_with_gaps",
  unverified: "completion_unverified",
  refuted: "completion_refuted",
} as const satisfies Record<Verdict, ReasonCode>;
