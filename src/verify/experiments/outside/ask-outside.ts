// ask-outside: whether the work answers otherwise where no test runner is at work. Pure, except for those runs.

import { isTestRow } from "../../protected/find-protected.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { nonceOf } from "../breaks/choose-breaks.ts";
import type { Side } from "../laboratory.ts";
import { type Asking, testsIn, type Text } from "../questions/asking.ts";
import { plainCallsOf } from "./calls-outside-tests.ts";
import type { Given } from "./plain-program.ts";
import { manifestFor, withoutRunner, withoutRunnerWords } from "./tests-without-runner.ts";

const filesMax = 2;
const callsShownMax = 5;

/** What tests ask of the work with plain values, asked without them. */
export async function callsOutside(asking: Asking): Promise<string | null> {
  const tests = await testsNaming(asking, (path) => asking.setting.rowOf(path) === null);
  const programs = tests.flatMap(({ path, text }) => plainCallsOf(path, text, nonceOf(asking.lab.seed)) ?? []).slice(0, filesMax);
  const calls: string[] = [];
  for (const program of programs)
    if ((await asking.lab.run("work", [program], [], program.command))?.passed === true) calls.push(...program.calls);
  const more = calls.length > callsShownMax ? ` and ${calls.length - callsShownMax} more` : "";
  return calls.length === 0
    ? null
    : `asked outside its tests, the code gives another answer to one of ${calls.slice(0, callsShownMax).join(", ")}${more}`;
}

/** The tests themselves, called without their runner. */
export async function testsWithoutRunner(asking: Asking): Promise<string | null> {
  const { lab, setting } = asking;
  const isOfGo = lab.used.some((text) => /\bgo test\b/.test(text)); // which says nothing of its tests unless they fail
  if ((lab.now.tests?.ran ?? 0) === 0 && !isOfGo) return null;
  const programs: Given[] = [];
  for (const { path, text } of await testsNaming(asking, (one) => !isTestRow(setting.rowOf(one)), isOfPackage)) {
    const manifestPath = manifestFor(path);
    const manifest = manifestPath === null ? null : await lab.textAt("work", manifestPath);
    const given = { path, text, nonce: nonceOf(lab.seed), manifest, known: [] };
    if (withoutRunner(given) !== null) programs.push(given);
    if (programs.length === filesMax) break;
  }
  const failing: string[] = [];
  for (const given of programs) if (await isFailing(given, asking)) failing.push(given.path);
  return failing.length === 0 ? null : failing.map(withoutRunnerWords).join("; ");
}

/** In Go and Rust tests name packages, not files. */
const isOfPackage = ({ path }: Text): boolean => manifestFor(path) !== null;

/** The tests that name a changed file of code. */
async function testsNaming(
  asking: Asking,
  isCode: (path: string) => boolean,
  isMeantToo: (test: Text) => boolean = () => false,
): Promise<readonly Text[]> {
  const changed = asking.differences.filter(({ path }) => isProgramText(path) && isCode(path));
  const stems = changed.map(({ path }) => /([^/]+?)(?:\/(?:index|__init__))?\.\w+$/.exec(path)?.[1] ?? path);
  if (stems.length === 0) return [];
  return (await testsIn(asking)).filter((test) => isMeantToo(test) || stems.some((stem) => test.text.includes(stem)));
}

async function isFailing(given: Given, { lab }: Asking): Promise<boolean> {
  const fails = async (side: Side, known: readonly string[]): Promise<boolean> => {
    const program = withoutRunner({ ...given, known });
    return program !== null && (await lab.run(side, program.edits, [], program.command))?.passed === true;
  };
  if (!(await fails("work", []))) return false;
  // Tests that passed before the work under their runner, and fail without it, need their runner.
  const failed = [...(lab.before?.failed ?? [])].flatMap((name) => [name, ...(name.match(/\w+/g) ?? [])]);
  return lab.before === null || !(await fails("base", failed));
}
