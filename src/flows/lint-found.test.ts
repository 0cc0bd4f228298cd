// What a phase says of being found done, and what a question says of leaving: lint knows the names
// and looks at the gates.

import { expect, test } from "vitest";
import { Flow } from "../contracts/flow.ts";
import { isRefused, readLocated } from "../kit/located.ts";
import { lintFlow } from "./lint.ts";

const rules = (
  phase: string,
  human = "{ question: Good?, options: { A: yes, B: no } }",
): readonly string[] => {
  const text = `flow: small
version: 1
lands_nothing: true
enter: first_unproved
phases:
  - id: "1"
    ${phase}
    steps:
      - { id: work, agent: worker, prompt: p.md, sees: [work], proof: [{ file: a.md, non_empty: true }] }
      - { id: ask, human: ${human} }
`;
  const read = readLocated("flow.yaml", text, Flow);
  if (isRefused(read)) return read.findings.map(({ rule }) => rule);

  const registry = {
    run: [],
    proof: ["looks_done"],
    readers: { phases: [], tasks: [] },
    schemas: [],
    checks: [],
  };

  return lintFlow({
    flow: read.value,
    positions: read.positions,
    prompts: { "p.md": "{goal} {previous}" },
    registry,
  }).map(({ rule, line }) => `${rule} ${line}`);
};

test("a phase may say what shows that it is done, and that it is optional", () => {
  expect(rules("proof: [{ file: a.md, non_empty: true }, looks_done]\n    optional: true")).toEqual(
    [],
  );
});

test.each([
  ["an unknown name", "proof: [looks_doen]", "unknown_proof 7"],
  ["a gate that looks at nothing", "proof: [{ non_empty: true }]", "gate_without_subject 7"],
  ["a path that climbs", "proof: [{ file: ../a.md }]", "bad_path 7"],
])("%s in a phase's proof is found with its line", (_what, phase, rule) => {
  expect(rules(phase)).toContain(rule);
});

test("a question can be left only with an answer it offers", () => {
  expect(
    rules(
      "optional: true",
      "{ question: Good?, options: { A: yes, B: no }, recommend: A, why: it is, leaves: A }",
    ),
  ).toEqual([]);

  expect(
    rules("optional: true", "{ question: Good?, options: { A: yes, B: no }, leaves: C }"),
  ).toEqual(["answer_unknown 10"]);
});
