// document-answers: finds examples in documents of the work that say what a function answers
// (answer-examples.ts), where it answers something else. The calls are evaluated by a program of
// ours (answer-programs.ts), in a checkout with the work.
//
// Invariants:
//   D1. Only what the work wrote is compared: an example that the document did not have before. Of
//       several of one call, the last one counts.
//   D2. Only functions that exactly one module of the project exports, and that do not reach out by
//       their words (one-liners.ts).
//   D3. What differs is asked a second time before it is told: an answer may be another one each
//       time. It is not told either if it is what the code answered before the work, since a
//       document may speak of that.

import { isProgramText, detectLanguage } from "../../protected/kinds.ts";
import { maskText } from "../../protected/mask-text.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import { findDefinitions } from "../source-text/definitions.ts";
import {
  type AnswerBlock,
  type AnswerFamily,
  type AnswerStep,
  findAnswerBlocks,
  type KnownFunctions,
} from "./answer-examples.ts";
import { type Answer, buildAnswerPrograms, readAnswers } from "./answer-programs.ts";
import { doesReachOut, reachesOut } from "./one-liners.ts";
import {
  type ChangedFile,
  isJudging,
  type QuestionContext,
  readChanged,
  type TextFile,
} from "../questions/question-context.ts";

const documentFile = /\.(?:md|markdown|mdx|rst|adoc|txt)$/i;
/** Copies, and programs that use the project. */
const otherFolder =
  /(?:^|\/)(?:node_modules|vendor|third_party|dist|build|out|examples?|docs?|bench\w*|\.[^/]+)\//;
const documentsMax = 5;
const modulesMax = 400;
const atMostMs = 60_000;
const shownCharsMax = 60;

type Modules = Readonly<Record<AnswerFamily, ReadonlyMap<string, string>>>;

export async function findWrongAnswers(context: QuestionContext): Promise<string | null> {
  const changed = await readChanged(context, (path) => documentFile.test(path));
  const documents = changed.filter(hasExamples);
  if (documents.length === 0) return null;

  const chooseBlocks = await prepareBlocks(context, documents);
  const gaps: string[] = [];
  for (const document of documents.slice(0, documentsMax)) {
    const { blocks, modules } = chooseBlocks(document);
    const wrong = blocks === null ? null : await findWrong(context, blocks, modules);
    if (wrong !== null) gaps.push(`${document.path} says ${wrong}`);
  }

  return gaps.length === 0 ? null : gaps.join("; ");
}

/** The calls in a document whose answers are evaluated, and the answers that it gives. */
export async function listEvaluated(
  context: QuestionContext,
  document: ChangedFile,
): Promise<{ readonly calls: readonly string[]; readonly answers: ReadonlySet<string> }> {
  const isAsked = documentFile.test(document.path) && hasExamples(document);
  if (!isAsked) return { calls: [], answers: new Set() };

  const chooseBlocks = await prepareBlocks(context, [document]);
  const { blocks } = chooseBlocks(document);
  const steps = (blocks ?? []).flatMap((block) => block.steps.filter(({ wanted }) => wanted));
  return {
    calls: steps.map(({ code }) => code),
    answers: new Set(steps.flatMap(({ wanted }) => Object.values(wanted ?? {}))),
  };
}

const hasExamples = ({ is }: ChangedFile): boolean =>
  /^\s*>>> |^\s*(?:`{3,}|~{3,})\s*(?:m?js|cjs|jsx|javascript|[mc]?ts|tsx|typescript|node)\b/m.test(
    is,
  );

/** How to choose the blocks of a document that are evaluated. */
async function prepareBlocks(context: QuestionContext, documents: readonly ChangedFile[]) {
  const calls = documents.flatMap(({ is }) => [...is.matchAll(/([A-Za-z_$][\w$]*)\(/g)]);
  const called = new Set(calls.map(([, name = ""]) => name));
  const modules = await findModules(context, called);
  const manifest = (await context.lab.textAt("work", "package.json")) ?? "";
  const packageName = /^\s*"name"\s*:\s*"([^"]+)"/m.exec(manifest)?.[1] ?? "";
  return (document: ChangedFile) => ({
    blocks: chooseNew(document, modules, packageName),
    modules,
  });
}

/** D2 */
async function findModules(
  context: QuestionContext,
  called: ReadonlySet<string>,
): Promise<Modules> {
  const { lab } = context;
  const isModule = (path: string): boolean =>
    isProgramText(path) &&
    ["js", "py"].includes(detectLanguage(path) ?? "") &&
    !/\.d\.[cm]?ts$|\.(?:vue|svelte)$/.test(path) &&
    !otherFolder.test(path) &&
    !isJudging(context, path);
  const paths = (await lab.pathsAt("work")).filter(isModule);

  const files =
    paths.length > modulesMax
      ? []
      : await Promise.all(
          paths.map(async (path) => ({ path, text: (await lab.textAt("work", path)) ?? "" })),
        );

  return {
    js: findOnlyExporters(files, called, "js"),
    py: findOnlyExporters(files, called, "py"),
  };
}

/** For each function that is called, the path of the only module of this language that has it. */
function findOnlyExporters(
  files: readonly TextFile[],
  called: ReadonlySet<string>,
  family: AnswerFamily,
): ReadonlyMap<string, string> {
  const exporters = new Map<string, readonly TextFile[]>();
  for (const file of files.filter(({ path }) => detectLanguage(path) === family)) {
    for (const name of listExports(file).filter((exported) => called.has(exported))) {
      exporters.set(name, [...(exporters.get(name) ?? []), file]);
    }
  }

  const paths = new Map<string, string>();
  for (const [name, [file, ...others]] of exporters) {
    const isOnly = file !== undefined && others.length === 0;
    if (isOnly && !mayReachOut(name, file, family)) paths.set(name, file.path);
  }

  return paths;
}

function mayReachOut(name: string, { path, text }: TextFile, family: AnswerFamily): boolean {
  const words = `${name} ${path}`.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll(/[_-]/g, " ");
  return reachesOut.test(words) || doesReachOut(maskText(text, family, "comments"));
}

/** The functions that a module exports; in Python all at its top. */
export function listExports({ path, text }: TextFile): readonly string[] {
  const isScript = detectLanguage(path) === "js";
  const listed = [
    ...text.matchAll(/\bexport\s*\{([^}]*)\}(?!\s*from)|\bmodule\.exports\s*=\s*\{?([^}]*)/g),
  ].map(([, names, common]) => names ?? common ?? "");

  const exported = new Set(
    listed.flatMap((names) =>
      names.split(/\s*[,;\n]\s*/).map((name) => name.replace(/[:(].*/s, "").trim()),
    ),
  );

  return findDefinitions(path, text)
    .filter(({ isFunction, from, name, text: whole }) => {
      if (!isFunction) return false;
      if (isScript) return /^(?:export|(?:module\.)?exports\.)/.test(whole) || exported.has(name);
      return /(?:^|\n)$/.test(text.slice(0, from)) && /^(?:async\s+)?def\b/.test(whole);
    })
    .map(({ name }) => name);
}

/** The document's blocks with what is new in them (D1); null if nothing is. */
export function chooseNew(
  { was, is }: Pick<ChangedFile, "was" | "is">,
  modules: Modules,
  packageName: string,
): readonly AnswerBlock[] | null {
  const folders = new Set(
    [...modules.py.values()].flatMap((path) => path.replace(/\.py$/, "").split("/")),
  );

  const known: KnownFunctions = {
    names: { js: new Set(modules.js.keys()), py: new Set(modules.py.keys()) },
    isOwn: (source) =>
      /^\.{0,2}\//.test(source) ||
      `${source}/`.startsWith(`${packageName}/`) ||
      source.startsWith(".") ||
      folders.has(source.split(".")[0] ?? ""),
  };

  const keyOf = ({ code, wanted }: AnswerStep): string => JSON.stringify([code, wanted]);
  const before = new Set(
    findAnswerBlocks(was ?? "", known).flatMap(({ steps }) => steps.map(keyOf)),
  );

  const blocks = findAnswerBlocks(is, known);
  const last = new Map(
    blocks.flatMap(({ steps }) =>
      steps.filter(({ wanted }) => wanted !== null).map((step) => [step.code, step] as const),
    ),
  );

  const chosen = blocks.map(({ family, steps }) => ({
    family,
    steps: steps.map((step) =>
      before.has(keyOf(step)) || last.get(step.code) !== step ? { ...step, wanted: null } : step,
    ),
  }));
  return chosen.some(({ steps }) => steps.some(({ wanted }) => wanted !== null)) ? chosen : null;
}

/** What the first wrong example says, and what is so. */
async function findWrong(
  context: QuestionContext,
  blocks: readonly AnswerBlock[],
  modules: Modules,
): Promise<string | null> {
  const { lab, runWith } = context;
  const nonce = createNonce(`${lab.seed} answers`);
  const programs = buildAnswerPrograms({ blocks, modules, nonce });
  const { edits, command } = programs;

  const read = (observed: Observed | null): readonly Answer[] =>
    readAnswers(observed?.readOutput?.() ?? "", programs, nonce);
  const ask = async (): Promise<readonly Answer[]> =>
    read(await runWith(null, { edits, command, atMostMs }));

  const differing = (await ask()).filter(({ other }) => other !== null);
  const again = new Set(differing.length === 0 ? [] : (await ask()).map(keyOfAnswer)); // D3
  const steady = differing.filter((answer) => again.has(keyOfAnswer(answer)));
  if (steady.length === 0) return null;

  const before = read(await lab.run("base", edits, [], command));
  const wasRight = new Set(before.filter(({ other }) => other === null).map(keyOfStep));
  const wrong = steady.find((answer) => !wasRight.has(keyOfStep(answer)));
  if (wrong === undefined) return null;

  const step = blocks[wrong.block]?.steps[wrong.step];
  if (step === undefined || step.wanted === null) return null;
  const said = shorten(describeWanted(step.wanted));
  return `that ${shorten(step.code)} ${said}, but it is ${shorten(wrong.other ?? "")}`;
}

function describeWanted(wanted: NonNullable<AnswerStep["wanted"]>): string {
  if ("error" in wanted) return `throws ${wanted.error || "an error"}`;
  return `is ${"value" in wanted ? wanted.value : wanted.text}`;
}

const keyOfStep = ({ block, step }: Answer): string => `${block} ${step}`;
const keyOfAnswer = (answer: Answer): string => `${keyOfStep(answer)} ${answer.other ?? ""}`;
const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > shownCharsMax ? `${line.slice(0, shownCharsMax)}…` : line;
};
