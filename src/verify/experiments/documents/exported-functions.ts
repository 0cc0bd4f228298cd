// exported-functions: finds the modules of a project that export the functions which documents call.
// Invariants D1 and on: verify/experiments/documents/wrong-examples.ts.

import { detectLanguage, isProgramText } from "../../protected/kinds.ts";
import { maskText } from "../../protected/mask-text.ts";
import { isJudging, type QuestionContext, type TextFile } from "../questions/question-context.ts";
import { findDefinitions } from "../source-text/definitions.ts";
import type { ExampleLanguage } from "./example-block.ts";
import type { ExampleModules } from "./example-programs.ts";
import { doesReachOut, reachesOut } from "./one-liners.ts";

/** Copies, and programs that use the project. */
const otherFolder =
  /(?:^|\/)(?:node_modules|vendor|third_party|dist|build|out|examples?|docs?|bench\w*|\.[^/]+)\//;
/** Declarations without code, and files with more than code. */
const otherFile = /\.d\.[cm]?ts$|\.(?:vue|svelte)$/;
/** In a project with more modules none is read. */
const modulesMax = 400;

/** `export { mean, sum as total }`, `module.exports = { mean }`: the names. */
const exportList = /\bexport\s*\{([^}]*)\}(?!\s*from)|\bmodule\.exports\s*=\s*\{?([^}]*)/g;

/** The only module that exports each of these functions, if it does not reach out (D2). */
export async function findExportingModules(
  context: QuestionContext,
  calledNames: ReadonlySet<string>,
): Promise<ExampleModules> {
  const files = await readModules(context);
  return {
    js: findOnlyExporters(files, calledNames, "js"),
    py: findOnlyExporters(files, calledNames, "py"),
  };
}

async function readModules(context: QuestionContext): Promise<readonly TextFile[]> {
  const { lab } = context;
  const isModule = (path: string): boolean =>
    isProgramText(path) &&
    ["js", "py"].includes(detectLanguage(path) ?? "") &&
    !otherFile.test(path) &&
    !otherFolder.test(path) &&
    !isJudging(context, path);

  const paths = (await lab.pathsAt("work")).filter(isModule);
  if (paths.length > modulesMax) return [];
  return Promise.all(
    paths.map(async (path) => ({ path, text: (await lab.textAt("work", path)) ?? "" })),
  );
}

/** For each function that is called, the path of the only module of this language that has it. */
function findOnlyExporters(
  files: readonly TextFile[],
  calledNames: ReadonlySet<string>,
  language: ExampleLanguage,
): ReadonlyMap<string, string> {
  const exporters = new Map<string, readonly TextFile[]>();
  for (const file of files) {
    if (detectLanguage(file.path) !== language) continue;
    for (const name of listExports(file)) {
      if (calledNames.has(name)) exporters.set(name, [...(exporters.get(name) ?? []), file]);
    }
  }

  const paths = new Map<string, string>();
  for (const [name, [file, ...others]] of exporters) {
    const isOnly = file !== undefined && others.length === 0;
    if (isOnly && !mayReachOut(name, file, language)) paths.set(name, file.path);
  }

  return paths;
}

/** Whether a function may do something outside, by its name, its path or its module's code. */
function mayReachOut(name: string, { path, text }: TextFile, language: ExampleLanguage): boolean {
  const words = `${name} ${path}`.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll(/[_-]/g, " ");
  return reachesOut.test(words) || doesReachOut(maskText(text, language, "comments"));
}

/** The functions that a module exports; in Python all at its top. */
export function listExports(file: TextFile): readonly string[] {
  const functions = findDefinitions(file.path, file.text).filter(({ isFunction }) => isFunction);

  if (detectLanguage(file.path) === "js") {
    const listedNames = readExportLists(file.text);
    const exported = functions.filter(
      ({ name, text }) => /^(?:export|(?:module\.)?exports\.)/.test(text) || listedNames.has(name),
    );
    return exported.map(({ name }) => name);
  }

  const topLevel = functions.filter(({ from, text }) => {
    const startsLine = /(?:^|\n)$/.test(file.text.slice(0, from));
    return startsLine && /^(?:async\s+)?def\b/.test(text);
  });
  return topLevel.map(({ name }) => name);
}

function readExportLists(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [, exported, assigned] of text.matchAll(exportList)) {
    const entries = (exported ?? assigned ?? "").split(/\s*[,;\n]\s*/);
    for (const entry of entries) names.add(entry.replace(/[:(].*/s, "").trim());
  }

  return names;
}
