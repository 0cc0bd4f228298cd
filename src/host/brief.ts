// brief: what an agent is told in one turn. Text that came from the repository or from an agent is fenced as data by the renderer.

import type { Step } from "../contracts/flow.ts";
import type { Cast } from "../contracts/event.ts";
import type { Outcome } from "../contracts/outcome.ts";
import type { OpenView, RunView, WalkView } from "../core/state.ts";
import { minutesLeft, tokensLeft } from "../core/budget.ts";
import { phaseDir } from "../engine/prove.ts";
import type { Brief } from "../engine/world.ts";
import { renderPrompt } from "../flows/prompt.ts";
import { jsonSchemaOf } from "../flows/returns.ts";
import { invariant } from "../kit/invariant.ts";

const oraclesShownMax = 20;

/** Prompts as the journal recorded them: a run finishes on the words it began with. */
export type Prompts = Readonly<Record<string, string>>;

export async function briefOf(
  prompts: Prompts,
  run: RunView,
  walk: WalkView,
  step: Step,
  open: OpenView,
  outputOf: (evidence: string) => Promise<string>,
): Promise<Brief> {
  const template = prompts[step.prompt ?? ""];
  invariant(template !== undefined, `a prompt of the flow is recorded with it: ${step.prompt}`);
  const { objective, cast } = run.drafted;
  const role = step.agent ?? "";
  const player = cast[role] ?? cast["*"];
  invariant(player !== undefined, `every role is cast: ${role}`);
  const schema = step.returns === undefined ? null : jsonSchemaOf(step.returns);
  const picked = objective.done_criteria.find(({ id }) => Object.values(walk.seen).some(({ facts }) => facts["criterion"] === id));
  const prompt = renderPrompt(template, {
    goal: objective.goal,
    scope: objective.scope.join("\n"),
    criteria: objective.done_criteria
      .map(({ id, text, check }) => `${id}: ${text}${check === null ? "" : ` (proved by: ${check})`}`)
      .join("\n"),
    criterion: picked === undefined ? objective.goal : picked.text,
    promise: objective.completion_promise,
    phase: aboutPhase(run, walk),
    phase_dir: phaseDir(walk.phase),
    task: aboutTask(walk),
    previous: await previousOf(run, walk, step, open, outputOf),
    learnings: "",
    return_schema: schema === null ? "" : JSON.stringify(schema, null, 2),
    attempt: open.attempt,
    limits: `${Math.floor(minutesLeft(run, walk.phase))} minutes, ${Math.floor(tokensLeft(run, walk.phase))} tokens left`,
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

/** A phase as its document tells it, else by its id. */
function aboutPhase(run: RunView, { phase: id }: WalkView): string {
  const phase = run.phases.find((candidate) => candidate.id === id);
  return phase?.about ?? (phase === undefined || phase.name === id ? id : `${id}: ${phase.name}`);
}

const aboutTask = ({ task, about }: WalkView): string => (task === null ? "" : about === undefined ? task : `${task}\n${about}`);

/** What the steps it may see came to, failing checks with the end of their output, and the scope it left, if it did. */
async function previousOf(
  run: RunView,
  walk: WalkView,
  step: Step,
  open: OpenView,
  outputOf: (evidence: string) => Promise<string>,
): Promise<string> {
  const lines: string[] = [];
  if (run.violation !== null && run.violation.attempt === open.attempt) {
    lines.push(`Your last try was discarded: it changed what is outside the scope: ${run.violation.detail}`);
  }
  const refused = (run.oracles?.changes ?? []).filter(({ allowed }) => allowed === null);
  if (refused.length > 0) {
    lines.push(
      "You changed what judges your work. The checks are run with these as they were, so the changes gain nothing; put them back:",
      ...refused.slice(0, oraclesShownMax).map(({ path, how, detail }) => `- ${path} (${how}): ${detail}`),
    );
  }
  for (const { question, answer } of (walk.told ?? []).filter((told) => told.step === step.id))
    lines.push(`You asked: ${question}`, `The answer: ${answer}`);
  for (const id of step.sees ?? []) {
    const outcome = walk.seen[id] as Outcome | undefined;
    if (outcome === undefined || outcome.kind === "skipped") continue;
    const failing = outcome.checks.filter(({ check, status }) => status !== "passed" && check.kind !== "holdout");
    if (outcome.detail !== null && outcome.detail !== "" && failing.length === 0 && outcome.checks.length === 0)
      lines.push(`${id}: ${outcome.detail}`);
    for (const { check, status, exit_code, evidence } of failing) {
      lines.push(
        `${id}: "${check.command}" ${status}${exit_code === null ? "" : `, exit ${exit_code}`}. The end of its output:`,
        await outputOf(evidence),
      );
    }
  }
  return lines.join("\n");
}
