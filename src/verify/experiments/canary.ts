// canary: tests whether a passing check could still fail. Something it should notice is broken on purpose, in a throw-away checkout, and it
// is run again.
//
// Invariants:
//   K1. A check is called blind only if the same breakage turns it red on the base: a breakage that was never noticed proves nothing.
//   K2. And only if it stays blind on a second try.
//   K3. Bounded in runs and time. An undecided result is `unknown`, never an accusation.
//   K4. Nothing may fail besides what was broken. A check whose other results change when a test is edited detects the experiment. So all
//       test files get a blank line, and if few tests were left unbroken, the check is run with nothing but those lines.
//   K5. Every test that the pass depends on is broken (deciding-tests.ts): no other test makes up for one that does not notice.
//   K6. Of the tests that passed before, those about a function that the work changed are broken first: the work could have kept them from
//       failing.
//   K7. That a check failed before the work shows that it can fail only if the work's code does not run in it: it then passes by what is
//       written there alone.

import type { Check, Experiment } from "../../contracts/evidence.ts";
import { asSet } from "../../kit/as-set.ts";
import { findRow } from "../protected/kinds.ts";
import { programsAmong } from "../protected/listed-kinds.ts";
import { isReadOnly, pathsNamedIn } from "../protected/programs.ts";
import { type Breakage, breakagesFor } from "./flips/breakages.ts";
import { breakSample } from "./flips/flip-expectations.ts";
import { breakTypes } from "./flips/type-checker.ts";
import { shuffled } from "./flips/choose-flips.ts";
import { commandVariants } from "./flips/literal-flips.ts";
import { filesReadMax, missed, type ExperimentTools, timedOut, noticed, type Side, inconclusive } from "./experiment-tools.ts";

const breakagesMax = 3;
const variantsMax = 6;
/** Commands that contain code, or that compare a program's output. */
const runsCode = /\s-(?:e|c|p|r)\s|\|\s*grep\b|\$\(|`|\[ |\btest\s.*=|--eval\b|<<</;

/** Commands that read code and run no tests: their expectations are in no test file. Only an order of trying, never a verdict. */
const readsCode =
  /\b(?:tsc|vue-tsc|[a-z]*lint\w*|ruff|mypy|pyright|flake8|clippy|fmt|format|prettier|biome|type-?check|build|compile|vet|--check)\b/i;

export async function canary(check: Check, lab: ExperimentTools): Promise<Experiment> {
  const hasTests = (lab.now.tests?.ran ?? 0) > 0;
  if (lab.wasRed && isReadOnly(check.command)) return noticed("it failed before the work began");
  if (check.kind !== "holdout" && (hasTests || !readsCode.test(check.command))) {
    const sampled = await breakSample(check, lab);
    if (sampled !== null) return sampled;
  }
  if (hasTests) return inconclusive("none of its tests' expectations could be broken in a way that its report shows");
  const result = (await breakTypes(check, lab)) ?? (await changeCommand(check, lab));
  if (result !== null) return result;
  if (!lab.wasRed) return breakFiles(check, lab);
  // Code that runs inside an unknown judge could keep it from failing. What only reads code has shown that it can fail.
  if (readsCode.test(check.command) || !(await runsChangedCode(check, lab))) return noticed("it failed before the work began");
  return inconclusive("nothing that it compares with was found, and changed code runs in it"); // K7
}

/**
 * Whether a command starts something that judges by itself, and runs a program that the work changed: it fails where none of them can be
 * run, with all their words in place; what only reads them passes if each of them would end at once. At the end of a pipe `grep` judges.
 */
async function runsChangedCode({ command }: Check, lab: ExperimentTools): Promise<boolean> {
  const judge = /^[^;&|]+(?:\|[^;&|]+)*\|([^;&|]+)$/.exec(command)?.[1] ?? command;
  const programs = programsAmong(lab.changedPaths).filter((path) => findRow(path)?.kind !== "test");
  if (isReadOnly(judge) || programs.length === 0) return false;
  const passesWith = async (lineOf: (path: string) => string | null, paths: readonly string[]): Promise<boolean> => {
    const edits = await Promise.all(
      paths.slice(0, filesReadMax).map(async (path) => {
        const [line, text] = [lineOf(path), await lab.textAt("work", path)];
        return text === null || line === null ? [] : [{ path, text: text.replace(/^(#!.*\n)?/, (head) => `${head}${line}\n`) }];
      }),
    );
    return (await lab.run("work", edits.flat()))?.passed === true;
  };
  if (await passesWith(() => notCode, programs)) return false;
  const isKnown = (path: string): boolean => endingLine(path) !== null || isNeverRun.test(path);
  const canAllEnd = lab.changedPaths.length <= filesReadMax && lab.changedPaths.every(isKnown);
  return !canAllEnd || !(await passesWith(endingLine, lab.changedPaths));
}
/** No language runs a file that begins so. */
const notCode = ")]} >>> ({[";

/** A first line with which a program can be read, and ends as soon as it is run; null if its language has none that fits anywhere. */
function endingLine(path: string): string | null {
  if (isNeverRun.test(path)) return null;
  if (/\.[cm]?[jt]sx?$/.test(path)) return 'if (Date.now() > 0) throw new Error("it is run");';
  return path.endsWith(".py") ? 'raise RuntimeError("it is run")' : null;
}
const isNeverRun = /\.d\.[cm]?ts$|\.(?:pyi|md|rst|txt)$/;

/** Changes a literal of a command that contains its expectation (`[ "$(add 1 2)" = 3 ]`). Null if it runs no code or contains none. */
async function changeCommand({ command, kind }: Check, lab: ExperimentTools): Promise<Experiment | null> {
  const variants =
    kind === "holdout" || runsCode.test(command) ? shuffled(commandVariants(command), lab.seed, (one) => one).slice(0, variantsMax) : [];
  for (const variant of variants) {
    const observed = await lab.run("work", [], [], variant);
    if (observed === null) return timedOut;
    if (!observed.passed) return noticed(kind === "holdout" ? "with another expectation it fails" : `it fails as ${variant}`);
  }
  return variants.length === 0 ? null : inconclusive("it passes whatever is changed in its command");
}

/** Breaks files that a check without tests reads. Files the work changed come first: the check may have been kept from those. */
async function breakFiles(check: Check, lab: ExperimentTools): Promise<Experiment> {
  const paths = asSet(await lab.pathsAt("work"));
  const named = [...pathsNamedIn([check.command])].filter((path) => paths.has(path));
  const changed = shuffled(
    lab.changedPaths.filter((path) => paths.has(path)),
    lab.seed,
    (path) => path,
  );
  const others = shuffled(programsAmong(await lab.pathsAt("work")), lab.seed, (path) => path).slice(0, breakagesMax);
  const breakages = [...new Set([...changed, ...named, ...others])].flatMap((path) => breakagesFor(path));
  for (const breakage of breakages.slice(0, breakagesMax)) {
    const failed = await failsWith(lab, "work", breakage);
    if (failed === "late") return timedOut;
    if (failed) return noticed(`${breakage.what} in ${breakage.path}`);
    if (lab.before?.passed !== true || !asSet(await lab.pathsAt("base")).has(breakage.path)) continue;
    if ((await failsWith(lab, "base", breakage)) !== true) continue;
    if ((await failsWith(lab, "work", breakage)) === false) return missed(`${breakage.what} in ${breakage.path}`); // K1, K2
  }
  const inputs = named.length > 0 ? named : [...paths].filter((path) => findRow(path) === null);
  const withoutInputs = inputs.length === 0 ? null : await lab.run("work", [], inputs);
  return withoutInputs?.passed === false
    ? noticed("it fails without the files it looks at")
    : inconclusive("nothing was found that makes it fail");
}

async function failsWith(lab: ExperimentTools, side: Side, { path, apply }: Breakage): Promise<boolean | "late"> {
  const text = await lab.textAt(side, path);
  if (text === null) return false;
  const observed = await lab.run(side, [{ path, text: apply(text) }]);
  return observed === null ? "late" : !observed.passed;
}
