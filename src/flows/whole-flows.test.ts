// Six whole flows, of every shape the product knows, are clean; and each has breaks that only whole
// flows can show.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Flow } from "../contracts/flow.ts";
import { findingText } from "../kit/finding.ts";
import { isRefused, readLocated } from "../kit/located.ts";
import { computePhaseBounds } from "./bound.ts";
import type { LintRegistry } from "./lint-subject.ts";
import { lintFlow } from "./lint.ts";
import { listAllSteps } from "./step-lists.ts";

const folder = join(import.meta.dirname, "..", "..", "test", "fixtures", "flows");
const names = readdirSync(folder).filter((file) => file.endsWith(".yaml"));

function read(name: string, change: (text: string) => string = (text) => text) {
  const text = readFileSync(join(folder, name), "utf8");
  const located = readLocated(name, change(text), Flow);
  if (isRefused(located)) throw new Error(located.findings.map(findingText).join("\n"));

  return located;
}

/** A registry that has every name the flow uses: what is inspected here is the flow's own sense. */
function lint(name: string, change?: (text: string) => string): readonly string[] {
  const { value: flow, positions } = read(name, change);
  const steps = listAllSteps(flow).map(({ step }) => step);
  const used = (
    pick: (step: (typeof steps)[number]) => readonly (string | undefined)[],
  ): string[] => [...new Set(steps.flatMap(pick))].filter((one) => one !== undefined);

  const registry: LintRegistry = {
    run: used((step) => [step.run]),
    proof: used((step) => [
      ...(step.proof ?? []).filter((proof) => typeof proof === "string"),
      ...(step.check ?? []),
    ]),
    readers: {
      phases: Array.isArray(flow.phases) ? [] : [flow.phases.read],
      tasks: used((step) => [step.tasks?.read]),
    },
    schemas: used((step) => [step.returns]),
    checks: ["criterion", "criteria", "project", "wiring", "red_green", "holdout"],
    landFunctions: ["land", "merge", "apply_lever"],
  };

  const prompts = Object.fromEntries(
    used((step) => [step.prompt]).map((prompt) => [prompt, "{goal} {previous} {return_schema}"]),
  );

  return lintFlow({ flow, positions, prompts, registry }).map(findingText);
}

test.each(names)("%s is clean", (name) => {
  expect(lint(name)).toEqual([]);
});

test("there are at least six", () => {
  expect(names.length).toBeGreaterThanOrEqual(6);
});

test("their bounds are the known ones", () => {
  expect(computePhaseBounds(read("roadmap.yaml").value)["*"]).toBe(104);
  expect(computePhaseBounds(read("quality.yaml").value)["1"]).toBe(4);
  expect(computePhaseBounds(read("objective.yaml").value)["1"]).toBe(126);
});

describe("a break of the roadmap is found", () => {
  const replace = (from: string, to: string) => (text: string) => {
    if (!text.includes(from)) throw new Error(`not in the flow: ${from}`);
    return text.replace(from, () => to);
  };

  test.each([
    [
      "checks that may fail on the way to the judge",
      "check: [criteria, project, wiring], otherwise: [{ go: debug, count: debug }]",
      "check: [criteria, project, wiring], otherwise: [{ go: verify }]",
      /completed_past_gate/,
    ],
    [
      "a debug turn nobody proves",
      "otherwise: [{ go: checks }], then: [{ go: checks }] }\n  - { id: undo",
      "otherwise: [{ go: checks }], then: [{ end: completed }] }\n  - { id: undo",
      /completed_without_proof/,
    ],
    [
      "a spent plan that completes",
      "spent: { end: failed, because: executor_wrong_approach }",
      "spent: { end: completed, because: executor_wrong_approach }",
      /spent_completes_gate/,
    ],
    [
      "a judge who may complete by word alone",
      "{ when: { judge.says.recommendation: debug }, go: debug, count: debug }",
      "{ when: { judge.says.recommendation: debug }, end: completed }",
      /completed_on_says/,
    ],
    [
      "debug and replan that call each other",
      "replan: { at_most: 1, per: phase, retry: true, spent: { go: undo, because: acceptance_criteria_unmet } }",
      "replan: { at_most: 1, per: phase, retry: true, spent: { go: undo, count: debug } }",
      /spent_round/,
    ],
  ])("%s", (_title, from, to, rule) => {
    expect(lint("roadmap.yaml", replace(from, to)).join("\n")).toMatch(rule);
  });
});
