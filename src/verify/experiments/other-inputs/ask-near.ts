// ask-near: builds a run of the tests in which each of the work's functions is also called with
// inputs near those that the tests give it: code that knows only the answers to its tests is found
// that way. Pure, except for reading.

import { listSome } from "../../../kit/list-some.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import { literalPattern } from "../broken-expectations/near-values.ts";
import type { Edit } from "../lab.ts";
import type { TestFile } from "../without-runner/plain-program.ts";
import { type QuestionContext, readAllTests, readChanged } from "../questions/question-context.ts";
import { recordC } from "./c-recorder.ts";
import { recordGo } from "./go-recorder.ts";
import { recordJava } from "./java-recorder.ts";
import { recordJs } from "./js-recorder.ts";
import { listNearTexts } from "./near-inputs.ts";
import { buildRecordedCommand, buildSharedCommand, buildComparingCommand } from "./near-records.ts";
import { recordPerl } from "./perl-recorder.ts";
import { recordPython } from "./python-recorder.ts";
import { recordRust } from "./rust-recorder.ts";
import type { Recorder } from "./recorder.ts";

export type NearRecording = {
  readonly edits: readonly Edit[];
  /**
   * A command that runs this one, and exits with 0 if the records show that only the tests' inputs
   * are known.
   */
  readonly alone: (command: string) => string;
  /**
   * The same, but it exits with 0 as well if the command does, or if nothing was recorded: then
   * each has to be run alone.
   */
  readonly beside: (command: string) => string;
  /**
   * Runs a command, and again after each change; exits with 0 if the answers to the tests' inputs
   * changed, and those to inputs nearby did not.
   */
  readonly comparing: (command: string, changes: readonly string[]) => string;
  readonly uniqueName: string;
  readonly functions: readonly string[];
};

const recorders: readonly (readonly [ending: RegExp, recorder: Recorder])[] = [
  [/\.go$/, recordGo],
  [/\.py$/, recordPython],
  [/\.[cm]?[jt]sx?$/, recordJs],
  [/\.rs$/, recordRust],
  [/\.c$/, recordC],
  [/\.java$/, recordJava],
  [/\.p[lm]$/, recordPerl],
];
const textsMax = 300;
/** A shorter text that both code and tests contain may be there by chance. */
const specialCharsMin = 4;
const numberLiteral = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/g;
const constantsMax = 200;
/** Goals that ask for answers without an order. */
const spreadingWords =
  /\b(?:hash\w*|digests?|checksums?|crc\w*|random\w*|shuffl\w+|permut\w+|scrambl\w+|shard\w*|bucket\w*|spread\w*|distribut\w+|s-?box\w*)\b/i;
/** Goals that ask for functions whose answers are not what they are given. */
const transformingWords =
  /\b(?:(?:en|de)cod\w+|(?:de)?compress\w*|(?:en|de)crypt\w*|cipher\w*|run[- ]length\w*|rle|(?:un)?pack\w*|(?:de|in)flate\w*|obfuscat\w+|scrambl\w+)\b/i;

/**
 * `side`: the work, or the code before it. Null if the tests name no function that can be recorded.
 */
export async function recordNearInputs(
  context: QuestionContext,
  side: "work" | "base",
): Promise<NearRecording | null> {
  const { lab, rules, goal = "" } = context;
  const isCode = (path: string): boolean =>
    isProgramText(path) && isRecorded(path) && rules.rowOf(path) === null;
  const changed = await readChanged(context, isCode);
  if (changed.length === 0) return null;
  const texts = changed.map(({ path, was, is }) => ({ path, text: side === "work" ? is : was }));
  const files = texts.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
  const tests = (await readAllTests(context)).map(({ text }) => text).join("\n");

  return buildNearRecording(files, tests, goal, createNonce(`${lab.seed} near`));
}

const isRecorded = (path: string): boolean => recorders.some(([ending]) => ending.test(path));

export function buildNearRecording(
  files: readonly TestFile[],
  tests: string,
  goal: string,
  uniqueName: string,
): NearRecording | null {
  const words = new Set(tests.match(/[\w$]+/g));
  const testLiterals = [
    ...new Set([...tests.matchAll(literalPattern)].map(([literal]) => literal)),
  ];
  const texts = testLiterals
    .filter((literal) => /^["']/.test(literal))
    .map((literal) => literal.slice(1, -1));

  const near = new Map(
    texts
      .map((text) => [text, listNearTexts(text)] as const)
      .filter(([, others]) => others.length > 0)
      .slice(0, textsMax),
  );

  const recorded = recorders.map(([ending, recorder]) =>
    recorder({
      files: files.filter(({ path }) => ending.test(path)),
      isWanted: (name) => words.has(name),
      near,
      uniqueName,
    }),
  );
  const functions = recorded.flatMap((output) => output.functions);
  if (functions.length === 0) return null;
  const namedInputs = [...texts, ...testLiterals.filter((input) => /^\d/.test(input))].filter(
    (input) => isNamed(input, goal),
  );

  const inCode = new Set(
    files.flatMap(({ text }) =>
      [...text.matchAll(literalPattern)].map(([literal]) => literal.slice(1, -1)),
    ),
  );
  const specialInputs = texts.filter(
    (text) => text.length >= specialCharsMin && /\d/.test(text) && inCode.has(text),
  ); // words may be names

  const numbers = files.flatMap(({ text }) => text.match(numberLiteral) ?? []);
  const answersInTests = new Set(texts);
  const constants = [
    ...new Set([...[...inCode].filter((text) => answersInTests.has(text)), ...numbers]),
  ].slice(0, constantsMax);

  const recording = {
    variable: uniqueName,
    named: namedInputs,
    written: specialInputs,
    constants,
    isSpreading: spreadingWords.test(goal),
    expected: transformingWords.test(goal) ? texts.slice(0, textsMax) : null,
  };
  return {
    edits: recorded.flatMap((output) => output.edits),
    alone: (command) => buildRecordedCommand(recording, command),
    beside: (command) => buildSharedCommand(recording, command),
    comparing: (command, changes) => buildComparingCommand(recording, command, changes),
    uniqueName,
    functions,
  };
}

const isNamed = (input: string, goal: string): boolean =>
  /^\w+$/.test(input)
    ? new Set(goal.match(/\w+/g)).has(input)
    : input !== "" && goal.includes(input);

export const describeNearInputs = (functions: readonly string[]): string =>
  `the code answers what its tests ask of ${listSome(functions)} and nothing near it: other inputs all come to the same, to no answer, to one of those it was tested for, or out as they went in`;
