// imported-scripts: finds the files that a check's programs source and import. Only those in tool
// folders, or named like tests, and that nothing else uses: a module that a check inspects is under
// test, not a judge.

import type { StringSet } from "../../kit/as-set.ts";
import { dirname, join, normalize } from "node:path/posix";
import {
  codePathPattern,
  toolPathPattern,
  judgingPathPattern,
  findNamedPaths,
  findPrograms,
} from "./programs.ts";

const filesMax = 30;
const roundsMax = 3;

export async function findImportedScripts(
  programs: ReadonlySet<string>,
  /** Commands and manifests: what they name themselves is used by more than a check. */
  texts: readonly string[],
  paths: StringSet,
  read: (path: string) => Promise<string | null>,
): Promise<ReadonlySet<string>> {
  const scripts = new Set<string>();
  const namedPaths = findNamedPaths(texts);
  let queue = [...programs].filter((path) => paths.has(path)).slice(0, filesMax);
  for (let round = 0; round < roundsMax && queue.length > 0; round++) {
    const next: string[] = [];
    for (const path of queue) {
      const text = await read(path);
      for (const script of text === null ? [] : findUsedScripts(path, text, paths)) {
        if (
          scripts.size >= filesMax ||
          scripts.has(script) ||
          programs.has(script) ||
          namedPaths.has(script)
        ) {
          continue;
        }

        scripts.add(script);
        next.push(script);
      }
    }

    queue = next;
  }

  return scripts;
}

/** `. lib/common.sh`, `source "$HERE/common.sh"`. */
const sourceLine = /^[ \t]{0,80}(?:\.|source)[ \t]{1,9}([^\n;&|]{1,200})/gm;
const jsImport = /(?:\bfrom|\bimport|\brequire)\s{0,9}\(?\s{0,9}["'](\.{1,2}\/[\w./-]{1,200})["']/g;
const pythonImport =
  /^[ \t]{0,80}(?:from[ \t]{1,9}\.{0,2}([A-Za-z_]\w{0,80})[ \t]{1,9}import|import[ \t]{1,9}([A-Za-z_]\w{0,80}))/gm;
const endings = ["", ".js", ".mjs", ".cjs", ".ts", "/index.js", "/index.ts"];

/** The paths that a script may import or run, by its language. */
function listUsedPaths(program: string, text: string): readonly string[] {
  const folder = dirname(program);
  const capture = (pattern: RegExp): readonly string[] =>
    [...text.matchAll(pattern)].map(([, first, second]) => first ?? second ?? "");

  if (/\.[cm]?[jt]s$/.test(program)) {
    return capture(jsImport).flatMap((name) =>
      endings.map((ending) => join(folder, `${name}${ending}`)),
    );
  }

  if (program.endsWith(".py")) {
    return capture(pythonImport).map((name) => join(folder, `${name}.py`));
  }

  const sourced = capture(sourceLine).flatMap(
    (argument) => /([\w.][\w./-]{0,199})["'`\s]*$/.exec(argument)?.[1] ?? [],
  );
  return [
    ...sourced.flatMap((name) => [normalize(name), join(folder, name)]),
    ...findPrograms([text]),
  ];
}

function findUsedScripts(program: string, text: string, paths: StringSet): readonly string[] {
  const isJudgingScript = (path: string): boolean =>
    paths.has(path) &&
    !codePathPattern.test(path) &&
    (toolPathPattern.test(path) || (/\.(?:ba)?sh$/.test(path) && judgingPathPattern.test(path)));
  return listUsedPaths(program, text).filter(isJudgingScript);
}
