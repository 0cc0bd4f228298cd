// ask-set-up: asks whether a pass rests on modules that the work changed and that set up its tests.
//
// Invariants:
//   S1. Set-up may load the code under test: modules that the goal names, or that the project's own
//       programs load, are code (code-under-test.ts).
//   S2. Modules that older tests load as well are code if the check fails with set-up alone having
//       the work's version of them.

import type { Difference } from "../../../ports/workspace.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import { filesReadMax, type Side } from "../lab.ts";
import {
  type QuestionContext,
  type RaisedQuestion,
  passesAsBefore,
} from "../questions/question-context.ts";
import { findCodeUnderTest } from "./code-under-test.ts";
import { describeConfiguration, restoreConfiguration, settingsFile } from "./test-configuration.ts";

/** Modules that the settings of tests load, as they were, for the settings alone. */
export async function askTestConfiguration(
  context: QuestionContext,
): Promise<RaisedQuestion | null> {
  const { rules, differences, lab } = context;
  const isCode = ({ path, kind }: Difference): boolean =>
    kind === "changed" && rules.rowOf(path) === null && isProgramText(path);
  const changed = new Set(differences.filter(isCode).map(({ path }) => path));
  if (changed.size === 0) return null;
  const settings = [...rules.base]
    .filter((path) => settingsFile.test(path) && rules.rowOf(path)?.kind === "test_config")
    .slice(0, filesReadMax);

  const restore = (modules: ReadonlySet<string>, side: Side) =>
    restoreConfiguration(
      settings,
      modules,
      {
        exists: (path) => rules.base.has(path),
        isTest: (path) => rules.rowOf(path)?.kind === "test",
        textOf: (path) => lab.textAt(modules.has(path) ? side : "base", path),
      },
      createNonce(lab.seed),
    );
  const reached = await restore(changed, "base");
  if (reached === null) return null;

  const { owned, tested } = await findCodeUnderTest(context, reached);
  const setUp = await restore(tested, "work");
  const withoutWork = { edits: setUp?.edits ?? [], paths: [...tested] };
  const isCodeToo = setUp !== null && (await context.runWith(null, withoutWork))?.passed === false; // S2
  const code = new Set([...owned, ...(isCodeToo ? tested : [])]);
  const others = new Set([...changed].filter((path) => !code.has(path)));
  const found = code.size === 0 ? reached : await restore(others, "base");

  return found === null
    ? null
    : {
        whether: passesAsBefore(found.paths),
        change: { edits: found.edits },
        gap: describeConfiguration(found.paths),
      };
}
