// restore-definitions: whether a pass depends on changed definitions that tests compare with (comparison-definitions.ts), decided by restoring the base's
// definitions and running the check again.
// Invariants C1 and on: verify/experiments/questions/comparison-definitions.ts.

import type { Difference } from "../../../ports/workspace.ts";
import type { Setting } from "../../protected/judge.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { judges } from "../../protected/programs.ts";
import { comparersIn, comparersWords, namesOf } from "./comparison-definitions.ts";
import { type Edit, filesReadMax, type Laboratory } from "../laboratory.ts";
import type { Observed } from "../breaks/noticed-breaks.ts";

export type Asking = {
  readonly setting: Setting;
  readonly differences: readonly Difference[];
  readonly lab: Pick<Laboratory, "textAt">;
  /** Runs the check with these files replaced; null if it took too long, which is reported. */
  readonly ask: (whether: string, change: { readonly edits: readonly Edit[] }) => Promise<Observed | null>;
};

/** The text of a gap; null if tests compare with nothing that the work changed, or it does not matter. */
export async function comparersGap({ setting, differences, lab: { textAt }, ask }: Asking): Promise<string | null> {
  const isTest = (path: string): boolean => setting.rowOf(path)?.kind === "test" || judges.test(path);
  const textsOf = async (paths: readonly string[]) =>
    Promise.all(
      paths.slice(0, filesReadMax).map(async (path) => ({
        path,
        was: setting.base.has(path) ? await textAt("base", path) : null,
        is: (await textAt("work", path)) ?? "",
      })),
    );
  const isCode = ({ path, kind }: Difference): boolean => kind !== "deleted" && isProgramText(path) && !isTest(path);
  const changed = await textsOf(differences.filter(isCode).map(({ path }) => path));
  if (changed.every(({ was }) => was === null)) return null;
  const tests = await textsOf([...setting.base].filter((path) => isProgramText(path) && isTest(path)));
  const found = comparersIn(
    changed,
    tests.map(({ path, is }) => ({ path, text: is })),
  );
  if (found === null) return null;
  const { definitions, edits, controls } = found;
  const whether = `it passes with ${namesOf(definitions)} as before the work`;
  if ((await ask(whether, { edits }))?.passed !== false) return null;
  return (await ask(whether, { edits: [...edits, ...controls] }))?.passed === true ? comparersWords(definitions) : null; // C2
}
