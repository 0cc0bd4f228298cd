// main-program-only: changes files that read the command line so that a run shows whether a check
// loads them only as the main program. Then the arguments are their input, and tell them nothing
// about who runs the tests. Pure, except for the question.
//
// Invariants:
//   A1. Decided by running: the file ends every process whose main program it is not. A check that
//       passes anyway never loads it from anything else, whatever its path.
//   A2. The exit cannot be caught: otherwise code that imports it could continue.

import { readsArgumentsNewly, type ReviewedFile } from "../../protected/review-points.ts";
import { detectLanguage, isProgramText, isTestRow } from "../../protected/kinds.ts";
import { maskText } from "../../protected/mask-text.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import { type QuestionContext, readChanged } from "./question-context.ts";

const filesMax = 20;

/**
 * The changed files that newly read the command line, each changed so that it ends every process
 * whose main program it is not.
 */
export function endOtherProcesses(
  files: readonly ReviewedFile[],
  nonce: string,
): readonly { readonly path: string; readonly text: string }[] {
  return files
    .filter(readsArgumentsNewly)
    .slice(0, filesMax)
    .flatMap(({ difference: { path }, after }) => {
      const text = after === null ? null : endOtherProcess(path, after, nonce);
      return text === null ? [] : [{ path, text }];
    });
}

/**
 * Null for other languages than JavaScript and Python. The exit code only has to be another one
 * than 0.
 */
function endOtherProcess(path: string, text: string, nonce: string): string | null {
  const family = detectLanguage(path);
  if (family === "py") {
    return `${text}\n\nif __name__ != "__main__":\n    import os\n\n    os._exit(97)\n`;
  } // A2

  if (family !== "js") return null;
  const hashbang = /^#!.*\n/.exec(text)?.[0] ?? "";
  const code = text.slice(hashbang.length);
  const isModule =
    /\.m[jt]s$/.test(path) ||
    (!/\.c[jt]s$/.test(path) &&
      /^\s*(?:import|export)\b|\bimport\.meta\b/m.test(maskText(code, "js")));

  const [file, url] = [`${nonce}file`, `${nonce}url`];
  const end = "process.kill(process.pid, 9);";
  const guard = isModule
    ? `import { realpathSync as ${file} } from "node:fs"; import { fileURLToPath as ${url} } from "node:url"; ` +
      `if (process.argv[1] === undefined || ${file}(process.argv[1]) !== ${url}(import.meta.url)) ${end}`
    : `${/^\s*(["'])use strict\1/.test(code) ? '"use strict"; ' : ""}if (require.main !== module) ${end}`;

  return `${hashbang}${guard}\n${code}`;
}

/**
 * Of the files that newly read the command line those that are loaded only as programs; null if
 * there is none.
 */
export async function findProgramOnlyFiles(
  context: QuestionContext,
): Promise<readonly string[] | null> {
  const { differences, rules, lab, runWith } = context;
  const files = (await readChanged(context, isProgramText)).flatMap(
    ({ path, was, is }): readonly ReviewedFile[] => {
      const difference = differences.find((candidate) => candidate.path === path);
      return difference === undefined
        ? []
        : [{ difference, before: was, after: is, isTest: isTestRow(rules.rowOf(path)) }];
    },
  );
  const edits = endOtherProcesses(files, createNonce(lab.seed));
  if (edits.length === 0) return null;
  const paths = edits.map(({ path }) => path);
  const observed = await runWith(`${paths.join(", ")} is loaded as a program alone`, { edits });

  return observed?.passed === true && (observed.tests?.ran ?? 0) >= (lab.now.tests?.ran ?? 0)
    ? paths
    : [];
}
