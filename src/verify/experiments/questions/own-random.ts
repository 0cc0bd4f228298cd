// own-random: asks whether Python tests pass if they draw from a random generator of their own: the
// code under test can seed the one that they share.
//
// Invariants:
//   O1. Only tests that seed and replace nothing themselves get their own generator: otherwise
//       sharing may be intended.

import {
  type QuestionContext,
  type RaisedQuestion,
  readJudgingFiles,
  editTexts,
} from "./question-context.ts";

/**
 * Asks whether Python tests pass if they draw from a random generator that the code under test
 * doesn't share.
 */
export async function askOwnRandom(context: QuestionContext): Promise<RaisedQuestion | null> {
  if (!context.differences.some(({ path, kind }) => kind !== "deleted" && path.endsWith(".py"))) {
    return null;
  }

  const edits = editTexts(await readJudgingFiles(context, /\.py$/), isolateRandom);
  const paths = edits.map(({ path }) => path);
  const whether = `it passes if ${paths.join(", ")} draws by chance alone`;
  const confirmed = async (): Promise<boolean> =>
    (await context.runWith(whether, { edits }))?.passed === false;

  return edits.length === 0
    ? null
    : { whether, change: { edits }, gap: describeSharedRandom(paths), confirmed };
}

/** What a test says that seeds or replaces the generator itself (O1). */
const ownSeeding =
  /\bseed\b|\bsetstate\b|\bpatch\b|\bmonkeypatch\b|\bRandom\s*\(|\brandom\s*=|\bfreeze/;

/** A Python test with its own random generator; null if it uses none (O1). */
export function isolateRandom(path: string, text: string): string | null {
  if (!path.endsWith(".py") || ownSeeding.test(text)) return null;
  const withoutRandom = text
    .replaceAll(/^import random$/gm, "import random; random = random.Random()")
    .replaceAll(/^from random import ([a-z]\w*(?:, *[a-z]\w*)*)$/gm, (_all, names: string) => {
      const ownFunctions = names.replaceAll(/\w+/g, "_own.$&");
      return `from random import Random as _Own; _own = _Own(); ${names} = ${ownFunctions}`;
    });
  return withoutRandom === text ? null : withoutRandom;
}

export const describeSharedRandom = (paths: readonly string[]): string =>
  `its tests (${paths.join(", ")}) fail if what they draw by chance is not shared with the code, so a person has to look at that`;
