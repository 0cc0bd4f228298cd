// brief: the prompt of one turn, and the values of its placeholders. Text that came from the repository or from an agent is fenced as data by the renderer.

import type { Step } from "../contracts/flow.ts";
import type { Cast } from "../contracts/event.ts";
import type { OpenView, RunView, CursorView } from "../core/state.ts";
import { minutesLeft, tokensLeft } from "../core/budget.ts";
import { phaseFolder } from "../engine/prove.ts";
import type { TurnPrompt } from "../engine/runtime.ts";
import { cut, renderPrompt } from "../flows/prompt.ts";
import { findJsonSchema } from "../flows/returns.ts";
import { invariant } from "../kit/invariant.ts";
import { type BriefSources, readPrevious } from "./brief-previous.ts";

const aboutCharsMax = 2_000;

/** Prompts as the journal recorded them: a run finishes with the prompts it began with. */
export type Prompts = Readonly<Record<string, string>>;

export async function briefOf(
  prompts: Prompts,
  run: RunView,
  cursor: CursorView,
  step: Step,
  open: OpenView,
  sources: BriefSources,
): Promise<TurnPrompt> {
  const template = prompts[step.prompt ?? ""];
  invariant(template !== undefined, `a prompt of the flow is recorded with it: ${step.prompt}`);
  const { objective, cast } = run.drafted;
  const role = step.agent ?? "";
  const player = cast[role] ?? cast["*"];
  invariant(player !== undefined, `every role is cast: ${role}`);
  const schema = step.returns === undefined ? null : findJsonSchema(step.returns);
  const picked = objective.done_criteria.find(({ id }) => Object.values(cursor.seen).some(({ facts }) => facts["criterion"] === id));
  const prompt = renderPrompt(template, {
    goal: objective.goal,
    scope: objective.scope.join("\n"),
    criteria: objective.done_criteria
      .map(({ id, text, check }) => `${id}: ${text}${check === null ? "" : ` (proved by: ${check})`}`)
      .join("\n"),
    criterion: picked === undefined ? objective.goal : picked.text,
    promise: objective.completion_promise,
    phase: aboutPhase(run, cursor),
    phase_dir: phaseFolder(run.drafted.flow, cursor.phase),
    task: aboutTask(cursor),
    previous: await readPrevious(run, cursor, step, open, sources),
    learnings: (await sources.learningsOf?.(role)) ?? "",
    return_schema: schema === null ? "" : JSON.stringify(schema, null, 2),
    attempt: open.attempt,
    limits: `${Math.floor(minutesLeft(run, cursor.phase))} minutes, ${Math.floor(tokensLeft(run, cursor.phase))} tokens left`,
  });
  return {
    prompt,
    returns:
      schema === null || step.returns === undefined ? null : { name: step.returns, schema, isOptional: step.returns_optional ?? false },
    promise: objective.completion_mode === "promise" ? objective.completion_promise : null,
    cast: {
      agent: player.agent,
      ...(player.script === undefined ? {} : { script: player.script }),
      ...(player.argv === undefined ? {} : { argv: [...player.argv] }),
      ...(player.override === undefined ? {} : { override: structuredClone(player.override) as NonNullable<Cast["override"]> }),
    },
  };
}

/** A phase as its document describes it, else by its id; after the phases, the list of completed ones. */
function aboutPhase(run: RunView, { phase: id }: CursorView): string {
  const phase = run.phases.find((candidate) => candidate.id === id);
  if (phase?.group === "after") {
    const completed = run.phases.filter(({ group, status, about }) => group === "phases" && status === "completed" && about !== undefined);
    if (completed.length > 0) return completed.map(({ about = "" }) => cut(about, aboutCharsMax)).join("\n\n");
  }
  return phase?.about ?? (phase === undefined || phase.name === id ? id : `${id}: ${phase.name}`);
}

const aboutTask = ({ task, about }: CursorView): string => (task === null ? "" : about === undefined ? task : `${task}\n${about}`);
