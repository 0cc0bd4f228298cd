// table: the questions about a pass, each with the checks it is asked of, what it costs if the change raises it, and the gap it can give.
//
// Invariants:
//   Q1. A question that the change does not raise costs nothing.
//   Q2. Questions whose good answer is a pass share one run, if their changes are to different files: a pass answers all of them. Otherwise
//       each is asked alone.

import { answersOutside } from "../outside/ask-outside.ts";
import type { Asking, Change, Raised } from "./asking.ts";
import {
  answersBesideInputs,
  answersWritten,
  buildConditions,
  examplesAsBefore,
  hollowTests,
  onlyLooks,
  placesTaken,
  startedOnly,
  testsOfItsOwn,
} from "./further-questions.ts";
import { expectedSources, filesBesideCode, manifestSettings, references, testConfiguration } from "./raised-questions.ts";
import { partsCompared } from "./compared-parts.ts";
import { goTestsEndedEarly } from "./last-test-heard.ts";
import { comparersAsBefore } from "./restore-definitions.ts";
import { numberTypes, ownRandom, replacedFunctions } from "./shared-questions.ts";

type Row = {
  /** What is shown while it is asked. */
  readonly name: string;
  readonly of: "criteria" | "checks with tests" | "criteria with tests" | "all";
};
export type MustPass = Row & { readonly raised: (asking: Asking) => Promise<Raised | null> };
export type Question = Row & {
  readonly costs: "nothing" | "a run" | "a program";
  readonly gap: (asking: Asking) => Promise<string | null>;
};

/** One run each, or one for several (Q2). */
const mustPass: readonly MustPass[] = [
  { name: "does it rest on files beside the code?", of: "all", raised: filesBesideCode },
  { name: "does it rest on settings of the package?", of: "all", raised: manifestSettings },
  { name: "does it rest on what sets up its tests?", of: "all", raised: testConfiguration },
  { name: "does it rest on changed expected values?", of: "checks with tests", raised: expectedSources },
  { name: "does it rest on a changed comparison?", of: "all", raised: comparersAsBefore },
  { name: "does it rest on chance it shares with its tests?", of: "all", raised: ownRandom },
  { name: "does it rest on an equality of its own?", of: "all", raised: numberTypes },
  { name: "do examples pass as they were?", of: "criteria", raised: examplesAsBefore },
];
const questions: readonly Question[] = [
  { name: "do tests ask their references?", of: "checks with tests", costs: "a run", gap: references },
  { name: "does it answer the same without its test runner?", of: "criteria", costs: "a program", gap: answersOutside },
  { name: "do its tests compare all they expect?", of: "criteria with tests", costs: "a run", gap: partsCompared },
  { name: "do Go's tests come to their end?", of: "all", costs: "a run", gap: goTestsEndedEarly },
  { name: "do new files take the place of others?", of: "all", costs: "a program", gap: placesTaken },
  { name: "do new functions take the place of others?", of: "all", costs: "a program", gap: replacedFunctions },
  { name: "does its command only look?", of: "all", costs: "nothing", gap: onlyLooks },
  { name: "does it pass in another build?", of: "criteria", costs: "a run", gap: buildConditions },
  { name: "who wrote its snapshots?", of: "criteria with tests", costs: "a run", gap: answersWritten },
  { name: "do new tests ask the work?", of: "criteria", costs: "nothing", gap: hollowTests },
  { name: "are answers written in the code?", of: "criteria", costs: "nothing", gap: answersBesideInputs },
  { name: "who wrote its tests?", of: "criteria with tests", costs: "nothing", gap: testsOfItsOwn },
];

type Answers = {
  /** What a person has to review, as text. */
  readonly gaps: readonly string[];
  /** Of the files that newly read the command line those that are loaded only as programs; null if there is none. */
  readonly programs: readonly string[] | null;
};

export async function askAll(asking: Asking): Promise<Answers> {
  const { check, lab, about, ask } = asking;
  const ran = lab.now.tests?.ran ?? 0;
  const isAsked = ({ of }: Row): boolean =>
    (!of.startsWith("criteria") || check.kind === "criterion") && (!of.endsWith("tests") || ran > 0);
  const raised: (Raised & Row)[] = [];
  for (const row of mustPass.filter(isAsked)) {
    const one = await row.raised(asking);
    if (one !== null) raised.push({ ...row, ...one });
  }
  const gaps: string[] = [];
  for (const { name, whether, change, gap, confirmed } of await unanswered(asking, raised)) {
    about(name);
    if ((await ask(whether, change))?.passed === false && (confirmed === undefined || (await confirmed()))) gaps.push(gap);
  }
  for (const { name, gap } of questions.filter(isAsked)) {
    about(name);
    gaps.push(...[await gap(asking)].flatMap((one) => one ?? []));
  }
  about("is it loaded as a program alone?");
  return { gaps, programs: await startedOnly(asking) };
}

/** What one run with all changes does not answer (Q2). */
export async function unanswered<One extends Raised>(
  { about, ask, lab }: Pick<Asking, "about" | "ask"> & { readonly lab: Pick<Asking["lab"], "now"> },
  raised: readonly One[],
): Promise<readonly One[]> {
  const shared: One[] = [];
  const taken = new Set<string>();
  for (const one of raised) {
    const paths = pathsOf(one.change);
    if (paths.some((path) => taken.has(path))) continue;
    for (const path of paths) taken.add(path);
    shared.push(one);
  }
  if (shared.length < 2) return raised;
  const all = <T>(pick: (change: Change) => readonly T[] | undefined): readonly T[] => shared.flatMap(({ change }) => pick(change) ?? []);
  about("does it pass with all of that as before?");
  const observed = await ask(null, {
    edits: all(({ edits }) => edits),
    paths: all(({ paths }) => paths),
    without: all(({ without }) => without),
  });
  const isAnswer = observed?.passed === true && (observed.tests?.ran ?? 0) >= (lab.now.tests?.ran ?? 0);
  return isAnswer ? raised.filter((one) => !shared.includes(one)) : raised;
}

const pathsOf = ({ edits = [], paths = [], without = [] }: Change): readonly string[] => [
  ...edits.map(({ path }) => path),
  ...paths,
  ...without,
];
