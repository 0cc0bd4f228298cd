import { expect, test } from "vitest";
import type { CursorView, RunView } from "../../../core/state.ts";
import type { FunctionInput } from "../../../ports/functions.ts";
import { createDocsPresentStep } from "./docs-present.ts";

/** The facts of the step, for so many empty documents. */
async function findFacts(documents: number) {
  const pathsAt = () =>
    Promise.resolve(Array.from({ length: documents }, (_, n) => `reference_docs/${n}.md`));
  const step = createDocsPresentStep({ pathsAt, textAt: () => Promise.resolve("\n") });
  const state = {
    overrides: {},
    drafted: { options: { target_path: "." }, flow: {} },
  } as unknown as RunView;

  return (
    await step.perform({ state, commit: "c" } as unknown as FunctionInput<RunView, CursorView>)
  ).facts;
}

test("says that it read only some of very many documents", async () => {
  expect(await findFacts(0)).toMatchObject({
    present: false,
    reason: "reference_docs/ holds no committed .md or .txt file",
  });

  expect(await findFacts(200)).toMatchObject({
    present: false,
    reason: "reference_docs/ holds only empty .md and .txt files",
  });

  expect(await findFacts(201)).toMatchObject({
    present: false,
    reason:
      "reference_docs/ holds 201 .md and .txt files, of which the first 200 are empty and the others were not read",
  });
});
