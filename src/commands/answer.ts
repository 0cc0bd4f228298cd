// answer: answers an open question of a run.

import type { CommandResponse } from "../contracts/command-response.ts";
import { listOpenQuestions } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { isVerdictQuestion } from "../views/verdicts.ts";
import { answerPlaceholder } from "../views/wording.ts";
import { matchAnswer } from "../runner/match-answer.ts";
import { withdrawNotice } from "../runner/run-notices.ts";
import { sendToRun, refuseLate } from "../runner/send-to-run.ts";
import type { CommandContext } from "../project/command-context.ts";
import { hashQuestion } from "../project/question-hash.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { loadRun, type LoadedRun } from "../project/runs/loaded-run.ts";

type OpenBlock = RunView["blocks"][string];

export type AnswerInput = {
  readonly run?: string | undefined;
  readonly block?: string | undefined;
  readonly text: string;
  /** The hash of the question as shown: a question that changed since isn't answered. */
  readonly content?: string | undefined;
  /** Only with the answer `issues_found`. */
  readonly issues?: readonly string[] | undefined;
};

/** Answers an open question. Without naming it, only while exactly one is open. */
export function answer(context: CommandContext, input: AnswerInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    if (input.text.trim() === answerPlaceholder) {
      refuse("usage", { message: `Put your answer where ${answerPlaceholder} stands.` });
    }

    const loaded = await loadRun(context, input.run);
    const block = findOpenBlock(loaded, input.block);
    const shownHash = input.content;
    const isChanged =
      shownHash !== undefined &&
      shownHash !== hashQuestion(loaded.run, block.block, block.question);
    if (isChanged) {
      refuse("block_changed", {
        run_id: loaded.run,
        state: loaded.view.status,
        message: `It asks something else now: ${block.question}`,
      });
    }

    return recordAnswer(context, loaded, { block, text: input.text, issues: input.issues ?? [] });
  });
}

/**
 * The open question that is meant: the named one (the end of its name is enough if no other ends
 * so), else the only one.
 */
export function findOpenBlock(loaded: LoadedRun, blockName: string | undefined): OpenBlock {
  const openBlocks = listOpenQuestions(loaded.view);
  const runFields = { run_id: loaded.run, state: loaded.view.status };

  if (openBlocks.length === 0) {
    return refuse("invalid_state_transition", {
      ...runFields,
      message: `${loaded.run} has no open question.`,
      data: { allowed_from: ["a run with an open question"] },
    });
  }

  const matching = openBlocks.filter(
    ({ block }) => blockName === undefined || block.endsWith(blockName),
  );
  const onlyMatch = matching.length === 1 ? matching[0] : undefined;
  const match = openBlocks.find(({ block }) => block === blockName) ?? onlyMatch;
  if (match !== undefined) return match;

  return refuse("human_block_open", {
    ...runFields,
    result: "FAIL",
    message: describeUnclear(blockName, matching.length),
    remediation: openBlocks.map(
      ({ block, question }) => `autopilot answer --block "${block}" …   (${question})`,
    ),
  });
}

function describeUnclear(blockName: string | undefined, matches: number): string {
  if (blockName === undefined) return "Several questions are open; say which.";
  return matches === 0
    ? `No open question is called ${blockName}.`
    : `${matches} open questions end with ${blockName}; say which.`;
}

type GivenAnswer = {
  readonly block: OpenBlock;
  readonly text: string;
  readonly issues: readonly string[];
};

/** Sends an answer to the run, whether a process works on it or not. */
export async function recordAnswer(
  context: CommandContext,
  loaded: LoadedRun,
  { block, text, issues }: GivenAnswer,
): Promise<CommandResponse> {
  const chosen = requireChoice(loaded, block, text);
  const namedIssues = requireIssues(loaded, block, chosen, issues);
  const issuesField = namedIssues.length === 0 ? {} : { issues: namedIssues };
  const { view, outcome } = await sendToRun(
    context,
    loaded,
    { event: "block_answered", block: block.block, answer: chosen, ...issuesField },
    (run) => run.blocks[block.block] === undefined,
  );
  if (outcome === "late") {
    refuseLate(
      loaded,
      view,
      `"${block.question}" was settled from somewhere else meanwhile; ${chosen} does not count.`,
    );
  }

  withdrawNotice(context, `${loaded.run}:${block.block}`);
  return respond("block_answered", {
    run_id: loaded.run,
    state: view.status,
    message: `Answered "${block.question}" with ${chosen}.`,
    remediation: view.status === "paused" ? ["autopilot resume"] : [],
    data: { block: block.block, answer: chosen },
  });
}

function requireChoice(loaded: LoadedRun, block: OpenBlock, text: string): string {
  const chosen = matchAnswer(block, text);
  if (chosen !== null) return chosen;

  const choices = Object.entries(block.options);
  return refuse("objective_schema_invalid", {
    run_id: loaded.run,
    state: loaded.view.status,
    message: `"${text}" is not one of the answers.`,
    remediation: choices.map(([key, about]) => `autopilot answer ${key}   (${about})`),
  });
}

/** The issues of a verdict that found some, at least one; none for any other answer. */
function requireIssues(
  loaded: LoadedRun,
  block: OpenBlock,
  chosen: string,
  issues: readonly string[],
): string[] {
  if (!isVerdictQuestion(block) || chosen !== "issues_found") return [];

  const namedIssues = issues.map((issue) => issue.trim()).filter((issue) => issue !== "");
  if (namedIssues.length === 0) {
    const phase = loaded.view.cursors[block.cursor]?.phase ?? "";
    refuse("objective_schema_invalid", {
      run_id: loaded.run,
      state: loaded.view.status,
      message:
        "Issues were found, and none is named: the debugger would have nothing to put right.",
      remediation: [`autopilot verdict ${phase} issues_found --issue "…"`],
      data: { field: "issue" },
    });
  }

  return namedIssues;
}
