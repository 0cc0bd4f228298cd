// generated-files: makes files again that say that a program of the project made them, in a
// checkout with the work, and compares them with what the work left.
//
// Invariants:
//   F1. A file is asked about if the work changed it, or the program that its header names. What
//       the goal says of a changed file without a header counts as one ("tools/gen.py must write
//       data/units.json").
//   F2. It is taken away first. A program that only changes what is there runs with it; one that
//       prints it instead need not write it.
//   F3. A command that fails, makes nothing, or reaches out shows nothing, and neither does one
//       that made something else of the file before the work, too. Neither does a checkout in which
//       something that the work changed is as before.
//   F4. What is different is made twice before it is told: it may be another one each time.

import { listSome } from "../../../kit/list-some.ts";
import { textBytesMax } from "../../protected/read-change.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { makefileNames } from "../../gates/named-commands.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import { filesReadMax, type Side } from "../lab.ts";
import { shellWord } from "../../../kit/shell-word.ts";
import { isAsMade } from "./generated-text.ts";
import {
  findGenerators,
  type Generator,
  type GeneratorProject,
  isGeneratorProgram,
  isNamedIn,
  readGeneratedHeader,
  readGoalOfMaking,
} from "./generator-commands.ts";
import { type QuestionContext, readChanged } from "../questions/question-context.ts";

const filesMax = 4;
const atMostMs = 60_000;
const shownCharsMax = 50_000;
const generatorsReadMax = 200;

/** Words of programs that use the network: they may not be made to, and could write another thing. */
const usesNetwork =
  /\bfetch\s*\(|["'`](?:node:)?(?:https?2?|net|tls|dgram)["'`]|\b(?:urllib|requests|httpx|aiohttp|socket|LWP|curl|wget)\b|\bopen-uri\b|\bNet::|"net\/http"/;

type GeneratedFile = { readonly path: string; readonly generators: readonly Generator[] };

/** What making files again showed. */
export type Remaking = {
  /** What a person has to review, as text. */
  readonly gap: string | null;
  /** Files that came out the same. */
  readonly madeAgain: readonly string[];
};

export async function makeFilesAgain(context: QuestionContext): Promise<Remaking> {
  const others: string[] = [];
  const madeAgain: string[] = [];

  for (const { path, generators } of await findGeneratedFiles(context)) {
    const result = await makeAgain(context, path, generators);
    if (result === "same") madeAgain.push(path);
    else if (result !== null) others.push(`${path} is not what ${result.maker} writes`);
  }

  return { gap: others.length === 0 ? null : listSome(others), madeAgain };
}

/** F1 */
async function findGeneratedFiles(context: QuestionContext): Promise<readonly GeneratedFile[]> {
  const headers = new Map([
    ...(await findChangedOutputs(context)),
    ...(await findOutputsOfChanged(context)),
  ]);
  if (headers.size === 0) return [];
  const project = await readProject(context);
  const files: GeneratedFile[] = [];

  for (const [path, header] of headers) {
    const generators = findGenerators(path, header, project);
    if (generators.length > 0 && !(await mayUseNetwork(context, generators))) {
      files.push({ path, generators });
    }
  }

  return files.slice(0, filesMax);
}

/** Changed files whose first lines say that they are made, now or before the work. */
async function findChangedOutputs(
  context: QuestionContext,
): Promise<readonly (readonly [path: string, header: string])[]> {
  const changed = await readChanged(context, () => true);
  const found: (readonly [string, string])[] = [];

  for (const { path, was, is } of changed) {
    const header =
      readGeneratedHeader(is) ||
      readGeneratedHeader(was ?? "") ||
      readGoalOfMaking(path, context.goal ?? "");
    if (header !== "") found.push([path, header]);
  }

  return found;
}

/**
 * Unchanged files that changed programs, or tasks that run these, name, and whose first lines say
 * that those programs made them.
 */
async function findOutputsOfChanged(
  context: QuestionContext,
): Promise<readonly (readonly [path: string, header: string])[]> {
  const { differences, lab } = context;
  const isMaker = (path: string): boolean => isProgramText(path) && isGeneratorProgram(path);
  const programs = (await readChanged(context, isMaker)).filter(({ was }) => was !== null);
  if (programs.length === 0) return [];
  const tasks = [await lab.textAt("work", "package.json"), ...(await readMakefiles(context))];
  const words = [...programs.map(({ is }) => is), ...tasks].join("\n");
  const changed = new Set(differences.map(({ path }) => path));
  const found: (readonly [string, string])[] = [];
  let read = 0;

  for (const path of await lab.pathsAt("work")) {
    const name = path.split("/").at(-1) ?? path;
    if (changed.has(path) || !name.includes(".") || !words.includes(name)) continue;
    if (read === filesReadMax) break;
    read += 1;
    const header = readGeneratedHeader((await lab.textAt("work", path)) ?? "");
    if (programs.some((program) => isNamedIn(header, path, program.path))) {
      found.push([path, header]);
    }
  }

  return found;
}

async function readProject(context: QuestionContext): Promise<GeneratorProject> {
  const { lab } = context;
  const paths = await lab.pathsAt("work");
  const goPaths = paths.filter((path) => path.endsWith(".go")).slice(0, generatorsReadMax);
  const hasGo = context.differences.some(({ path }) => path.endsWith(".go"));

  const goFiles = !hasGo
    ? []
    : await Promise.all(
        goPaths.map(async (path) => ({ path, text: (await lab.textAt("work", path)) ?? "" })),
      );
  return {
    programs: paths.filter(isGeneratorProgram),
    manifest: await lab.textAt("work", "package.json"),
    makefiles: await readMakefiles(context),
    goFiles: goFiles.filter(({ text }) => text.includes("//go:generate")),
  };
}

async function readMakefiles({ lab }: QuestionContext): Promise<readonly string[]> {
  const texts = await Promise.all(makefileNames.map((name) => lab.textAt("work", name)));
  return texts.filter((text) => text !== null).slice(0, 1);
}

/** F3 */
async function mayUseNetwork(
  { lab }: QuestionContext,
  generators: readonly Generator[],
): Promise<boolean> {
  const makers = new Set(generators.map(({ maker }) => maker));
  const texts = await Promise.all([...makers].map((maker) => lab.textAt("work", maker)));
  return texts.some((text) => usesNetwork.test(text ?? ""));
}

/** What makes something else of the file than was left; null if nothing shows what it would be. */
async function makeAgain(
  context: QuestionContext,
  path: string,
  generators: readonly Generator[],
): Promise<Generator | "same" | null> {
  let other: Generator | null = null;
  for (const generator of generators) {
    const isLeft = await isAsLeft(context, "work", path, generator);
    if (isLeft === true) return "same";
    if (isLeft === false) other ??= generator;
  }

  if (other === null || !(await wasMadeSo(context, path, generators))) return null;
  return (await isWorkWhole(context)) ? other : null;
}

/** Whether nothing that the work changed is judged as before: programs may read it (F3). */
async function isWorkWhole({
  commit,
  differences,
  lab,
  workspace,
}: QuestionContext): Promise<boolean> {
  for (const { path } of differences.slice(0, filesReadMax)) {
    const text = await workspace.textAt(commit, path, textBytesMax);
    if (text !== (await lab.textAt("work", path))) return false;
  }

  return true;
}

/**
 * Whether the file is what the program writes on this side; undefined if it writes nothing, null if
 * that is another text each time (F4).
 */
async function isAsLeft(
  context: QuestionContext,
  side: Side,
  path: string,
  generator: Generator,
): Promise<boolean | null | undefined> {
  const first = await make(context, side, path, generator);
  if (first === null) return undefined;
  if (first === "same") return true;
  if (!first.isCut && isAsMade(first.left, [first.made]) === true) return true;

  const second = await make(context, side, path, generator);
  if (second === null || second === "same") return null;
  if (first.isCut) return first.digest === second.digest ? false : null; // too long to tell what differs
  return isAsMade(first.left, [first.made, second.made]);
}

/** Whether the file was what its program wrote before the work, if both were there (F3). */
async function wasMadeSo(
  context: QuestionContext,
  path: string,
  generators: readonly Generator[],
): Promise<boolean> {
  if (readGeneratedHeader((await context.lab.textAt("base", path)) ?? "") === "") return true;
  let isOther = false;

  for (const generator of generators) {
    const wasLeft = await isAsLeft(context, "base", path, generator);
    if (wasLeft === true) return true;
    if (wasLeft !== undefined) isOther = true;
  }

  return !isOther;
}

/** What was left and what is made, or that both are the same. */
type Made =
  | "same"
  | {
      readonly left: string;
      readonly made: string;
      readonly digest: string;
      /** Whether only the beginnings are known. */
      readonly isCut: boolean;
    };

/** Makes the file again; null if the command fails, or makes nothing. */
async function make(
  { lab, runWith }: QuestionContext,
  side: Side,
  path: string,
  { command }: Generator,
): Promise<Made | null> {
  const mark = createNonce(`${lab.seed} made ${path}`);
  const header = readGeneratedHeader((await lab.textAt(side, path)) ?? "").split("\n")[0] ?? "";
  const script = createScript({ path, command, header, mark });
  const observed =
    side === "base"
      ? await lab.run("base", [], [], script)
      : await runWith(null, { command: script, atMostMs });
  const output = (observed?.readOutput?.() ?? "").replaceAll("\r\n", "\n");

  const [, status, left = "", made = "", digest = ""] = output.split(`\n${mark} `);
  const [how, exitCode, comparison] = status?.trim().split(" ") ?? [];
  if (how === undefined || exitCode !== "0" || how === "untouched") return null;
  if (comparison === "same") return "same";
  const isCut = [left, made].some((text) => text.length >= shownCharsMax);
  return { left, made, digest, isCut };
}

type Script = {
  readonly path: string;
  readonly command: string;
  /** The first line of what is to be printed. */
  readonly header: string;
  readonly mark: string;
};

/** F2 */
function createScript({ path, command, header, mark }: Script): string {
  const file = shellWord(path);
  const isPrinted = header === "" ? "false" : `grep -qF -e ${shellWord(header)} "$kept/printed"`;
  const show = (from: string): string =>
    `printf '\\n%s ' ${mark}; head -c ${shownCharsMax} ${from}`;

  return `exec 2>/dev/null
kept=$(mktemp -d) && cp ${file} "$kept/left" && rm ${file} || exit 0
trap 'rm -rf "$kept"' EXIT
( ${command}
) </dev/null >"$kept/printed"; status=$?
how=made
if [ ! -f ${file} ] && [ $status = 0 ] && ${isPrinted}; then how=printed; cp "$kept/printed" ${file}; fi
if [ ! -f ${file} ]; then
  how=rewritten
  cp "$kept/left" ${file}; touch -t 200001010000 ${file} "$kept/left"
  ( ${command}
  ) </dev/null >/dev/null; status=$?
  [ -n "$(find ${file} -newer "$kept/left")" ] || how=untouched
fi
if cmp -s ${file} "$kept/left"; then printf '\\n%s %s %s same\\n' ${mark} $how $status; exit 0; fi
printf '\\n%s %s %s other\\n' ${mark} $how $status
${show('"$kept/left"')}
${show(file)}
printf '\\n%s %s\\n' ${mark} "$(cksum <${file})"`;
}
