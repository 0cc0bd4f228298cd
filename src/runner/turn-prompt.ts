// turn-prompt: fills in the prompt template of one turn. The renderer marks text from the
// repository and from agents as data.

import type { Cast } from "../contracts/event.ts";
import type { RunView, CursorView } from "../core/state.ts";
import { minutesLeft, tokensLeft } from "../core/budget.ts";
import { fillPhaseFolder } from "../engine/prove.ts";
import type { PromptTurn, TurnPrompt } from "../engine/runtime.ts";
import { cutMiddle, type Placeholder, renderPrompt } from "../flows/prompt.ts";
import { findJsonSchema } from "../flows/returns.ts";
import { invariant } from "../kit/invariant.ts";
import { type PromptSources, renderFeedback } from "./prompt-feedback.ts";

const aboutCharsMax = 2_000;

/**
 * Prompt files by name, as the journal recorded them: a run finishes with the prompts it began
 * with.
 */
export type PromptTemplates = Readonly<Record<string, string>>;

export async function buildTurnPrompt(
  templates: PromptTemplates,
  turn: PromptTurn,
  sources: PromptSources,
): Promise<TurnPrompt> {
  const { run, cursor, step, openAttempt } = turn;
  const template = templates[step.prompt ?? ""];
  invariant(template !== undefined, `a prompt of the flow is recorded with it: ${step.prompt}`);
  const { objective, cast } = run.drafted;
  const role = step.agent ?? "";
  const agentCast = cast[role] ?? cast["*"];
  invariant(agentCast !== undefined, `every role is cast: ${role}`);
  const schema = step.returns === undefined ? null : findJsonSchema(step.returns);
  const currentCriterion = objective.done_criteria.find(({ id }) =>
    Object.values(cursor.seen).some(({ facts }) => facts["criterion"] === id),
  );

  const values = {
    goal: objective.goal,
    scope: objective.scope.join("\n"),
    criteria: objective.done_criteria
      .map(
        ({ id, text, check }) => `${id}: ${text}${check === null ? "" : ` (proved by: ${check})`}`,
      )
      .join("\n"),
    criterion: currentCriterion === undefined ? objective.goal : currentCriterion.text,
    promise: objective.completion_promise,
    phase: describePhase(run, cursor),
    phase_dir: fillPhaseFolder(run.drafted.flow, cursor.phase),
    task: describeTask(cursor),
    previous: await renderFeedback(turn, sources),
    learnings: (await sources.readLearnings?.(role)) ?? "",
    return_schema: schema === null ? "" : JSON.stringify(schema, null, 2),
    attempt: openAttempt.attempt,
    limits: `${Math.floor(minutesLeft(run, cursor.phase))} minutes, ${Math.floor(tokensLeft(run, cursor.phase))} tokens left`,
  } satisfies Record<Placeholder, string>;

  return {
    prompt: renderPrompt(template, values),
    returns:
      schema === null || step.returns === undefined
        ? null
        : { name: step.returns, schema, isOptional: step.returns_optional ?? false },
    promise: objective.completion_mode === "promise" ? objective.completion_promise : null,
    cast: {
      agent: agentCast.agent,
      ...(agentCast.script === undefined ? {} : { script: agentCast.script }),
      ...(agentCast.argv === undefined ? {} : { argv: [...agentCast.argv] }),
      ...(agentCast.override === undefined
        ? {}
        : { override: structuredClone(agentCast.override) as NonNullable<Cast["override"]> }),
    },
  };
}

/**
 * Describes a phase as its document does, else by its id; a phase after the others by the completed
 * ones.
 */
function describePhase(run: RunView, { phase: id }: CursorView): string {
  const phase = run.phases.find((candidate) => candidate.id === id);
  if (phase?.group === "after") {
    const completed = run.phases.filter(
      ({ group, status, about }) =>
        group === "phases" && status === "completed" && about !== undefined,
    );
    if (completed.length > 0) {
      return completed.map(({ about = "" }) => cutMiddle(about, aboutCharsMax)).join("\n\n");
    }
  }

  return phase?.about ?? (phase === undefined || phase.name === id ? id : `${id}: ${phase.name}`);
}

function describeTask({ task, about }: CursorView): string {
  if (task === null) return "";
  return about === undefined ? task : `${task}\n${about}`;
}
