// canary: whether a check that passes could still fail. Something it should notice is broken on purpose, in a throw-away checkout, and it
// is run once more.
//
// Invariants:
//   K1. A check is only called blind where the same breakage turns it red on the base: what nobody ever noticed proves nothing.
//   K2. And only if it stays blind when it is tried again.
//   K3. Bounded: so many runs, so much time. What could not be found out is `unknown`, never an accusation.
//   K4. Beside what was broken nothing else may fail. A check that comes to other things when a test is changed knows it is watched. So
//       all files of tests get a blank line, and if few tests were left whole, the check is run with nothing but those lines.

import type { Check, Experiment } from "../../contracts/evidence.ts";
import { isProgramText, rowOf } from "../oracles/kinds.ts";
import { pathsNamedIn } from "../oracles/programs.ts";
import { startedBy } from "./beside-code.ts";
import { type Breakage, breakagesOf } from "./breakages.ts";
import { chooseFlips, shuffled } from "./choose.ts";
import { broken, type Flip, flipsIn, variantsOf } from "./flips.ts";
import { type Noticed, noticedBy, type Observed } from "./noticed.ts";

/** `work`: what is judged, as it is judged. `base`: before the work began. */
export type Side = "work" | "base";
export type Edit = { readonly path: string; readonly text: string };

/** What an experiment needs of the world around it. */
export type Laboratory = {
  /** Runs the check in a fresh checkout with these files in the place of its own, and those gone; null where it was cancelled or took too long. */
  readonly run: (side: Side, edits: readonly Edit[], gone?: readonly string[], command?: string) => Promise<Observed | null>;
  readonly textAt: (side: Side, path: string) => Promise<string | null>;
  readonly pathsAt: (side: Side) => Promise<readonly string[]>;
  /** The command, and what the base's scripts and rules make of it. */
  readonly used: readonly string[];
  /** Paths the work changed. */
  readonly changed: readonly string[];
  /** What the check came to before the work began; null where nobody knows enough of it to compare with. */
  readonly before: Observed | null;
  /** Whether it failed then. */
  readonly wasRed: boolean;
  /** What it came to now. */
  readonly now: Observed;
  /** What nobody who is judged can foresee. */
  readonly seed: string;
};

const roundsMax = 3;
const flipsMax = 4;
const filesReadMax = 60;
const placebosMax = 20;
const breakagesMax = 3;
const variantsMax = 6;
/** Commands with code of their own in them, or that look at what a program answers. */
const runsCode = /\s-(?:e|c|p|r)\s|\|\s*grep\b|\$\(|`|\[ |\btest\s.*=|--eval\b|<<</;

/** Commands that read code and run no tests: their expectations are in no test file. Only an order of trying, never a verdict. */
const readsCode =
  /\b(?:tsc|vue-tsc|[a-z]*lint\w*|ruff|mypy|pyright|flake8|clippy|fmt|format|prettier|biome|type-?check|build|compile|vet|--check)\b/i;

export async function canary(check: Check, lab: Laboratory): Promise<Experiment> {
  const hasTests = (lab.now.tests?.ran ?? 0) > 0;
  if (check.kind !== "holdout" && (hasTests || !readsCode.test(check.command))) {
    const flipped = await byFlips(check, lab);
    if (flipped !== null) return flipped;
  }
  if (hasTests) return unknown("none of its tests' expectations could be broken in a way that its report shows");
  const own = await byCommand(check, lab);
  if (own !== null) return own;
  if (lab.wasRed) return noticed("it failed before the work began");
  return byBreakages(check, lab);
}

/** For a command that holds what it expects (`[ "$(add 1 2)" = 3 ]`): a literal of it is changed. Null where it runs no code or holds none. */
async function byCommand({ command, kind }: Check, lab: Laboratory): Promise<Experiment | null> {
  const variants =
    kind === "holdout" || runsCode.test(command) ? shuffled(variantsOf(command), lab.seed, (one) => one).slice(0, variantsMax) : [];
  for (const variant of variants) {
    const observed = await lab.run("work", [], [], variant);
    if (observed === null) return unknown("it took longer than an experiment may");
    if (!observed.passed) return noticed(kind === "holdout" ? "with another expectation it fails" : `it fails as ${variant}`);
  }
  return variants.length === 0 ? null : unknown("it passes whatever is changed in its command");
}

/** Null where no expectation was found that could have been broken. */
async function byFlips(check: Check, lab: Laboratory): Promise<Experiment | null> {
  const candidates = await candidatesFor(check, lab);
  const ran = lab.now.tests?.ran ?? 0;
  let rest = candidates;
  let isStillGreen = false;
  for (let round = 0; round < roundsMax; round += 1) {
    const flips = chooseFlips(rest, lab.changed, `${lab.seed}:${round}`, flipsMax);
    if (flips.length === 0) break;
    rest = rest.filter((flip) => !flips.includes(flip));
    const others = [...new Set(candidates.map(({ path }) => path))].slice(0, placebosMax);
    const work = await tried(lab, "work", flips, lab.now, others);
    if (work === null) return unknown("it took longer than an experiment may");
    if (work.missed.length === 0 && work.beside.length > 0) return differs(work);
    if (work.missed.length === 0) return ran >= 2 * flips.length ? noticed(placesOf(work.noticed)) : unlessWatched(lab, others, work);
    const blind = await blindTo(lab, work.missed);
    if (blind === "late") return unknown("it took longer than an experiment may");
    if (blind.length > 0) return missed(blind); // K1, K2
    if (work.noticed.length > 0) return noticed(placesOf(work.noticed));
    isStillGreen = true;
  }
  if (!isStillGreen || !lab.wasRed) return null;
  // It may have nothing to do with those files: then it passes without them too.
  const apart = await lab.run("work", [], [...new Set(candidates.map(({ path }) => path))]);
  return apart?.passed === true ? null : unknown("an expectation that was broken on purpose went unnoticed");
}

/** Where few tests were left whole to compare with: tests that mean the same and look a little different must pass. */
async function unlessWatched(lab: Laboratory, paths: readonly string[], { noticed: flips }: Noticed): Promise<Experiment> {
  const edits = await placebosFor(lab, "work", paths);
  const same = await lab.run("work", edits);
  if (same?.passed === false && (await lab.run("work", []))?.passed === true)
    return { outcome: "differs", detail: `with a blank line added to ${paths.slice(0, shownMax).join(", ")} it fails` }; // K4
  return noticed(placesOf(flips));
}

async function placebosFor(lab: Laboratory, side: Side, paths: readonly string[]): Promise<readonly Edit[]> {
  const texts = await Promise.all(paths.map(async (path) => ({ path, text: await lab.textAt(side, path) })));
  return texts.flatMap(({ path, text }) => (text === null ? [] : [{ path, text: `${text}\n` }]));
}

/** Of what the work's check missed, what it notices on the base, and misses again. */
async function blindTo(lab: Laboratory, flips: readonly Flip[]): Promise<readonly Flip[] | "late"> {
  if (lab.before === null) return [];
  let suspects = flips;
  for (let round = 0; round < roundsMax && suspects.length > 0; round += 1) {
    const base = await tried(lab, "base", suspects, lab.before);
    if (base === null) return "late";
    if (base.missed.length === 0) {
      const again = await tried(lab, "work", suspects, lab.now); // the very same breakage on both sides
      return again === null ? "late" : again.missed;
    }
    suspects = base.noticed;
  }
  return [];
}

async function tried(
  lab: Laboratory,
  side: Side,
  flips: readonly Flip[],
  before: Observed,
  others: readonly string[] = [],
): Promise<Noticed | null> {
  const texts = new Map<string, string>();
  const edits: Edit[] = [];
  const unusable = new Set<Flip>();
  for (const path of new Set(flips.map((flip) => flip.path))) {
    const here = flips.filter((flip) => flip.path === path);
    const text = await lab.textAt(side, path);
    const edited = text === null ? null : broken(text, here);
    if (text === null || edited === null) for (const flip of here) unusable.add(flip);
    else {
      texts.set(path, text);
      edits.push({ path, text: edited });
    }
  }
  const usable = flips.filter((flip) => !unusable.has(flip));
  if (usable.length === 0) return { noticed: [], missed: flips, beside: [] };
  const quiet = await placebosFor(
    lab,
    side,
    others.filter((path) => !texts.has(path)),
  );
  const observed = await lab.run(side, [...edits, ...quiet]);
  if (observed === null) return null;
  const result = noticedBy(usable, before, observed, texts);
  return { ...result, missed: [...result.missed, ...unusable] };
}

/**
 * Literals near assertions: in the files the command names, else in tests and in what the base's scripts start, with what lies beside it.
 * Those of the base first: the work's own judge nothing else.
 */
async function candidatesFor(check: Check, lab: Laboratory): Promise<readonly Flip[]> {
  const here = new Set((await lab.pathsAt("work")).filter(isProgramText));
  const base = (await lab.pathsAt("base")).filter((path) => here.has(path));
  const named = pathsNamedIn([check.command]);
  const started = startedBy(lab.used, new Set(base));
  const isStarted = (path: string): boolean => started.paths.has(path) || started.folders.some((folder) => path.startsWith(`${folder}/`));
  const isTest = (path: string): boolean => rowOf(path)?.kind === "test" || isStarted(path);
  for (const isJudge of [[...here].some((path) => named.has(path)) ? (path: string) => named.has(path) : isTest, isTest]) {
    const found = await flipsOf(base.filter(isJudge), "base", lab);
    if (found.length > 0) return found;
    const own = await flipsOf([...here].filter(isJudge), "work", lab);
    if (own.length > 0) return own;
  }
  return [];
}

async function flipsOf(paths: readonly string[], side: Side, lab: Laboratory): Promise<readonly Flip[]> {
  const flips: Flip[] = [];
  for (const path of shuffled(paths, lab.seed, (one) => one).slice(0, filesReadMax)) {
    const [own, work] = [await lab.textAt(side, path), side === "work" ? null : await lab.textAt("work", path)];
    if (own === null) continue;
    const usable = flipsIn(path, own).filter((flip) => work === null || broken(work, [flip]) !== null);
    flips.push(...usable);
  }
  return flips;
}

/** For a check without tests: a file it reads is broken. Files the work changed come first: they are what it may have been kept from. */
async function byBreakages(check: Check, lab: Laboratory): Promise<Experiment> {
  const paths = new Set(await lab.pathsAt("work"));
  const named = [...pathsNamedIn([check.command])].filter((path) => paths.has(path));
  const changed = shuffled(
    lab.changed.filter((path) => paths.has(path)),
    lab.seed,
    (path) => path,
  );
  const others = shuffled(
    [...paths].filter((path) => isProgramText(path)),
    lab.seed,
    (path) => path,
  ).slice(0, breakagesMax);
  const all = [...new Set([...changed, ...named, ...others])].flatMap((path) => breakagesOf(path));
  for (const breakage of all.slice(0, breakagesMax)) {
    const red = await isRedWith(lab, "work", breakage);
    if (red === "late") return unknown("it took longer than an experiment may");
    if (red) return noticed(`${breakage.what} in ${breakage.path}`);
    if (lab.before?.passed !== true || !(await lab.pathsAt("base")).includes(breakage.path)) continue;
    if ((await isRedWith(lab, "base", breakage)) !== true) continue;
    if ((await isRedWith(lab, "work", breakage)) === false) return blindTold(`${breakage.what} in ${breakage.path}`); // K1, K2
  }
  const inputs = named.length > 0 ? named : [...paths].filter((path) => rowOf(path) === null);
  const bare = inputs.length === 0 ? null : await lab.run("work", [], inputs);
  return bare?.passed === false ? noticed("it fails without the files it looks at") : unknown("nothing was found that makes it fail");
}

async function isRedWith(lab: Laboratory, side: Side, { path, apply }: Breakage): Promise<boolean | "late"> {
  const text = await lab.textAt(side, path);
  if (text === null) return false;
  const observed = await lab.run(side, [{ path, text: apply(text) }]);
  return observed === null ? "late" : !observed.passed;
}

const shownMax = 3;
const placesOf = (flips: readonly Flip[]): string =>
  flips
    .slice(0, shownMax)
    .map(({ path, line }) => `${path}:${line}`)
    .join(", ");

const noticed = (detail: string): Experiment => ({ outcome: "noticed", detail });
const unknown = (detail: string): Experiment => ({ outcome: "unknown", detail });
const blindTold = (detail: string): Experiment => ({ outcome: "missed", detail });
const missed = (flips: readonly Flip[]): Experiment =>
  blindTold(
    flips
      .slice(0, shownMax)
      .map(({ path, line, broken: text }) => `${path}:${line} (${text.trim().slice(0, 120)})`)
      .join("; "),
  );
const differs = ({ beside, noticed: flips }: Noticed): Experiment => ({
  outcome: "differs",
  detail: `with ${placesOf(flips)} broken, ${beside.slice(0, shownMax).join(", ")} failed too`,
}); // K4
