// verdict: records a person's verdict on a phase that waits for one.

import type { CommandResponse } from "../../contracts/command-response.ts";
import {
  type OpenVerdict,
  composeVerdictCommand,
  listOpenVerdicts,
  type VerdictWord,
} from "../../views/verdicts.ts";
import { parsePhaseId } from "../../documents/phase-id.ts";
import { sendToRun, refuseLate } from "../../runner/send-to-run.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { loadRun, type LoadedRun } from "../../project/runs/loaded-run.ts";

const issuesMax = 100;

type Input = {
  readonly phase: string;
  readonly verdict: VerdictWord;
  readonly issues: readonly string[];
  readonly run?: string | undefined;
};

/** Sends the verdict to the run, and names the phases that still wait for one. */
export function verdict(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = await loadRun(context, input.run);
    const { phase, name, block } = findOpenVerdict(loaded, input.phase);
    const issues = input.issues.map((issue) => issue.trim()).filter((issue) => issue !== "");
    refuseIssues(loaded, phase, input.verdict, issues);

    const issuesField = issues.length === 0 ? {} : { issues };
    const { view, outcome } = await sendToRun(
      context,
      loaded,
      { event: "block_answered", block: block.block, answer: input.verdict, ...issuesField },
      (run) => run.blocks[block.block] === undefined,
    );
    if (outcome === "late") {
      refuseLate(
        loaded,
        view,
        `Phase ${phase} was given a verdict from somewhere else meanwhile; ${input.verdict} does not count.`,
      );
    }

    const remaining = listOpenVerdicts(view);
    const nextSteps = remaining.map((question) => composeVerdictCommand(question.phase));
    if (view.status === "paused") nextSteps.push("autopilot resume");

    return respond("block_answered", {
      run_id: loaded.run,
      state: view.status,
      message: `Phase ${phase} (${name}): ${input.verdict}. ${consequences[input.verdict]}`,
      remediation: nextSteps,
      data: {
        phase,
        verdict: input.verdict,
        issues,
        block: block.block,
        still_open: remaining.map((question) => question.phase),
      },
    });
  });
}

const consequences: Readonly<Record<VerdictWord, string>> = {
  pass: "It counts as completed once the run goes on and its checks hold.",
  fail: "It counts as failed; what depends on it is blocked.",
  issues_found: "The issues go to the debugger when the run goes on.",
};

function findOpenVerdict(loaded: LoadedRun, phaseName: string): OpenVerdict {
  const id = parsePhaseId(phaseName.replace(/^phase[_ ]?/i, "")) ?? phaseName;
  const openVerdicts = listOpenVerdicts(loaded.view);
  const match = openVerdicts.find(({ phase }) => phase === id);
  if (match !== undefined) return match;

  const phase = loaded.view.phases.find((candidate) => candidate.id === id);
  const problem =
    phase === undefined
      ? `There is no phase ${phaseName} in ${loaded.run}`
      : `Phase ${id} is ${phase.status} and waits for no verdict`;

  const waiting = openVerdicts.map((question) => `${question.phase} (${question.name})`);
  const waitingText =
    waiting.length === 0 ? "no phase of this run waits for one" : `waiting: ${waiting.join(", ")}`;
  const verdictCommands = openVerdicts.map((question) => composeVerdictCommand(question.phase));
  return refuse("invalid_state_transition", {
    run_id: loaded.run,
    state: loaded.view.status,
    message: `${problem}; ${waitingText}.`,
    remediation: waiting.length === 0 ? ["autopilot status"] : verdictCommands,
    data: {
      allowed_from: ["a phase that waits for a verdict"],
      waiting: openVerdicts.map((question) => question.phase),
    },
  });
}

/**
 * Issues are required with `issues_found`, since the debugger works on them, and refused with
 * `pass`.
 */
function refuseIssues(
  loaded: LoadedRun,
  phase: string,
  word: VerdictWord,
  issues: readonly string[],
): void {
  const refuseIssue = (message: string, hint: string): never =>
    refuse("objective_schema_invalid", {
      run_id: loaded.run,
      state: loaded.view.status,
      message,
      remediation: [hint],
      data: { field: "issue" },
    });

  if (word === "issues_found" && issues.length === 0) {
    refuseIssue(
      "issues_found without an issue gives nobody anything to fix.",
      `autopilot verdict ${phase} issues_found --issue "what is wrong"`,
    );
  }

  if (word === "pass" && issues.length > 0) {
    refuseIssue(
      "pass with issues is no pass.",
      `autopilot verdict ${phase} issues_found --issue "…", or pass without --issue`,
    );
  }

  if (issues.length > issuesMax) {
    refuseIssue(
      `${issues.length} issues were given, at most ${issuesMax} are taken.`,
      "say the worst of them",
    );
  }
}
