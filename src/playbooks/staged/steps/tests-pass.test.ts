import { expect, test } from "vitest";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { createTestsPassProof } from "./tests-pass.ts";

test("the tests that decide are tried out: the verifier is given where the work began, and the goal", async () => {
  const asked: unknown[] = [];
  const verifier = {
    inspectProtected: async () => ({ changes: [] }),
    check: async (request: unknown) => {
      asked.push(request);
      return [];
    },
  } as unknown as Verifier;

  const tests = {
    id: "project:npm-test",
    kind: "project",
    title: "npm test",
    command: "npm test",
    source: "package.json scripts.test",
  };

  const input = {
    attempt: "9@1/do#1",
    commit: "b".repeat(40),
    state: {
      drafted: {
        base: { commit: "a".repeat(40) },
        objective: { goal: "document and test it", scope: ["**"] },
        checks: [tests],
      },
      checks: {},
    },
  } as unknown as Parameters<ReturnType<typeof createTestsPassProof>["prove"]>[0];

  await createTestsPassProof(verifier, {} as Workspace).prove(input);
  expect(asked).toMatchObject([
    { checks: [tests], commit: "b".repeat(40), base: "a".repeat(40), goal: "document and test it" },
  ]);
});
