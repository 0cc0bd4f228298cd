// ask-outside: whether the work answers otherwise where no test runner is at work. Pure, except for those runs.

import { isTestRow } from "../../protected/find-protected.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { nonceOf } from "../breaks/choose-breaks.ts";
import { type Asking, testsIn, type Text } from "../questions/asking.ts";
import { plainCallsOf } from "./calls-outside-tests.ts";
import type { Given, PlainProgram } from "./plain-program.ts";
import { manifestFor, withoutRunner, withoutRunnerWords } from "./tests-without-runner.ts";

const filesMax = 2;
const callsShownMax = 5;

type Asked = PlainProgram & {
  readonly gap: string;
  /** Whether a failure counts that the program shows. */
  readonly confirmed: () => Promise<boolean>;
};

/**
 * What tests ask of the work with plain values, and the tests themselves, without their runner. Scripts share one run, which exits with 0 if
 * one of them shows something; only then is each asked alone.
 */
export async function answersOutside(asking: Asking): Promise<string | null> {
  const asked = [...(await callsOutside(asking)), ...(await testsWithoutRunner(asking))];
  const scripts = asked.filter(({ command }) => !/\b(?:go|cargo) run\b/.test(command));
  const all = scripts.map(({ command }) => `(${command})`).join(" || ");
  const shared =
    scripts.length < 2
      ? undefined
      : await asking.lab.run(
          "work",
          scripts.flatMap(({ edits }) => edits),
          [],
          all,
        );
  const open = shared === undefined || shared?.passed === true ? asked : asked.filter((one) => !scripts.includes(one));
  const gaps: string[] = shared === null ? [lateWords] : [];
  for (const { edits, command, gap, confirmed } of open) {
    const observed = await asking.lab.run("work", edits, [], command);
    if (observed === null) gaps.push(lateWords); // code that only comes to an end under its runner
    else if (observed.passed && (await confirmed())) gaps.push(gap);
  }
  return gaps.length === 0 ? null : [...new Set(gaps)].join("; ");
}
const lateWords = "it took too long to find out whether it answers the same without its test runner";

async function callsOutside(asking: Asking): Promise<readonly Asked[]> {
  if ((asking.lab.now.tests?.ran ?? 0) === 0) return [];
  const tests = await testsNaming(asking, (path) => asking.setting.rowOf(path) === null);
  const programs = tests.flatMap(({ path, text }, at) => plainCallsOf(path, text, nonceOf(`${asking.lab.seed} calls ${at}`)) ?? []);
  return programs.slice(0, filesMax).map(({ path, text, command, calls }) => {
    const more = calls.length > callsShownMax ? ` and ${calls.length - callsShownMax} more` : "";
    const gap = `asked outside its tests, the code gives another answer to one of ${calls.slice(0, callsShownMax).join(", ")}${more}`;
    return { edits: [{ path, text }], command, gap, confirmed: async () => true };
  });
}

async function testsWithoutRunner(asking: Asking): Promise<readonly Asked[]> {
  const { lab, setting } = asking;
  const isOfGo = lab.used.some((text) => /\bgo test\b/.test(text)); // which says nothing of its tests unless they fail
  if ((lab.now.tests?.ran ?? 0) === 0 && !isOfGo) return [];
  const asked: Asked[] = [];
  for (const { path, text } of await testsNaming(asking, (one) => !isTestRow(setting.rowOf(one)), isOfPackage)) {
    const manifestPath = manifestFor(path);
    const manifest = manifestPath === null ? null : await lab.textAt("work", manifestPath);
    const given = { path, text, nonce: nonceOf(`${lab.seed} tests ${asked.length}`), manifest, known: [] };
    const program = withoutRunner(given);
    if (program !== null) asked.push({ ...program, gap: withoutRunnerWords(path), confirmed: () => isOfTheWork(given, asking) });
    if (asked.length === filesMax) break;
  }
  return asked;
}

/** Tests that passed before the work under their runner, and fail without it, need their runner. */
async function isOfTheWork(given: Given, { lab }: Asking): Promise<boolean> {
  if (lab.before === null) return true;
  const known = [...lab.before.failed].flatMap((name) => [name, ...(name.match(/\w+/g) ?? [])]);
  const program = withoutRunner({ ...given, text: (await lab.textAt("base", given.path)) ?? given.text, known });
  return program === null || (await lab.run("base", program.edits, [], program.command))?.passed !== true;
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
