// land: step that merges proven work into the user's branch; idempotent, and leaves unproven work on its branch.

import type { landChoices } from "../../contracts/config.ts";
import type { LookAt } from "../../contracts/evidence.ts";
import type { Policy } from "../../contracts/policy.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import { landingVerdict, mayLand } from "../../core/verdict.ts";
import { proofSentence } from "../../views/verdict-sentences.ts";
import type { FunctionInput, FunctionResult } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";
import type { JudgeMerge, Workspace } from "../../ports/workspace.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { landInTurn } from "../contract/landing.ts";

type MessageField = (typeof landChoices)[number];
const subjectCharsMax = 72;

/** The commit message of a landing: the config's template if there is one, else the run, its goal and its proof. */
export function landMessage(
  policy: Pick<Policy, "land_message" | "land_squash"> | undefined,
  values: Record<MessageField, string>,
): string {
  const goal = values.goal.split("\n", 1)[0] ?? "";
  const fields: Record<MessageField, string> = { ...values, goal };
  if (policy?.land_message !== undefined)
    return policy.land_message.replaceAll(/\{(\w+)\}/g, (whole, word: string) => fields[word as MessageField] ?? whole);
  if (policy?.land_squash === true)
    return `${goal.length > subjectCharsMax ? `${goal.slice(0, subjectCharsMax - 1)}…` : goal}\n\n${values.proof}`;
  return `Merge autopilot/${values.run}: ${goal}\n\n${values.proof}`;
}

const lookShownMax = 5;
const lookSentence = (look: readonly LookAt[]): string =>
  `Look at ${look
    .slice(0, lookShownMax)
    .map(({ path, what }) => `${path} (${what})`)
    .join(", ")}${look.length > lookShownMax ? ` and ${look.length - lookShownMax} more` : ""}.`;

/**
 * Lands proved work on the user's branch if nothing has to be forced; landing twice is landing once. A child's goes to its parent. Unproved
 * work stays where it is, unless this run allows otherwise.
 */
export function land(
  workspace: Workspace,
  { verifier, isChild, paths }: { readonly verifier: Verifier; readonly isChild: boolean; readonly paths: ProjectPaths },
) {
  return {
    version: 1,
    effect: "idempotent" as const,
    async perform(input: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const { state, cursor, cancel } = input;
      if (isChild) return { ok: true, facts: { landed: false, why: "child_run" }, detail: "The run that called this flow takes its work." };
      const { run_id, objective, policy, base } = state.drafted;
      if (state.tip.commit === base.commit)
        return { ok: true, facts: { landed: false, why: "nothing_to_land" }, detail: "Nothing was changed." };
      const { verdict, gaps } = landingVerdict(state, cursor);
      const look = (state.oracles?.look ?? []).filter(({ gap }) => gap !== true); // what is a gap is reported as one
      const proof = [proofSentence(verdict, gaps), ...(look.length === 0 ? [] : [lookSentence(look)])].join(" ");
      if (!mayLand(verdict, policy?.land))
        return { ok: false, facts: { landed: false, why: "work_unproved", proof: verdict }, reason: "work_unproved", detail: proof };
      if (policy?.land_as === "pr")
        return {
          ok: true,
          facts: { landed: false, why: "pull_request", proof: verdict },
          detail: `${proof} The pull request is opened when the run is over.`,
        };
      const message = landMessage(policy, { goal: objective.goal, run: run_id, verdict: verdict.replaceAll("_", " "), proof });
      const result = await landInTurn(workspace, paths, { message, judgeMerge: judgeMergeWith(verifier, input), cancel });
      if (result.landed)
        return {
          ok: true,
          facts: { landed: true, how: result.how, commit: result.commit, proof: verdict },
          reason: "landed",
          stands: true,
        };
      if (result.because === "nothing_to_land") return { ok: true, facts: { landed: false, why: result.because }, detail: result.detail };
      return { ok: false, facts: { landed: false, why: result.because }, reason: result.because, detail: result.detail };
    },
  };
}

/** Everything that passed on the run's branch must pass on the merge. */
const judgeMergeWith =
  (verifier: Verifier, { attempt, state, cancel, onLiveEvent }: FunctionInput<RunView, CursorView>): JudgeMerge =>
  async (commit) => {
    const passed = Object.values(state.checks).filter(({ latest }) => latest.status === "passed");
    const checks = passed.map(({ latest }) => latest.check);
    const known = Object.fromEntries(passed.map(({ latest }) => [latest.check.id, latest.status]));
    const results = await verifier.check({ attempt, checks, commit, known, cancel, onLiveEvent });
    const failed = results.filter(({ status, quarantined }) => status !== "passed" && quarantined === undefined);
    if (failed.length === 0 && results.length >= checks.length) return null;
    const names = failed.map(({ check, why }) => `${check.title}${why === undefined ? "" : ` (${why})`}`).join(", ");
    return failed.length === 0 ? "It was called off." : `Merged with the new commits of your branch, this fails: ${names}.`;
  };
