// lint-shape: lints a flow as a whole: its playbook, phases, options and failure rows, and whether
// it lands its work.

import type { Option, Phase } from "../contracts/flow.ts";
import { isReasonCode, reasonCodes } from "../contracts/reason.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean, editDistance, suggest } from "../kit/suggest.ts";
import type { Lint } from "./lint-subject.ts";
import { listStepLists, listAllSteps, listRowsAfterPass, type LocatedRow } from "./step-lists.ts";

/** The flow as a whole: its phases, its options, its rows, and whether it lands what it makes. */
export function lintShape(lint: Lint): void {
  lintPlaybook(lint);
  lintPhases(lint);
  lintOptionDeclarations(lint);
  for (const located of rowsEverywhere(lint)) lintRow(lint, located);
  lintLanding(lint);

  for (const key of ["when_step_fails", "when_phase_fails"] as const) {
    const rows = lint.flow[key];
    const lastRow = rows?.at(-1);
    if (rows !== undefined && (lastRow === undefined || lastRow.when !== undefined)) {
      lint.reportAt(
        [key],
        "house_not_total",
        `found no row without a condition at the end of ${key}, expected one that catches every failure`,
      );
    }
  }

  for (const [index, row] of (lint.flow.when_phase_fails ?? []).entries()) {
    const targetCount = [row.finish, row.pause, row.stop].filter(
      (target) => target !== undefined,
    ).length;
    if (targetCount !== 1) {
      lint.reportAt(
        ["when_phase_fails", index],
        "no_target",
        `found ${targetCount} of finish, pause and stop, expected exactly one`,
      );
    }
  }
}

function lintPlaybook({ flow, registry, reportAt }: Lint): void {
  if (
    flow.playbook === undefined ||
    registry.playbooks === undefined ||
    registry.playbooks.includes(flow.playbook)
  ) {
    return;
  }

  const expected =
    registry.playbooks.length === 0 ? "" : `, expected one of ${registry.playbooks.join(", ")}`;
  reportAt(
    ["playbook"],
    "unknown_playbook",
    `found the unknown playbook ${shown(flow.playbook)}${expected}.${didYouMean(flow.playbook, registry.playbooks)}`,
  );
}

const stepsMax = 200;

function lintPhases(lint: Lint): void {
  lintPhaseIds(lint);
  lintPhaseSource(lint);
  lintStepLists(lint);
}

function lintPhaseIds({ flow, reportAt }: Lint): void {
  for (const group of ["before", "phases", "after"] as const) {
    const phases: Phase[] = Array.isArray(flow[group]) ? flow[group] : [];
    for (const [index, phase] of phases.entries()) {
      const path = [group, index, "id"];
      if (phases.findIndex(({ id }) => id === phase.id) < index) {
        reportAt(
          path,
          "duplicate_phase",
          `found a second phase ${shown(phase.id)} in ${group}, expected ids that differ`,
        );
      }

      if (group === "before" && phase.id.includes(".")) {
        reportAt(
          path,
          "phase_id",
          "found a dot in a before phase's id, which facts name as before.<phase>.<step>",
        );
      }
    }
  }
}

/** Phases are listed with their own steps, or read by a reader and then run the flow's steps. */
function lintPhaseSource({ flow, registry, reportAt }: Lint): void {
  if (Array.isArray(flow.phases)) {
    if (flow.steps !== undefined) {
      reportAt(
        ["steps"],
        "steps_unused",
        "found steps beside listed phases, which bring their own",
      );
    }

    return;
  }

  const { read: reader } = flow.phases;
  const readers = registry.readers.phases;
  if (!readers.includes(reader)) {
    reportAt(
      ["phases", "read"],
      "unknown_reader",
      `found the unknown reader ${shown(reader)}.${didYouMean(reader, readers)}`,
    );
  }

  if (flow.steps === undefined || flow.steps.length === 0) {
    reportAt(["phases"], "no_steps", "found phases that are read and no steps for them to run");
  }
}

function lintStepLists({ flow, reportAt }: Lint): void {
  for (const list of listStepLists(flow)) {
    if (list.steps.length === 0 && list.path[0] !== "steps") {
      reportAt(list.path, "no_steps", "found an empty list of steps, expected at least one");
    }

    if (list.steps.length > stepsMax) {
      reportAt(
        list.path,
        "too_many_steps",
        `found ${list.steps.length} steps in one list, expected at most ${stepsMax}`,
      );
    }

    const ids = list.steps.map((step) => step.id);
    for (const [index, id] of ids.entries()) {
      if (ids.indexOf(id) < index) {
        reportAt(
          [...list.path, index, "id"],
          "duplicate_step",
          `found a second step ${shown(id)} in one list, expected ids that differ`,
        );
      }
    }
  }
}

function lintOptionDeclarations({ flow, reportAt }: Lint): void {
  for (const [name, option] of Object.entries(flow.options ?? {})) {
    const path = ["options", name];
    if (option.one_of !== undefined && option.type !== "word") {
      reportAt(
        [...path, "one_of"],
        "option_one_of",
        `found one_of on a ${option.type}, which only a word may have`,
      );
    }

    if (option.default !== undefined && !fitsOption(option, option.default)) {
      reportAt(
        [...path, "default"],
        "option_default",
        `found the default ${shown(option.default)}, expected ${describeOption(option)}`,
      );
    }
  }

  const interval = flow.pause_every?.phases;
  if (
    typeof interval === "string" &&
    !Object.hasOwn(flow.options ?? {}, interval.slice("option.".length))
  ) {
    const optionNames = Object.keys(flow.options ?? {}).map((name) => `option.${name}`);
    const message = `found ${interval}, which is not declared under options.${didYouMean(interval, optionNames)}`;
    reportAt(["pause_every", "phases"], "unknown_option", message);
  }
}

/** Whether a value is one the option may have. */
export function fitsOption(option: Option, value: unknown): boolean {
  if (option.type === "flag") return typeof value === "boolean";
  if (option.type === "count") {
    return typeof value === "number" && Number.isInteger(value) && value >= 0;
  }

  if (option.type === "number") return typeof value === "number";
  return (
    typeof value === "string" && (option.one_of === undefined || option.one_of.includes(value))
  );
}

/** The values an option may have, for a message. */
export function describeOption(option: Option): string {
  if (option.type === "flag") return "true or false";
  if (option.type === "count") return "a whole number from 0";
  if (option.type === "number") return "a number";

  return option.one_of === undefined ? "a word" : `one of ${option.one_of.join(", ")}`;
}

function rowsEverywhere({ flow }: Lint): LocatedRow[] {
  const stepRows = listAllSteps(flow).flatMap(({ step, path }) => [
    ...listRowsAfterPass(step, path),
    ...(step.otherwise ?? []).map((row, index) => ({ row, path: [...path, "otherwise", index] })),
  ]);

  const flowFailureRows = (flow.when_step_fails ?? []).map((row, index) => ({
    row,
    path: ["when_step_fails", index],
  }));

  const spentRows = Object.entries(flow.counts ?? {}).map(([name, count]) => ({
    row: count.spent,
    path: ["counts", name, "spent"],
  }));
  return [...stepRows, ...flowFailureRows, ...spentRows];
}

export const targets = ["go", "end", "stop", "ask", "again"] as const;
/** The answers to the question about a failed step: try again, skip the step, stop. */
const replies = ["A", "B", "C"];

function lintRow({ reportAt }: Lint, { row, path }: LocatedRow): void {
  const rowTargets = targets.filter((target) => row[target] !== undefined);
  if (rowTargets.length > 1) {
    reportAt(
      path,
      "two_targets",
      `found ${rowTargets.join(" and ")} in one row, expected one target`,
    );
  }

  const isSpent = path.at(-1) === "spent";
  const hasEffect = (row.pause ?? row.rest ?? row.because ?? row.count) !== undefined;
  if (rowTargets.length === 0 && (isSpent || !hasEffect)) {
    reportAt(
      path,
      "no_target",
      `found a row that leads nowhere, expected one of ${targets.join(", ")}`,
    );
  }

  if (isSpent && row.when !== undefined) {
    reportAt(
      [...path, "when"],
      "spent_when",
      "found a condition on what happens when a count is spent, which must always happen",
    );
  }

  if (row.pause !== undefined && row.rest !== undefined) {
    reportAt(path, "pause_and_rest", "found pause and rest in one row, expected one of them");
  }

  if ((row.pause ?? row.rest) !== undefined && row.stop !== undefined) {
    reportAt(path, "pause_and_stop", "found a pause on a row that stops the run for good");
  }

  if (
    row.recommend !== undefined &&
    (row.ask === undefined || !Object.hasOwn(row.ask, row.recommend))
  ) {
    reportAt(
      [...path, "recommend"],
      "recommend_unknown",
      `found the recommendation ${shown(row.recommend)}, which ask does not offer`,
    );
  }

  for (const reply of Object.keys(row.ask ?? {})) {
    if (!replies.includes(reply)) {
      reportAt(
        [...path, "ask", reply],
        "ask_reply",
        `found the reply ${shown(reply)}, expected A (try again), B (skip this step) or C (stop)`,
      );
    }
  }

  for (const key of ["pause", "rest", "stop"] as const)
    lintCode(reportAt, [...path, key], row[key]);
}

/** A flow may define its own reason codes, but one that is almost a known one is a typo. */
function lintCode(say: Lint["reportAt"], path: DataPath, name: string | undefined): void {
  if (name === undefined || isReasonCode(name)) return;
  const similarCode = suggest(name, reasonCodes);
  if (similarCode !== null && editDistance(name, similarCode) <= 2) {
    say(
      path,
      "reason_misspelt",
      `found the reason code ${name}. Did you mean ${similarCode}?`,
      "warning",
    );
  }
}

function lintLanding({ flow, registry, reportAt }: Lint): void {
  const landFunctions = registry.landFunctions ?? ["land"];
  const landStep = listAllSteps(flow).find(
    ({ step }) => step.run !== undefined && landFunctions.includes(step.run),
  );
  if (landStep === undefined && flow.lands_nothing !== true) {
    const message = `found no step that lands the work (run: ${landFunctions.join(", ")}), expected one, or lands_nothing: true`;
    reportAt(["flow"], "lands_nothing", message);
  }

  if (landStep !== undefined && flow.lands_nothing === true) {
    reportAt(
      [...landStep.path, "run"],
      "lands_anyway",
      "found a step that lands work in a flow that says lands_nothing",
    );
  }
}
