// canary: finds out whether a passing check can fail at all. Something it should notice is broken
// on purpose, in a throw-away checkout, and the check is run again.
//
// Invariants:
//   K1. A check is called blind only if the same breakage turns it red on the base: a breakage that
//       was never noticed proves nothing.
//   K2. And only if it stays blind on a second try.
//   K3. Runs and time are bounded. An undecided result is `unknown`, never an accusation.
//   K4. Nothing may fail besides what was broken: code whose other results change when a test is
//       edited detects the experiment. So all test files get a blank line, and if few tests were
//       left unbroken, the check is run with equivalent tests that look different
//       (broken-expectations/flip-expectations.ts, equivalent-tests/equivalent-tests.ts).
//   K5. Every test that the pass depends on is broken (broken-expectations/deciding-tests.ts): no
//       other test makes up for one that does not notice.
//   K6. Of the tests that passed before, those about a function that the work changed are broken
//       first: the work could have kept them from failing (broken-expectations/flip-expectations.ts).
//   K7. That a check failed before the work shows that it can fail only if the work's code does not
//       run in it: it then passes by what is written there alone.

import type { Check, Experiment } from "../../contracts/evidence.ts";
import { asSet } from "../../kit/as-set.ts";
import { findProtectionRow } from "../protected/kinds.ts";
import { filterPrograms } from "../protected/program-and-test-paths.ts";
import { isReadOnly, findNamedPaths } from "../protected/programs.ts";
import { type Breakage, listBreakages } from "./broken-expectations/breakages.ts";
import { readsOnlyCode } from "./broken-expectations/code-readers.ts";
import { asksOnlyCode } from "./broken-expectations/find-judges.ts";
import { applyFlips } from "./broken-expectations/flip.ts";
import { flipSample } from "./broken-expectations/flip-expectations.ts";
import { findComparedFiles, flipDataFile } from "./broken-expectations/shell-expectations.ts";
import { breakTypes } from "./broken-expectations/type-checker.ts";
import { createNonce, shuffle } from "./broken-expectations/choose-flips.ts";
import { commandWithCode, createCommandVariants } from "./broken-expectations/command-variants.ts";
import {
  reportMissed,
  type Lab,
  lateResult,
  reportNoticed,
  type Side,
  reportUnknown,
} from "./lab.ts";
import { runsChangedCode } from "./run-code.ts";

/** How many breakages of files, and how many variants of a command, are tried (K3). */
const breakagesMax = 3;
const variantsMax = 6;
/**
 * Breaks what the check seems to compare with: expectations of tests, then types, then its command,
 * then files it reads.
 */
export async function runCanary(check: Check, lab: Lab): Promise<Experiment> {
  const result = await breakSomething(check, lab);
  const isSecret = check.kind === "holdout" && result.outcome === "noticed";
  return isSecret ? reportNoticed("with another expectation it fails") : result;
}

async function breakSomething(check: Check, lab: Lab): Promise<Experiment> {
  const hasTests = (lab.now.tests?.ran ?? 0) > 0;
  if (lab.wasRed && isReadOnly(check.command)) {
    return reportNoticed("it failed before the work began");
  } // K7

  const changed = check.kind === "holdout" && !hasTests ? await changeCommand(check, lab) : null;
  if (changed?.outcome === "noticed") return changed;

  const mayHoldExpectations = !readsOnlyCode(check.command) && !(await asksOnlyCode(check, lab));
  if (hasTests || mayHoldExpectations) {
    const sampled = await flipSample(check, lab);
    if (sampled !== null) return sampled;
  }

  if (hasTests) {
    return reportUnknown(
      "none of its tests' expectations could be broken in a way that its report shows",
    );
  }

  const result =
    (await breakTypes(check, lab)) ??
    (await changeComparedFile(check, lab)) ??
    changed ??
    (await changeCommand(check, lab));
  if (result !== null) return result;
  if (!lab.wasRed) return breakFiles(check, lab);
  // Code that runs inside an unknown judge could keep it from failing. What only reads code has
  // shown that it can fail.
  if (readsOnlyCode(check.command) || !(await runsChangedCode(check, lab))) {
    return reportNoticed("it failed before the work began");
  }

  // Its only program is the work, and other checks judge what that makes.
  if (lab.made && findNamedPaths([check.command]).has(lab.made.program)) {
    return reportNoticed(`other checks fail without ${lab.made.program}`);
  }

  return reportUnknown("nothing that it compares with was found, and changed code runs in it"); // K7
}

/**
 * Changes a literal of a command that contains its expectation (`[ "$(add 1 2)" = 3 ]`). Null if it
 * runs no code or contains none.
 */
async function changeCommand({ command, kind }: Check, lab: Lab): Promise<Experiment | null> {
  const hasCode = kind === "holdout" || commandWithCode.test(command);
  if (!hasCode) return null;

  const variants = createCommandVariants(command, createNonce(lab.seed));
  const shuffled = shuffle(variants, lab.seed, (variant) => variant);
  if (shuffled.length === 0) return null;

  for (const variant of shuffled.slice(0, variantsMax)) {
    const observed = await lab.run("work", [], [], variant);
    if (observed === null) return lateResult;
    if (observed.passed) continue;

    return reportNoticed(`it fails as ${variant}`);
  }

  return reportUnknown("it passes whatever is changed in its command");
}

/** Changes a file that the command itself compares with: `… | diff - expected.txt`. */
async function changeComparedFile({ command }: Check, lab: Lab): Promise<Experiment | null> {
  for (const path of new Set(findComparedFiles("", command))) {
    const text = await lab.textAt("work", path);
    const flip = text === null ? null : flipDataFile(path, text);
    if (text === null || flip === null) continue;

    const observed = await lab.run("work", [{ path, text: applyFlips(text, [flip]) ?? text }]);
    if (observed === null) return lateResult;
    if (!observed.passed) return reportNoticed(`${path}:${flip.line}`);
  }

  return null;
}

/**
 * Breaks files that a check without tests reads. Files the work changed come first: the check may
 * have been kept from those.
 */
async function breakFiles(check: Check, lab: Lab): Promise<Experiment> {
  const paths = await lab.pathsAt("work");
  const pathSet = asSet(paths);
  const inRandomOrder = (list: readonly string[]): readonly string[] =>
    shuffle(list, lab.seed, (path) => path);

  const changedPaths = inRandomOrder(lab.changedPaths.filter((path) => pathSet.has(path)));
  const namedPaths = [...findNamedPaths([check.command])].filter((path) => pathSet.has(path));
  const otherPaths = inRandomOrder(filterPrograms(paths)).slice(0, breakagesMax);

  const candidates = new Set([...changedPaths, ...namedPaths, ...otherPaths]);
  const breakages = [...candidates].flatMap((path) => listBreakages(path));
  for (const breakage of breakages.slice(0, breakagesMax)) {
    const result = await tryBreakage(lab, breakage);
    if (result !== null) return result;
  }

  const ownPaths = paths.filter((path) => findProtectionRow(path) === null);
  const inputs = namedPaths.length > 0 ? namedPaths : ownPaths;
  const observedWithout = inputs.length === 0 ? null : await lab.run("work", [], inputs);
  return observedWithout?.passed === false
    ? reportNoticed("it fails without the files it looks at")
    : reportUnknown("nothing was found that makes it fail");
}

/** Null if the breakage shows nothing: the check may not depend on the file. */
async function tryBreakage(lab: Lab, breakage: Breakage): Promise<Experiment | null> {
  const place = `${breakage.what} in ${breakage.path}`;
  const outcome = await runBroken(lab, "work", breakage);
  if (outcome === "late") return lateResult;
  if (outcome === "failed") return reportNoticed(place);

  const isComparable =
    lab.before?.passed === true && asSet(await lab.pathsAt("base")).has(breakage.path);
  if (!isComparable) return null;

  if ((await runBroken(lab, "base", breakage)) !== "failed") return null; // K1
  if ((await runBroken(lab, "work", breakage)) !== "passed") return null; // K2
  return reportMissed(place);
}

/**
 * How the check ends with this breakage; a file that is no text is not broken, and counts as
 * passed. `late`: it took too long.
 */
async function runBroken(
  lab: Lab,
  side: Side,
  { path, apply }: Breakage,
): Promise<"passed" | "failed" | "late"> {
  const text = await lab.textAt(side, path);
  if (text === null) return "passed";
  const observed = await lab.run(side, [{ path, text: apply(text) }]);
  if (observed === null) return "late";

  return observed.passed ? "passed" : "failed";
}
