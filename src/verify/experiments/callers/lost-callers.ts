// lost-callers: finds code of the project, outside of tests, that calls a changed function as it was
// before the work: tests may give everything that the function takes now, and its users do not.
// Pure, except for reading.
//
// Invariants:
//   L1. JavaScript, TypeScript and Python; a compiler tells it in other languages.
//   L2. Only calls that fitted before, of a name that the calling file imports or defines, and that
//       neither another class nor another file of the project defines.

import { listSome } from "../../../kit/list-some.ts";
import { detectLanguage, isProgramText } from "../../protected/kinds.ts";
import {
  isJudging,
  readSources,
  type QuestionContext,
  type TextFile,
} from "../questions/question-context.ts";
import { type Call, findCalls } from "./calls.ts";
import { findMisfit } from "./misfits.ts";
import { findSignatures, type Signature } from "./signatures.ts";

/** In a project with more files that may call, none is read. */
const callersMax = 400;
const otherFolder = /(?:^|\/)(?:node_modules|vendor|third_party|dist|build|out|coverage|\.[^/]+)\//;
const isMeant = (path: string): boolean =>
  isProgramText(path) &&
  /^(?:js|py)$/.test(detectLanguage(path) ?? "") &&
  !/\.d\.[cm]?ts$|\.(?:vue|svelte)$/.test(path) &&
  !otherFolder.test(path);

type Changed = { readonly path: string; readonly was: Signature; readonly is: Signature };
export type LostCaller = { readonly call: Call; readonly misfit: string };

export async function findLostCallers(context: QuestionContext): Promise<string | null> {
  const { lab } = context;
  const changed = (await readSources(context))
    .filter(({ path }) => isMeant(path))
    .flatMap(findChanged);
  if (changed.length === 0) return null;
  const paths = (await lab.pathsAt("work")).filter(
    (path) => isMeant(path) && !isJudging(context, path),
  );
  if (paths.length > callersMax) return null;
  const files = await Promise.all(
    paths.map(async (path) => ({ path, text: (await lab.textAt("work", path)) ?? "" })),
  );
  const lost = findMisfits(changed, files);
  const steady: LostCaller[] = [];
  for (const one of lost) {
    const before = await lab.textAt("base", one.call.path);
    if (one.isOfPlace !== true || before?.includes(one.call.text) === true) steady.push(one);
  }

  return steady.length === 0 ? null : describeLostCallers(steady);
}

const languageOf = (path: string): "js" | "py" => (detectLanguage(path) === "py" ? "py" : "js");

/** The functions of a file that take something else than before. */
export function findChanged({
  path,
  was,
  is,
}: {
  readonly path: string;
  readonly was: string | null;
  readonly is: string;
}): readonly Changed[] {
  if (was === null) return [];
  const earlier = findSignatures(was, languageOf(path));
  const signatures = findSignatures(is, languageOf(path));
  return signatures.flatMap((now): readonly Changed[] => {
    if (signatures.some((one) => one !== now && one.name === now.name)) return []; // L2
    const before = earlier.find(({ name, owner }) => name === now.name && owner === now.owner);
    const isSame = JSON.stringify(show(before)) === JSON.stringify(show(now));
    return before === undefined || isSame ? [] : [{ path, was: before, is: now }];
  });
}

const show = (signature: Signature | undefined): unknown =>
  signature?.parameters.map(({ fields, ...rest }) => ({ ...rest, fields: [...(fields ?? [])] }));

/** `isOfPlace`: it is lost only if the file had the same call before. */
export function findMisfits(
  changed: readonly Changed[],
  files: readonly TextFile[],
): readonly (LostCaller & { readonly isOfPlace?: true })[] {
  return changed.flatMap(({ path, was, is }) => {
    const language = languageOf(path);
    const word = is.owner ?? is.name;
    const defines = new RegExp(
      `(?:\\bfunction\\*?|\\bclass|\\bdef|\\bconst|\\blet|\\bvar)\\s+${word.replaceAll("$", "\\$")}(?![\\w$])`,
    );
    const isAmbiguous = files.some((file) => file.path !== path && defines.test(file.text)); // L2
    if (isAmbiguous) return [];
    return files
      .filter((file) => languageOf(file.path) === language)
      .flatMap((file) => findCalls(file, { path, name: is.name, owner: is.owner }, language))
      .flatMap((call) => {
        const misfit = findMisfit({ was, is, call, isNew: true }, language);
        if (misfit !== null) return [{ call, misfit }];
        const moved = findMisfit({ was, is, call, isNew: false }, language);
        return moved === null ? [] : [{ call, misfit: moved, isOfPlace: true as const }];
      });
  });
}

const textCharsMax = 60;
export function describeLostCallers(lost: readonly LostCaller[]): string {
  const shown = lost.map(({ call: { path, line, text }, misfit }) => {
    const short = text.replaceAll(/\s+/g, " ");
    return `${short.length > textCharsMax ? `${short.slice(0, textCharsMax)}…` : short} in ${path}:${line} does not give ${misfit}`;
  });
  return `code outside of tests calls changed functions as they were before the work: ${listSome(shown)}`;
}
