// shared-questions: questions about what tests share with the code under test (shared-with-code.ts).
// Invariants O1 and on: verify/experiments/questions/shared-with-code.ts.

import type { Definition } from "../source/definitions.ts";
import { type Edit, filesReadMax } from "../laboratory.ts";
import {
  bringsEquality,
  oneTypeWords,
  ownRandomWords,
  strangersIn,
  strangersWords,
  systemKnows,
  withStrictNumberTypes,
  withOwnRandom,
} from "./shared-with-code.ts";
import { type Asking, changedIn, isJudging, testsIn, type Text, type Raised } from "./asking.ts";

export async function ownRandom(asking: Asking): Promise<Raised | null> {
  if (!asking.differences.some(({ path, kind }) => kind !== "deleted" && path.endsWith(".py"))) return null;
  const edits = editsOf(await judgingFilesIn(asking, /\.py$/), withOwnRandom);
  const paths = edits.map(({ path }) => path);
  const whether = `it passes if ${paths.join(", ")} draws by chance alone`;
  const confirmed = async (): Promise<boolean> => (await asking.ask(whether, { edits }))?.passed === false;
  return edits.length === 0 ? null : { whether, change: { edits }, gap: ownRandomWords(paths), confirmed };
}

export async function numberTypes(asking: Asking): Promise<Raised | null> {
  const changed = await changedIn(asking, (path) => path.endsWith(".rs"));
  const isBrought = changed.some(({ was, is }) => bringsEquality(was, is));
  const edits = isBrought ? editsOf(await judgingFilesIn(asking, /\.rs$/), withStrictNumberTypes) : [];
  const paths = edits.map(({ path }) => path);
  return edits.length === 0
    ? null
    : { whether: `${paths.join(", ")} compares numbers with numbers`, change: { edits }, gap: oneTypeWords(paths) };
}

export async function replacedFunctions(asking: Asking): Promise<string | null> {
  const { lab, setting, ask } = asking;
  const changed = await changedIn(asking, (path) => /\.[ch]$/.test(path));
  if (changed.length === 0) return null;
  const headers = [...setting.base].filter((path) => path.endsWith(".h")).slice(0, filesReadMax);
  const texts = await Promise.all(headers.map((path) => lab.textAt("base", path)));
  const tests = (await judgingFilesIn(asking, /\.(?:c|cc|cpp)$/)).map(({ text }) => text);
  const open = strangersIn(
    changed.filter(({ path }) => !isJudging(asking, path)),
    { headers: texts.join("\n"), tests: tests.join("\n") },
  );
  const isKnown = async (some: readonly Definition[]): Promise<boolean> =>
    some.length > 0 &&
    (await ask("a new function takes the place of one of the system's", { command: systemKnows(some.map(({ name }) => name)) }))?.passed ===
      true;
  if (!(await isKnown(open))) return null;
  const taken: Definition[] = [];
  for (const one of open.slice(0, takenMax)) if (await isKnown([one])) taken.push(one);
  return strangersWords(taken.length === 0 ? open : taken);
}
const takenMax = 6;

/** The base's files that judge, as they are judged. */
const judgingFilesIn = (asking: Asking, ending: RegExp): Promise<readonly Text[]> =>
  testsIn(asking, (path) => ending.test(path) && isJudging(asking, path));

const editsOf = (texts: readonly Text[], change: (path: string, text: string) => string | null): readonly Edit[] =>
  texts.flatMap(({ path, text }) => {
    const other = change(path, text);
    return other === null ? [] : [{ path, text: other }];
  });
