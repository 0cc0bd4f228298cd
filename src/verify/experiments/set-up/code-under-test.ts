// code-under-test: tells code under test from what sets tests up, for modules that both may load:
// by the goal, and by what loaded them before the work.

import { dirname, join } from "node:path/posix";
import { isProgramText } from "../../protected/kinds.ts";
import { findDefinitions } from "../source-text/definitions.ts";
import { findAllLoaded } from "../source-text/loaded-files.ts";
import { type QuestionContext, readTests } from "../questions/question-context.ts";
import type { RestoredConfiguration } from "./test-configuration.ts";

type CodeUnderTest = {
  /** Modules that the goal names, by path or function, or that what packages export loads. */
  readonly owned: ReadonlySet<string>;
  /** Others that older tests load, not by their set-up. */
  readonly tested: ReadonlySet<string>;
};

type Setting = Pick<QuestionContext, "rules" | "differences" | "lab" | "goal">;

export async function findCodeUnderTest(
  context: Setting,
  { paths, loaders }: Pick<RestoredConfiguration, "paths" | "loaders">,
): Promise<CodeUnderTest> {
  const { rules, lab, goal = "" } = context;
  const words = new Set(
    goal.match(/[\w$@][\w$@./-]*/g)?.map((word) => word.replace(/\.+$/, "")) ?? [],
  );
  const textAtBase = (path: string): Promise<string | null> => lab.textAt("base", path);
  const isNamed = async (path: string): Promise<boolean> =>
    [path, path.split("/").at(-1) ?? path].some((name) => words.has(name)) ||
    findDefinitions(path, (await textAtBase(path)) ?? "").some(
      ({ name, isFunction }) => isFunction && words.has(name),
    );

  const code = [...rules.base].filter((path) => isProgramText(path) && rules.rowOf(path) === null);
  const entries = await readEntries([...rules.base], textAtBase);
  const tests = (await readTests(context)).filter(({ path }) => !loaders.includes(path));
  const inProduct = await findAllLoaded(entries, code, textAtBase);
  const inTests = await findAllLoaded(tests, code, textAtBase);

  const owned = new Set<string>();
  for (const path of paths) {
    const isEntry = entries.some((entry) => entry.path === path);
    if (isEntry || inProduct.has(path) || (await isNamed(path))) owned.add(path);
  }

  return { owned, tested: new Set(paths.filter((path) => inTests.has(path) && !owned.has(path))) };
}

const manifestsMax = 20;

/** What packages give to others and start: their main modules, exports and programs. */
async function readEntries(
  paths: readonly string[],
  textOf: (path: string) => Promise<string | null>,
): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const manifests = paths.filter((path) => /(?:^|\/)package\.json$/.test(path));
  const entries = new Set<string>();

  for (const manifest of manifests.slice(0, manifestsMax)) {
    const text = (await textOf(manifest)) ?? "";
    const fields = [...text.matchAll(entryField)].map(([field]) => field);
    const named = fields.flatMap((field) => field.match(/(?<=")[\w@./-]+(?=")/g) ?? []);
    for (const path of ["index.js", ...named]) entries.add(join(dirname(manifest), path));
  }

  const files = [...entries].filter((path) => isProgramText(path) && paths.includes(path));
  return Promise.all(files.map(async (path) => ({ path, text: (await textOf(path)) ?? "" })));
}

/** A field of a manifest, with all that it holds. */
const entryField =
  /"(?:main|module|browser|bin|exports)"\s*:\s*(?:"[^"]*"|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})/g;
