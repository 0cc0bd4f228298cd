// untouched-subject: finds work that leaves a function as it is of which the goal says what it must
// do. Its tests may then ask other functions, put together as the goal wanted them to be. Pure,
// except for reading.
//
// Invariants:
//   S1. Only if a sentence of the goal begins with the function (`fetchJson() must retry`), and
//       exactly one file of the project defines it, which the work did not change.
//   S2. What that file, or an unchanged file that it names, names may have changed what the
//       function does: then nothing is said, nor if the code finds other files by itself, or
//       settings were changed.

import { basename, dirname } from "node:path/posix";
import { detectLanguage, isProgramText } from "../../protected/kinds.ts";
import { filesReadMax } from "../lab.ts";
import { findDefinitions } from "../source-text/definitions.ts";
import { isTest, type QuestionContext, readSources, type TextFile } from "./question-context.ts";

/** What a function must do; not what is to be done with it, or beside it. A list, by words. */
const demand =
  /(?:^|[.;!?\n]\s*)(?:(?:make|let|have)\s+)?`?([A-Za-z_$][\w$]*)\(\)`?\s+(?:must|should|shall|has to|needs to)\s+(?!not\b|be\b|have (?:tests?|docs?|types?|an? (?:test|example|type))|get (?:tests?|docs?|types?)|stay\b|remain\b|keep\b)/g;
/** Code that finds other code or data by itself. */
const findsFiles =
  /\b(?:readdir\w*|glob\w*|scandir|listdir|iterdir|walk|import_module|pkgutil|entry_points|register\w*|subscribe|plugins?)\b|\bimport\s*\(|\brequire\s*\(\s*[^"'`\s]/i;

export async function findUntouchedSubjects(context: QuestionContext): Promise<string | null> {
  const { goal = "", differences, lab } = context;
  const names = [...new Set([...goal.matchAll(demand)].map(([, name = ""]) => name))];
  if (names.length === 0) return null;
  const changed = differences.map(({ path }) => path).filter((path) => !isTest(context, path));
  const isCode = (path: string): boolean => isScript(path) && isProgramText(path);
  if (!(await readSources(context)).some(({ path }) => isCode(path))) return null;

  const paths = (await lab.pathsAt("work"))
    .filter((path) => isCode(path) && !isTest(context, path))
    .slice(0, filesReadMax);
  const files = await Promise.all(
    paths.map(async (path) => ({ path, text: (await lab.textAt("work", path)) ?? "" })),
  );
  const untouched = names.filter((name) => isUntouched(name, files, changed));
  return untouched.length === 0 ? null : describeUntouched(untouched);
}

const isScript = (path: string): boolean => /^(?:js|py)$/.test(detectLanguage(path) ?? "");

/** `changed`: all files but tests that the work changed. */
export function isUntouched(
  name: string,
  files: readonly TextFile[],
  changed: readonly string[],
): boolean {
  const defining = files.filter(({ path, text }) =>
    findDefinitions(path, text).some((one) => one.name === name && one.isFunction),
  );
  const [first] = defining;
  if (first === undefined || defining.length > 1 || changed.includes(first.path)) return false; // S1

  const queue = [first];
  const seen = new Set([first.path]);
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const { text } = file;
    if (findsFiles.test(text)) return false; // S2
    const words = new Set(text.match(/[\w$-]+/g));
    if (changed.some((path) => mayBeNamed(path, words) || isSetting(path))) return false;
    for (const other of files) {
      if (seen.has(other.path) || !mayBeNamed(other.path, words)) continue;
      seen.add(other.path);
      queue.push(other);
    }
  }

  return true;
}

/** Whether a text has the name of a file, or of the folder that it stands for. */
function mayBeNamed(path: string, words: ReadonlySet<string>): boolean {
  const stem = basename(path).split(".")[0] ?? "";
  return (
    words.has(stem) ||
    (/^(?:index|__init__|mod|main)$/.test(stem) && words.has(basename(dirname(path)) || stem))
  );
}

const isSetting = (path: string): boolean =>
  /(?:^|\/)(?:package(?:-lock)?\.json|pyproject\.toml|setup\.(?:py|cfg)|requirements[\w-]*\.txt|[\w.-]*(?:config|rc|settings)[\w.-]*)$/.test(
    path,
  );

export function describeUntouched(names: readonly string[]): string {
  const functions = names.map((name) => `${name}()`).join(" and ");
  const [it, was] = names.length === 1 ? ["it", "it loads"] : ["they", "they load"];
  return `the goal says what ${functions} must do, and neither ${it} nor anything ${was} was changed`;
}
