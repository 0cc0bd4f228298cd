// ask-outside: whether the work answers otherwise where no test runner is at work. Pure, except for those runs.

import type { Difference } from "../../../ports/workspace.ts";
import type { Setting } from "../../protected/judge.ts";
import { isOfTests } from "../../protected/find-protected.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { nonceOf } from "../breaks/choose-breaks.ts";
import type { Laboratory, Side } from "../laboratory.ts";
import { outsideWords, plainCallsIn, testsIn } from "../questions/raised-questions.ts";
import type { Given, TestFile } from "./plain-program.ts";
import { manifestFor, withoutRunner, withoutRunnerWords } from "./tests-without-runner.ts";

const filesMax = 2;

/** What a person has to look at, as text. */
export async function outsideGaps(setting: Setting, differences: readonly Difference[], lab: Laboratory): Promise<readonly string[]> {
  const isOfGo = lab.used.some((text) => /\bgo test\b/.test(text)); // which says nothing of its tests unless they fail
  if ((lab.now.tests?.ran ?? 0) === 0 && !isOfGo) return [];
  const calls: string[] = [];
  for (const program of await plainCallsIn(setting, differences, lab.textAt, nonceOf(lab.seed)))
    if ((await lab.run("work", [program], [], program.command))?.passed === true) calls.push(...program.calls);
  const failing = await failingWithoutRunner(setting, differences, lab);
  return [...(calls.length === 0 ? [] : [outsideWords(calls)]), ...failing.map(withoutRunnerWords)];
}

async function failingWithoutRunner(setting: Setting, differences: readonly Difference[], lab: Laboratory): Promise<readonly string[]> {
  const changed = differences.filter(({ path }) => isProgramText(path) && !isOfTests(setting.rowOf(path)));
  const stems = changed.map(({ path }) => /([^/]+?)(?:\/(?:index|__init__))?\.\w+$/.exec(path)?.[1] ?? path);
  if (stems.length === 0) return [];
  // In Go and Rust tests name packages, not files.
  const isAsking = ({ path, text }: TestFile): boolean => manifestFor(path) !== null || stems.some((stem) => text.includes(stem));
  const programs: Given[] = [];
  for (const { path, text } of (await testsIn(setting, lab.textAt)).filter(isAsking)) {
    const manifestPath = manifestFor(path);
    const manifest = manifestPath === null ? null : await lab.textAt("work", manifestPath);
    const given = { path, text, nonce: nonceOf(lab.seed), manifest, known: [] };
    if (withoutRunner(given) !== null) programs.push(given);
    if (programs.length === filesMax) break;
  }
  const failing: string[] = [];
  for (const given of programs) if (await isFailing(given, lab)) failing.push(given.path);
  return failing;
}

async function isFailing(given: Given, lab: Laboratory): Promise<boolean> {
  const fails = async (side: Side, known: readonly string[]): Promise<boolean> => {
    const program = withoutRunner({ ...given, known });
    return program !== null && (await lab.run(side, program.edits, [], program.command))?.passed === true;
  };
  if (!(await fails("work", []))) return false;
  // Tests that passed before the work under their runner, and fail without it, need their runner.
  const failed = [...(lab.before?.failed ?? [])].flatMap((name) => [name, ...(name.match(/\w+/g) ?? [])]);
  return lab.before === null || !(await fails("base", failed));
}
