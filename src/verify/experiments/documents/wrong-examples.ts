// wrong-examples: finds examples in documents of the work that say what a call gives
// (usage-examples.ts), where it gives something else. The calls are evaluated by a program of ours
// (example-programs.ts), in a checkout with the work.
//
// Invariants:
//   D1. Only what the work wrote is compared: an example that the document did not have before. Of
//       several of one call, the last one counts.
//   D2. Only functions that exactly one module of the project exports, and that do not reach out by
//       their words (one-liners.ts).
//   D3. What differs is evaluated a second time before it is reported: a result may be another one
//       each time. It is not reported either if it is what the code gave before the work, since a
//       document may speak of that.

import { createNonce } from "../broken-expectations/choose-flips.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import {
  type ChangedFile,
  type QuestionContext,
  readChanged,
} from "../questions/question-context.ts";
import type { ExampleBlock, ExampleStep, ExpectedResult } from "./example-block.ts";
import {
  buildExamplePrograms,
  type Comparison,
  type ExampleModules,
  readComparisons,
} from "./example-programs.ts";
import { findExportingModules } from "./exported-functions.ts";
import { findUsageExamples, type KnownFunctions } from "./usage-examples.ts";

const documentFile = /\.(?:md|markdown|mdx|rst|adoc|txt)$/i;
/** `>>> `, or a fence with the name of a script language. */
const exampleBegin =
  /^\s*>>> |^\s*(?:`{3,}|~{3,})\s*(?:m?js|cjs|jsx|javascript|[mc]?ts|tsx|typescript|node)\b/m;
const documentsMax = 5;
const atMostMs = 60_000;
const shownCharsMax = 60;

/** What the wrong examples of the work's documents say, as a gap; null if there are none. */
export async function findWrongExamples(context: QuestionContext): Promise<string | null> {
  const changed = await readChanged(context, (path) => documentFile.test(path));
  const documents = changed.filter(hasExamples);
  if (documents.length === 0) return null;

  const project = await readProject(context, documents);
  const gaps: string[] = [];
  for (const document of documents.slice(0, documentsMax)) {
    const blocks = selectNewExamples(document, project.modules, project.packageName);
    const wrong = blocks === null ? null : await findFirstWrong(context, blocks, project.modules);
    if (wrong !== null) gaps.push(`${document.path} says ${wrong}`);
  }

  return gaps.length === 0 ? null : gaps.join("; ");
}

type EvaluatedExamples = {
  readonly calls: readonly string[];
  /** The results that the document says they have. */
  readonly results: ReadonlySet<string>;
};

/** The calls in a document that are evaluated, and their results as it says them. */
export async function listEvaluatedExamples(
  context: QuestionContext,
  document: ChangedFile,
): Promise<EvaluatedExamples> {
  const mayBeEvaluated = documentFile.test(document.path) && hasExamples(document);
  if (!mayBeEvaluated) return { calls: [], results: new Set() };

  const { modules, packageName } = await readProject(context, [document]);
  const blocks = selectNewExamples(document, modules, packageName) ?? [];
  const steps = blocks.flatMap((block) => block.steps.filter(({ expected }) => expected !== null));
  return {
    calls: steps.map(({ code }) => code),
    results: new Set(steps.flatMap(({ expected }) => Object.values(expected ?? {}))),
  };
}

const hasExamples = ({ is: text }: ChangedFile): boolean => exampleBegin.test(text);

type ExampleProject = { readonly modules: ExampleModules; readonly packageName: string };

/** What the project has of what these documents call. */
async function readProject(
  context: QuestionContext,
  documents: readonly ChangedFile[],
): Promise<ExampleProject> {
  const calls = documents.flatMap(({ is: text }) => [...text.matchAll(/([A-Za-z_$][\w$]*)\(/g)]);
  const calledNames = new Set(calls.map(([, name = ""]) => name));
  const manifest = (await context.lab.textAt("work", "package.json")) ?? "";

  return {
    modules: await findExportingModules(context, calledNames),
    packageName: /^\s*"name"\s*:\s*"([^"]+)"/m.exec(manifest)?.[1] ?? "",
  };
}

/** The document's blocks with the results that are new in them (D1); null if none is. */
export function selectNewExamples(
  { was, is }: Pick<ChangedFile, "was" | "is">,
  modules: ExampleModules,
  packageName: string,
): readonly ExampleBlock[] | null {
  const known = toKnownFunctions(modules, packageName);
  const toKey = ({ code, expected }: ExampleStep): string => JSON.stringify([code, expected]);
  const earlierSteps = findUsageExamples(was ?? "", known).flatMap(({ steps }) => steps);
  const earlierKeys = new Set(earlierSteps.map(toKey));

  const blocks = findUsageExamples(is, known);
  const lastSteps = new Map<string, ExampleStep>();
  for (const step of blocks.flatMap(({ steps }) => steps)) {
    if (step.expected !== null) lastSteps.set(step.code, step);
  }

  const isNew = (step: ExampleStep): boolean =>
    !earlierKeys.has(toKey(step)) && lastSteps.get(step.code) === step;
  const hasNew = blocks.some(({ steps }) =>
    steps.some((step) => step.expected !== null && isNew(step)),
  );
  if (!hasNew) return null;

  return blocks.map(({ language, steps }) => ({
    language,
    steps: steps.map((step) => (isNew(step) ? step : { ...step, expected: null })),
  }));
}

function toKnownFunctions(modules: ExampleModules, packageName: string): KnownFunctions {
  const pythonNames = new Set(
    [...modules.py.values()].flatMap((path) => path.replace(/\.py$/, "").split("/")),
  );

  return {
    names: { js: new Set(modules.js.keys()), py: new Set(modules.py.keys()) },
    isOwnModule: (module) =>
      /^\.{0,2}\//.test(module) ||
      `${module}/`.startsWith(`${packageName}/`) ||
      module.startsWith(".") ||
      pythonNames.has(module.split(".")[0] ?? ""),
  };
}

/** What the first wrong example says, and what is so; null if none is wrong. */
async function findFirstWrong(
  context: QuestionContext,
  blocks: readonly ExampleBlock[],
  modules: ExampleModules,
): Promise<string | null> {
  const { lab, runWith } = context;
  const nonce = createNonce(`${lab.seed} answers`);
  const programs = buildExamplePrograms({ blocks, modules, nonce });
  const { edits, command } = programs;

  const read = (observed: Observed | null): readonly Comparison[] =>
    readComparisons(observed?.readOutput?.() ?? "", programs, nonce);
  const evaluate = async (): Promise<readonly Comparison[]> =>
    read(await runWith(null, { edits, command, atMostMs }));

  const differing = (await evaluate()).filter(({ other }) => other !== null);
  if (differing.length === 0) return null;
  const repeated = new Set((await evaluate()).map(toComparisonKey)); // D3
  const steady = differing.filter((comparison) => repeated.has(toComparisonKey(comparison)));
  if (steady.length === 0) return null;

  const before = read(await lab.run("base", edits, [], command));
  const rightBefore = new Set(before.filter(({ other }) => other === null).map(toStepKey));
  const wrong = steady.find((comparison) => !rightBefore.has(toStepKey(comparison)));
  return wrong === undefined ? null : describeWrong(wrong, blocks);
}

function describeWrong(
  { block, step, other }: Comparison,
  blocks: readonly ExampleBlock[],
): string | null {
  const example = blocks[block]?.steps[step];
  if (example === undefined || example.expected === null) return null;
  const documented = shorten(describeExpected(example.expected));
  return `that ${shorten(example.code)} ${documented}, but it is ${shorten(other ?? "")}`;
}

function describeExpected(expected: ExpectedResult): string {
  if ("error" in expected) return `throws ${expected.error || "an error"}`;
  return `is ${"value" in expected ? expected.value : expected.text}`;
}

const toStepKey = ({ block, step }: Comparison): string => `${block} ${step}`;
const toComparisonKey = (comparison: Comparison): string =>
  `${toStepKey(comparison)} ${comparison.other ?? ""}`;

const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > shownCharsMax ? `${line.slice(0, shownCharsMax)}…` : line;
};
