// shared-questions: experiments on what tests share with the code under test (shared-with-code.ts, comparison-definitions.ts), each one run and only if the
// change contains such a thing.
// Invariants O1 and on: verify/experiments/questions/shared-with-code.ts.

import { isProgramText } from "../../protected/kinds.ts";
import { judges } from "../../protected/programs.ts";
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
import { type Asking as Comparing, comparersGap } from "./restore-definitions.ts";

type Text = { readonly path: string; readonly text: string };
export type Sharing = Comparing & {
  readonly ask: (
    whether: string,
    change: { readonly edits?: readonly Edit[]; readonly without?: readonly string[]; readonly command?: string },
  ) => ReturnType<Comparing["ask"]>;
};

export async function sharedGaps(asking: Sharing): Promise<readonly string[]> {
  const gaps = [await comparersGap(asking), await randomGap(asking), await numberTypesGap(asking), await replacedFunctionsGap(asking)];
  return gaps.flatMap((gap) => gap ?? []);
}

const isTest = ({ setting }: Sharing, path: string): boolean => setting.rowOf(path)?.kind === "test" || judges.test(path);

/** The base's files that judge, as they are judged. */
async function judgingFilesIn(asking: Sharing, ending: RegExp): Promise<readonly Text[]> {
  const { setting, lab } = asking;
  const paths = [...setting.base].filter((path) => ending.test(path) && isProgramText(path) && isTest(asking, path)).slice(0, filesReadMax);
  return (await Promise.all(paths.map(async (path) => ({ path, text: (await lab.textAt("work", path)) ?? "" })))).filter(
    ({ text }) => text !== "",
  );
}

async function randomGap(asking: Sharing): Promise<string | null> {
  if (!asking.differences.some(({ path, kind }) => kind !== "deleted" && path.endsWith(".py"))) return null;
  const edits = editsOf(await judgingFilesIn(asking, /\.py$/), withOwnRandom);
  const paths = edits.map(({ path }) => path);
  const isRed = async (): Promise<boolean> =>
    (await asking.ask(`it passes if ${paths.join(", ")} draws by chance alone`, { edits }))?.passed === false;
  return edits.length > 0 && (await isRed()) && (await isRed()) ? ownRandomWords(paths) : null;
}

async function numberTypesGap(asking: Sharing): Promise<string | null> {
  const { differences, lab } = asking;
  let isBrought = false;
  for (const { path, kind } of differences)
    if (kind !== "deleted" && path.endsWith(".rs"))
      isBrought ||= bringsEquality(await lab.textAt("base", path), (await lab.textAt("work", path)) ?? "");
  const edits = isBrought ? editsOf(await judgingFilesIn(asking, /\.rs$/), withStrictNumberTypes) : [];
  if (edits.length === 0) return null;
  const paths = edits.map(({ path }) => path);
  const observed = await asking.ask(`${paths.join(", ")} compares numbers with numbers`, { edits });
  return observed?.passed === false ? oneTypeWords(paths) : null;
}

async function replacedFunctionsGap(asking: Sharing): Promise<string | null> {
  const { differences, lab, setting, ask } = asking;
  const ofC = differences.filter(({ path, kind }) => kind !== "deleted" && /\.[ch]$/.test(path)).slice(0, filesReadMax);
  if (ofC.length === 0) return null;
  const changed = await Promise.all(
    ofC.map(async ({ path }) => ({ path, was: await lab.textAt("base", path), is: (await lab.textAt("work", path)) ?? "" })),
  );
  const headers = [...setting.base].filter((path) => path.endsWith(".h")).slice(0, filesReadMax);
  const texts = await Promise.all(headers.map((path) => lab.textAt("base", path)));
  const tests = (await judgingFilesIn(asking, /\.(?:c|cc|cpp)$/)).map(({ text }) => text);
  const open = strangersIn(
    changed.filter(({ path }) => !isTest(asking, path)),
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

const editsOf = (texts: readonly Text[], change: (path: string, text: string) => string | null): readonly Edit[] =>
  texts.flatMap(({ path, text }) => {
    const other = change(path, text);
    return other === null ? [] : [{ path, text: other }];
  });
