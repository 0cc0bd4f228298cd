// ask-near: the work's functions asked for inputs near those that its tests give them, while the tests run, however they give them: a table
// of cases, a helper, another function. Pure, except for reading.

import { isProgramText } from "../../protected/kinds.ts";
import { createNonce } from "../flips/choose-flips.ts";
import { literals } from "../flips/near-values.ts";
import type { Edit } from "../experiment-tools.ts";
import type { TestFile } from "../outside/plain-program.ts";
import { type QuestionContext, readAllTests, readChanged } from "../questions/question-context.ts";
import { recordC } from "./c-recorder.ts";
import { recordGo } from "./go-recorder.ts";
import { recordJava } from "./java-recorder.ts";
import { recordJs } from "./js-recorder.ts";
import { nearTexts } from "./near-inputs.ts";
import { commandOrRecord, commandWithRecord } from "./near-records.ts";
import { recordPerl } from "./perl-recorder.ts";
import { recordPython } from "./python-recorder.ts";
import { recordRust } from "./rust-recorder.ts";
import type { Recorder } from "./recorder.ts";

export type NearRecording = {
  readonly edits: readonly Edit[];
  /** Runs a command, and exits with 0 if something is shown. */
  readonly alone: (command: string) => string;
  /** The same, and exits with 0 as well if the command does, or nothing was written down. */
  readonly beside: (command: string) => string;
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
const specialCharsMin = 4;
const shownMax = 3;

/** What is to be run, for the work or for what was there before it; null if the tests name no function that can be asked. */
export async function recordNear(context: QuestionContext, side: "work" | "base"): Promise<NearRecording | null> {
  const { lab, rules, goal = "" } = context;
  const isCode = (path: string): boolean => isProgramText(path) && isRecorded(path) && rules.rowOf(path) === null;
  const changed = await readChanged(context, isCode);
  if (changed.length === 0) return null;
  const files = changed.flatMap(({ path, was, is }) =>
    side === "work" ? [{ path, text: is }] : was === null ? [] : [{ path, text: was }],
  );
  const tests = (await readAllTests(context)).map(({ text }) => text).join("\n");
  return buildNearRecording(files, tests, goal, createNonce(`${lab.seed} near`));
}

const isRecorded = (path: string): boolean => recorders.some(([ending]) => ending.test(path));

export function buildNearRecording(files: readonly TestFile[], tests: string, goal: string, nonce: string): NearRecording | null {
  const words = new Set(tests.match(/[\w$]+/g));
  const written = [...new Set([...tests.matchAll(literals)].map(([literal]) => literal))];
  const texts = written.filter((one) => /^["']/.test(one)).map((one) => one.slice(1, -1));
  const near = new Map(
    texts
      .map((text) => [text, nearTexts(text)] as const)
      .filter(([, others]) => others.length > 0)
      .slice(0, textsMax),
  );
  const recorded = recorders.map(([ending, recorder]) =>
    recorder({ files: files.filter(({ path }) => ending.test(path)), isWanted: (name) => words.has(name), near, nonce }),
  );
  const functions = recorded.flatMap((one) => one.functions);
  if (functions.length === 0) return null;
  const named = [...texts, ...written.filter((one) => /^\d/.test(one))].filter((one) => isNamed(one, goal));
  const inCode = new Set(files.flatMap(({ text }) => [...text.matchAll(literals)].map(([literal]) => literal.slice(1, -1))));
  const special = texts.filter((one) => one.length >= specialCharsMin && /\d/.test(one) && inCode.has(one)); // words may be names
  const recording = { variable: nonce, named, written: special };
  return {
    edits: recorded.flatMap((one) => one.edits),
    alone: (command) => commandWithRecord(recording, command),
    beside: (command) => commandOrRecord(recording, command),
    functions,
  };
}

const isNamed = (input: string, goal: string): boolean =>
  /^\w+$/.test(input) ? new Set(goal.match(/\w+/g)).has(input) : input !== "" && goal.includes(input);

export const describeNear = (functions: readonly string[]): string => {
  const more = functions.length > shownMax ? ` and ${functions.length - shownMax} more` : "";
  return `the code answers what its tests ask of ${functions.slice(0, shownMax).join(", ")}${more} and nothing near it: other inputs all come to the same, or to no answer`;
};
