// canary: whether a check that passes could still fail. Something it should notice is broken on purpose, in a throw-away checkout, and it
// is run once more.
//
// Invariants:
//   K1. A check is only called blind where the same breakage turns it red on the base: what nobody ever noticed proves nothing.
//   K2. And only if it stays blind when it is tried again.
//   K3. Bounded: so many runs, so much time. What could not be found out is `unknown`, never an accusation.
//   K4. Beside what was broken nothing else may fail. A check that comes to other things when a test is changed knows it is watched. So
//       all files of tests get a blank line, and if few tests were left whole, the check is run with nothing but those lines.
//   K5. Every test that the pass rests on is broken (rests-on.ts): what one of them does not notice, no other makes up for.
//   K6. Tests that passed before and speak of a function that the work changed are broken before others that did: there it could have been
//       kept from failing.

import type { Check, Experiment } from "../../contracts/evidence.ts";
import { asSet } from "../../kit/as-set.ts";
import { rowOf } from "../protected/kinds.ts";
import { programsAmong } from "../protected/listed-kinds.ts";
import { onlyLooks, pathsNamedIn } from "../protected/programs.ts";
import { type Breakage, breakagesOf } from "./breakages.ts";
import { byFlips } from "./by-flips.ts";
import { byTypes } from "./type-checker.ts";
import { shuffled } from "./choose.ts";
import { variantsOf } from "./flips.ts";
import { blindReported, type Laboratory, late as timedOut, noticed, type Side, unknown } from "./laboratory.ts";

const breakagesMax = 3;
const variantsMax = 6;
/** Commands with code of their own in them, or that look at what a program answers. */
const runsCode = /\s-(?:e|c|p|r)\s|\|\s*grep\b|\$\(|`|\[ |\btest\s.*=|--eval\b|<<</;

/** Commands that read code and run no tests: their expectations are in no test file. Only an order of trying, never a verdict. */
const readsCode =
  /\b(?:tsc|vue-tsc|[a-z]*lint\w*|ruff|mypy|pyright|flake8|clippy|fmt|format|prettier|biome|type-?check|build|compile|vet|--check)\b/i;

export async function canary(check: Check, lab: Laboratory): Promise<Experiment> {
  const hasTests = (lab.now.tests?.ran ?? 0) > 0;
  if (lab.wasRed && onlyLooks(check.command)) return noticed("it failed before the work began");
  if (check.kind !== "holdout" && (hasTests || !readsCode.test(check.command))) {
    const flipped = await byFlips(check, lab);
    if (flipped !== null) return flipped;
  }
  if (hasTests) return unknown("none of its tests' expectations could be broken in a way that its report shows");
  const own = (await byTypes(check, lab)) ?? (await byCommand(check, lab));
  if (own !== null) return own;
  if (lab.wasRed) return noticed("it failed before the work began");
  return byBreakages(check, lab);
}

/** For a command that holds what it expects (`[ "$(add 1 2)" = 3 ]`): a literal of it is changed. Null if it runs no code or holds none. */
async function byCommand({ command, kind }: Check, lab: Laboratory): Promise<Experiment | null> {
  const variants =
    kind === "holdout" || runsCode.test(command) ? shuffled(variantsOf(command), lab.seed, (one) => one).slice(0, variantsMax) : [];
  for (const variant of variants) {
    const observed = await lab.run("work", [], [], variant);
    if (observed === null) return timedOut;
    if (!observed.passed) return noticed(kind === "holdout" ? "with another expectation it fails" : `it fails as ${variant}`);
  }
  return variants.length === 0 ? null : unknown("it passes whatever is changed in its command");
}

/** For a check without tests: a file it reads is broken. Files the work changed come first: they are what it may have been kept from. */
async function byBreakages(check: Check, lab: Laboratory): Promise<Experiment> {
  const paths = asSet(await lab.pathsAt("work"));
  const named = [...pathsNamedIn([check.command])].filter((path) => paths.has(path));
  const changed = shuffled(
    lab.changed.filter((path) => paths.has(path)),
    lab.seed,
    (path) => path,
  );
  const others = shuffled(programsAmong(await lab.pathsAt("work")), lab.seed, (path) => path).slice(0, breakagesMax);
  const all = [...new Set([...changed, ...named, ...others])].flatMap((path) => breakagesOf(path));
  for (const breakage of all.slice(0, breakagesMax)) {
    const red = await isRedWith(lab, "work", breakage);
    if (red === "late") return timedOut;
    if (red) return noticed(`${breakage.what} in ${breakage.path}`);
    if (lab.before?.passed !== true || !asSet(await lab.pathsAt("base")).has(breakage.path)) continue;
    if ((await isRedWith(lab, "base", breakage)) !== true) continue;
    if ((await isRedWith(lab, "work", breakage)) === false) return blindReported(`${breakage.what} in ${breakage.path}`); // K1, K2
  }
  const inputs = named.length > 0 ? named : [...paths].filter((path) => rowOf(path) === null);
  const withoutInputs = inputs.length === 0 ? null : await lab.run("work", [], inputs);
  return withoutInputs?.passed === false
    ? noticed("it fails without the files it looks at")
    : unknown("nothing was found that makes it fail");
}

async function isRedWith(lab: Laboratory, side: Side, { path, apply }: Breakage): Promise<boolean | "late"> {
  const text = await lab.textAt(side, path);
  if (text === null) return false;
  const observed = await lab.run(side, [{ path, text: apply(text) }]);
  return observed === null ? "late" : !observed.passed;
}
