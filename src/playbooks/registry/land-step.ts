// land-step: step that merges proven work into the user's branch; idempotent, and leaves unproven
// work on its branch. It composes the message of the merge or squash, too.

import type { landPlaceholders } from "../../contracts/config.ts";
import type { ReviewPoint } from "../../contracts/evidence.ts";
import type { Policy } from "../../contracts/policy.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import { computeLandingVerdict, listHeldTests, mayLand } from "../../core/verdict.ts";
import { listSome } from "../../kit/list-some.ts";
import { describeProof } from "../../views/sentences/verdict-sentences.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";
import type { JudgeMerge, Workspace } from "../../ports/workspace.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { landInTurn } from "../contract/landing.ts";
import { runBranchName } from "../../contracts/run-branch.ts";

type MessageField = (typeof landPlaceholders)[number];
const subjectCharsMax = 72;

/**
 * The commit message of a landing: the config's template if there is one, else the run, its goal
 * and its proof.
 */
export function buildLandMessage(
  policy: Pick<Policy, "land_message" | "land_squash"> | undefined,
  values: Record<MessageField, string>,
): string {
  const goal = values.goal.split("\n", 1)[0] ?? "";
  const fields: Record<MessageField, string> = { ...values, goal };

  if (policy?.land_message !== undefined) {
    return policy.land_message.replaceAll(
      /\{(\w+)\}/g,
      (placeholder, name: string) => fields[name as MessageField] ?? placeholder,
    );
  }

  if (policy?.land_squash === true) {
    const subject = goal.length > subjectCharsMax ? `${goal.slice(0, subjectCharsMax - 1)}…` : goal;
    return `${subject}\n\n${values.proof}`;
  }

  return `Merge ${runBranchName(values.run)}: ${goal}\n\n${values.proof}`;
}

const reviewPathsShownMax = 5;
const reviewSentence = (reviewPaths: readonly ReviewPoint[]): string => {
  const names = reviewPaths.map(({ path, what }) => `${path} (${what})`);
  return `Look at ${listSome(names, reviewPathsShownMax)}.`;
};

type LandInput = FunctionInput<RunView, CursorView>;

type LandParts = {
  readonly verifier: Verifier;
  readonly isChild: boolean;
  readonly paths: ProjectPaths;
};

/**
 * The step `land`: lands proved work on the user's branch if nothing has to be forced. Landing
 * twice has the effect of landing once. A child run lands nothing: its parent takes its work.
 * Unproved work stays on its branch, unless this run's policy allows it to land.
 */
export function createLandStep(workspace: Workspace, parts: LandParts) {
  return {
    version: 1,
    effect: "idempotent" as const,
    perform: (input: LandInput): Promise<FunctionResult> => {
      const kept = whyKeptOnBranch(input, parts);
      return kept === null ? land(workspace, parts, input) : Promise.resolve(kept);
    },
  };
}

/** The result of a step that lands nothing, by the run's state alone; null if it is to land. */
function whyKeptOnBranch(
  { state, cursor }: LandInput,
  { isChild }: LandParts,
): FunctionResult | null {
  if (isChild) {
    return {
      ok: true,
      facts: { landed: false, why: "child_run" },
      detail: "The run that called this flow takes its work.",
    };
  }

  const { policy, base } = state.drafted;
  if (state.tip.commit === base.commit) {
    return {
      ok: true,
      facts: { landed: false, why: "nothing_to_land" },
      detail: "Nothing was changed.",
    };
  }

  const { verdict } = computeLandingVerdict(state, cursor);
  const proof = describeLandingProof(state, cursor);
  if (!mayLand(verdict, policy?.land)) {
    return {
      ok: false,
      facts: { landed: false, why: "work_unproved", proof: verdict },
      reason: "work_unproved",
      detail: proof,
    };
  }

  const heldTests = listHeldTests(state).map(({ path }) => path);
  if (heldTests.length > 0 && policy?.land !== "unverified" && policy?.land_as !== "pr") {
    return {
      ok: false,
      facts: { landed: false, why: "changed_tests_held", proof: verdict },
      reason: "changed_tests_held",
      detail: `${listSome(heldTests, reviewPathsShownMax)}.`,
    };
  }

  if (policy?.land_as === "pr") {
    return {
      ok: true,
      facts: { landed: false, why: "pull_request", proof: verdict },
      detail: `${proof} The pull request is opened when the run is over.`,
    };
  }

  return null;
}

function describeLandingProof(state: RunView, cursor: CursorView): string {
  const { verdict, gaps } = computeLandingVerdict(state, cursor);
  const proof = describeProof(verdict, gaps);
  const reviewPaths = (state.oracles?.look ?? []).filter(({ gap }) => gap !== true); // the others are among the gaps already
  return reviewPaths.length === 0 ? proof : `${proof} ${reviewSentence(reviewPaths)}`;
}

async function land(
  workspace: Workspace,
  { verifier, paths }: LandParts,
  input: LandInput,
): Promise<FunctionResult> {
  const { state, cursor, cancel } = input;
  const { run_id, objective, policy } = state.drafted;
  const { verdict } = computeLandingVerdict(state, cursor);
  const message = buildLandMessage(policy, {
    goal: objective.goal,
    run: run_id,
    verdict: verdict.replaceAll("_", " "),
    proof: describeLandingProof(state, cursor),
  });

  const judgeMerge = judgeMergeWith(verifier, input);
  const result = await landInTurn(workspace, paths, { message, judgeMerge, cancel });
  if (result.landed) {
    return {
      ok: true,
      facts: { landed: true, how: result.how, commit: result.commit, proof: verdict },
      reason: "landed",
      stands: true,
    };
  }

  const { because, detail } = result;
  const facts = { landed: false, why: because };
  if (because === "nothing_to_land") return { ok: true, facts, detail };
  return { ok: false, facts, reason: because, detail };
}

/** Everything that passed on the run's branch must pass on the merge. */
function judgeMergeWith(
  verifier: Verifier,
  { attempt, state, cancel, onLiveEvent }: LandInput,
): JudgeMerge {
  return async (commit) => {
    const passed = Object.values(state.checks).filter(({ latest }) => latest.status === "passed");
    const checks = passed.map(({ latest }) => latest.check);
    const known = Object.fromEntries(passed.map(({ latest }) => [latest.check.id, latest.status]));
    const results = await verifier.check({ attempt, checks, commit, known, cancel, onLiveEvent });
    const failed = results.filter(
      ({ status, quarantined }) => status !== "passed" && quarantined === undefined,
    );

    if (failed.length === 0) {
      const hasEveryResult = results.length >= checks.length;
      return hasEveryResult ? null : "It was called off."; // some checks have no result because of the cancellation
    }

    const names = failed.map(({ check, why }) =>
      why === undefined ? check.title : `${check.title} (${why})`,
    );
    return `Merged with the new commits of your branch, this fails: ${names.join(", ")}.`;
  };
}
