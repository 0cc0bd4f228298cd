// lint-shape: lints a flow as a whole: its playbook, phases, options and failure rows, and whether it lands its work.

import type { Option, Phase } from "../contracts/flow.ts";
import { isReasonCode, reasonCodes } from "../contracts/reason.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean, editDistance, suggest } from "../kit/suggest.ts";
import type { Lint } from "./lint-subject.ts";
import { flowLists, stepsEverywhere, rowsAfterPass, type LocatedRow } from "./lists.ts";

/** The flow as a whole: its phases, its options, its rows, and whether it lands what it makes. */
export function lintShape(lint: Lint): void {
  lintPlaybook(lint);
  lintPhases(lint);
  lintOptionDeclarations(lint);
  for (const located of rowsEverywhere(lint)) lintRow(lint, located);
  lintLanding(lint);
  for (const word of ["when_step_fails", "when_phase_fails"] as const) {
    const last = lint.flow[word]?.at(-1);
    if (lint.flow[word] !== undefined && (last === undefined || last.when !== undefined)) {
      lint.say(
        [word],
        "house_not_total",
        `found no row without a condition at the end of ${word}, expected one that catches every failure`,
      );
    }
  }
  for (const [n, row] of (lint.flow.when_phase_fails ?? []).entries()) {
    const named = [row.finish, row.pause, row.stop].filter((word) => word !== undefined);
    if (named.length !== 1)
      lint.say(["when_phase_fails", n], "no_target", `found ${named.length} of finish, pause and stop, expected exactly one`);
  }
}

function lintPlaybook({ flow, registry, say }: Lint): void {
  if (flow.playbook === undefined || registry.playbooks === undefined || registry.playbooks.includes(flow.playbook)) return;
  const expected = registry.playbooks.length === 0 ? "" : `, expected one of ${registry.playbooks.join(", ")}`;
  say(
    ["playbook"],
    "unknown_playbook",
    `found the unknown playbook ${shown(flow.playbook)}${expected}.${didYouMean(flow.playbook, registry.playbooks)}`,
  );
}

const stepsMax = 200;

function lintPhases({ flow, registry, say }: Lint): void {
  for (const group of ["before", "phases", "after"] as const) {
    const list: Phase[] = Array.isArray(flow[group]) ? flow[group] : [];
    for (const [n, phase] of list.entries()) {
      const path = [group, n, "id"];
      if (list.findIndex((other) => other.id === phase.id) < n)
        say(path, "duplicate_phase", `found a second phase ${shown(phase.id)} in ${group}, expected ids that differ`);
      if (group === "before" && phase.id.includes("."))
        say(path, "phase_id", "found a dot in a before phase's id, which facts name as before.<phase>.<step>");
    }
  }
  if (Array.isArray(flow.phases)) {
    if (flow.steps !== undefined) say(["steps"], "steps_unused", "found steps beside listed phases, which bring their own");
  } else {
    if (!registry.readers.phases.includes(flow.phases.read)) {
      say(
        ["phases", "read"],
        "unknown_reader",
        `found the unknown reader ${shown(flow.phases.read)}.${didYouMean(flow.phases.read, registry.readers.phases)}`,
      );
    }
    if (flow.steps === undefined || flow.steps.length === 0)
      say(["phases"], "no_steps", "found phases that are read and no steps for them to run");
  }
  for (const list of flowLists(flow)) {
    if (list.steps.length === 0 && list.path[0] !== "steps")
      say(list.path, "no_steps", "found an empty list of steps, expected at least one");
    if (list.steps.length > stepsMax)
      say(list.path, "too_many_steps", `found ${list.steps.length} steps in one list, expected at most ${stepsMax}`);
    const ids = list.steps.map((step) => step.id);
    for (const [n, id] of ids.entries())
      if (ids.indexOf(id) < n)
        say([...list.path, n, "id"], "duplicate_step", `found a second step ${shown(id)} in one list, expected ids that differ`);
  }
}

function lintOptionDeclarations({ flow, say }: Lint): void {
  for (const [name, option] of Object.entries(flow.options ?? {})) {
    const path = ["options", name];
    if (option.one_of !== undefined && option.type !== "word")
      say([...path, "one_of"], "option_one_of", `found one_of on a ${option.type}, which only a word may have`);
    if (option.default !== undefined && !fitsOption(option, option.default)) {
      say([...path, "default"], "option_default", `found the default ${shown(option.default)}, expected ${describeOption(option)}`);
    }
  }
  const every = flow.pause_every?.phases;
  if (typeof every === "string" && !Object.hasOwn(flow.options ?? {}, every.slice("option.".length))) {
    say(
      ["pause_every", "phases"],
      "unknown_option",
      `found ${every}, which is not declared under options.${didYouMean(
        every,
        Object.keys(flow.options ?? {}).map((name) => `option.${name}`),
      )}`,
    );
  }
}

/** Whether a value is one the option may have. */
export function fitsOption(option: Option, value: unknown): boolean {
  if (option.type === "flag") return typeof value === "boolean";
  if (option.type === "count") return typeof value === "number" && Number.isInteger(value) && value >= 0;
  if (option.type === "number") return typeof value === "number";
  return typeof value === "string" && (option.one_of === undefined || option.one_of.includes(value));
}

export function describeOption(option: Option): string {
  if (option.type === "flag") return "true or false";
  if (option.type === "count") return "a whole number from 0";
  if (option.type === "number") return "a number";
  return option.one_of === undefined ? "a word" : `one of ${option.one_of.join(", ")}`;
}

function rowsEverywhere({ flow }: Lint): LocatedRow[] {
  const ofSteps = stepsEverywhere(flow).flatMap(({ step, path }) => [
    ...rowsAfterPass(step, path),
    ...(step.otherwise ?? []).map((row, n) => ({ row, path: [...path, "otherwise", n] })),
  ]);
  const flowFailureRows = (flow.when_step_fails ?? []).map((row, n) => ({ row, path: ["when_step_fails", n] }));
  const spent = Object.entries(flow.counts ?? {}).map(([name, count]) => ({ row: count.spent, path: ["counts", name, "spent"] }));
  return [...ofSteps, ...flowFailureRows, ...spent];
}

export const targets = ["go", "end", "stop", "ask", "again"] as const;
const replies = ["A", "B", "C"];

function lintRow({ say }: Lint, { row, path }: LocatedRow): void {
  const named = targets.filter((target) => row[target] !== undefined);
  if (named.length > 1) say(path, "two_targets", `found ${named.join(" and ")} in one row, expected one target`);
  const isSpent = path.at(-1) === "spent";
  if (named.length === 0 && (isSpent || (row.pause ?? row.rest ?? row.because ?? row.count) === undefined)) {
    say(path, "no_target", `found a row that leads nowhere, expected one of ${targets.join(", ")}`);
  }
  if (isSpent && row.when !== undefined)
    say([...path, "when"], "spent_when", "found a condition on what happens when a count is spent, which must always happen");
  if (row.pause !== undefined && row.rest !== undefined)
    say(path, "pause_and_rest", "found pause and rest in one row, expected one of them");
  if ((row.pause ?? row.rest) !== undefined && row.stop !== undefined)
    say(path, "pause_and_stop", "found a pause on a row that stops the run for good");
  if (row.recommend !== undefined && (row.ask === undefined || !Object.hasOwn(row.ask, row.recommend))) {
    say([...path, "recommend"], "recommend_unknown", `found the recommendation ${shown(row.recommend)}, which ask does not offer`);
  }
  for (const reply of Object.keys(row.ask ?? {})) {
    if (!replies.includes(reply))
      say([...path, "ask", reply], "ask_reply", `found the reply ${shown(reply)}, expected A (try again), B (skip this step) or C (stop)`);
  }
  for (const word of ["pause", "rest", "stop"] as const) lintCode(say, [...path, word], row[word]);
}

/** A flow may define its own reason codes, but one that is almost a known one is a typo. */
function lintCode(say: Lint["say"], path: DataPath, name: string | undefined): void {
  if (name === undefined || isReasonCode(name)) return;
  const near = suggest(name, reasonCodes);
  if (near !== null && editDistance(name, near) <= 2)
    say(path, "reason_misspelt", `found the reason code ${name}. Did you mean ${near}?`, "warning");
}

function lintLanding({ flow, registry, say }: Lint): void {
  const lands = registry.lands ?? ["land"];
  const lander = stepsEverywhere(flow).find(({ step }) => step.run !== undefined && lands.includes(step.run));
  if (lander === undefined && flow.lands_nothing !== true) {
    say(["flow"], "lands_nothing", `found no step that lands the work (run: ${lands.join(", ")}), expected one, or lands_nothing: true`);
  }
  if (lander !== undefined && flow.lands_nothing === true)
    say([...lander.path, "run"], "lands_anyway", "found a step that lands work in a flow that says lands_nothing");
}
