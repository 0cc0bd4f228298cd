// break-expectations: tries out a check with tests by breaking their expectations: a sample of those that passed before, and every one that its pass
// depends on.
// Invariants K1 and on: verify/experiments/canary.ts.

import type { Check, Experiment } from "../../../contracts/evidence.ts";
import { candidatesFor, decidingTestsFor } from "./candidates.ts";
import { casesIn } from "../source/test-cases.ts";
import { chooseFlips, nonceOf } from "./choose-breaks.ts";
import { breaksIn } from "./expectations.ts";
import { redefined } from "../source/definitions.ts";
import { broken, type Flip, placesOf, shownMax } from "./flips.ts";
import { blindReported, type Edit, filesReadMax, type Laboratory, late, noticed, type Side, unknown } from "../laboratory.ts";
import { type Noticed, noticedBy, type Observed } from "./noticed-breaks.ts";
import { placebosFor, unlessWatched } from "../questions/equivalent-tests.ts";
import { type Asking, silentAmong, silentWords } from "./deciding-tests.ts";

const roundsMax = 3;
const flipsMax = 4;
/** Of those about a function that the work changed. */
const spokenMax = 12;
const placebosMax = 20;

/** Null if no expectation was found that could be broken. */
export async function breakSample(check: Check, lab: Laboratory): Promise<Experiment | null> {
  const candidates = await candidatesFor(check, lab);
  const ran = lab.now.tests?.ran ?? 0;
  const others = [...new Set(candidates.map(({ path }) => path))].slice(0, placebosMax);
  const { tests: all, singles, controls, textOf } = await decidingTestsFor(check, lab);
  const tests = ran > 0 ? all : []; // what is not run cannot fail
  const asking: Asking = {
    tried: (some) => tried(lab, "work", some, lab.now, others),
    run: (edits) => lab.run("work", edits),
    textOf,
  };
  const alone = ran > 0 ? null : await breakOneByOne(check, lab, singles, controls, asking, others);
  if (alone !== null) return alone;
  const isOwn = ({ path, was }: Flip): boolean =>
    tests.some(({ test }) => test.path === path && (test.text.includes(was.trim()) || was.includes(test.text.trim())));
  // Code around the tests it depends on (setup, for example) would break them for another reason.
  const around = new Map([...new Set(tests.map(({ test }) => test.path))].map((path) => [path, casesIn(path, textOf(path))]));
  const isInOther = ({ path, was }: Flip): boolean => around.get(path)?.some(({ text }) => text.includes(was)) ?? true;
  const isApart = (flip: Flip): boolean => !isOwn(flip) && isInOther(flip);
  let rest = candidates.filter(isApart);
  let isStillGreen = false;
  const names = ran > 0 ? await changedNames(lab) : new Set<string>();
  const calls = ({ was }: Flip): boolean => [...was.matchAll(/([\w$]+)\s*\(/g)].some(([, name = ""]) => names.has(name));
  for (let round = 0; round < roundsMax; round += 1) {
    const spoken = round === 0 ? chooseFlips(rest.filter(calls), lab.changed, `${lab.seed}:${round}`, spokenMax) : []; // K6
    const unspoken = rest.filter((one) => !spoken.includes(one));
    const sample = [...spoken, ...chooseFlips(unspoken, lab.changed, `${lab.seed}:${round}`, flipsMax)];
    const own = round === 0 ? tests.flatMap(({ breaks }) => breaks.slice(0, 1)) : [];
    const flips = [...sample, ...own];
    if (flips.length === 0) break;
    rest = rest.filter((flip) => !sample.includes(flip));
    const first = await tried(lab, "work", flips, lab.now, others);
    const isBeside = first !== null && first.missed.length === 0 && first.beside.length > 0;
    const work = isBeside ? await tried(lab, "work", flips, lab.now, others) : first; // a flaky one proves nothing
    if (work === null) return late;
    const open = round > 0 ? [] : tests.filter(({ breaks: [first] }) => first === undefined || work.missed.includes(first));
    const asked = await silentAmong(open, work, asking); // K5
    if (asked === "late") return late;
    const { silent } = asked;
    const heard = [...work.noticed, ...asked.heard];
    const missedOnes = work.missed.filter((flip) => sample.includes(flip));
    if (missedOnes.length === 0 && silent.length === 0 && work.beside.length > 0) return differs(work);
    const blind = await blindTo(lab, missedOnes);
    if (blind === "late") return late;
    if (blind.length > 0) return missed(blind); // K1, K2
    if (silent.length > 0) return { outcome: "partly", detail: silentWords(silent) };
    if (missedOnes.length === 0 && heard.length > 0)
      return ran >= 2 * flips.length ? noticed(placesOf(heard)) : unlessWatched(lab, others, heard);
    if (heard.length > 0) return noticed(placesOf(heard));
    isStillGreen = true;
  }
  if (isStillGreen && !lab.wasRed) return negateAssertions(lab, [...new Set(candidates.map(({ path }) => path))].slice(0, placebosMax));
  if (!isStillGreen) return null;
  // It may not depend on those files: then it passes without them too.
  const apart = await lab.run("work", [], [...new Set(candidates.map(({ path }) => path))]);
  return apart?.passed === true ? null : unknown("an expectation that was broken on purpose went unnoticed");
}

/**
 * If the literals near assertions are only messages (`t.equal(a, b, "the same")`), the assertions themselves. It may confirm, never accuse.
 */
async function negateAssertions(lab: Laboratory, paths: readonly string[]): Promise<Experiment | null> {
  const texts = await Promise.all(paths.map(async (path) => ({ path, text: (await lab.textAt("work", path)) ?? "" })));
  const all = texts.flatMap(({ path, text }) => breaksIn(path, text, nonceOf(lab.seed)));
  const flips = chooseFlips(all, lab.changed, lab.seed, flipsMax);
  const found = flips.length === 0 ? null : await tried(lab, "work", flips, lab.now, paths);
  return found === null || found.missed.length > 0 || found.beside.length > 0 ? null : noticed(placesOf(found.noticed));
}

/** A check that names and counts no tests stops at the first failure: expectations are broken one by one. Null if none was. */
async function breakOneByOne(
  check: Check,
  lab: Laboratory,
  singles: readonly Flip[],
  controls: readonly Flip[],
  { tried: ask }: Asking,
  others: readonly string[],
): Promise<Experiment | null> {
  const heard: Flip[] = [];
  for (const flip of singles) {
    const found = await ask([flip]);
    if (found === null) return late;
    if (found.missed.length === 0) {
      heard.push(flip);
      continue;
    }
    // A compiler does not run what it reads: a missed assertion means something only beside a noticed one, or in a file that a testing
    // command cannot do without.
    const control = heard.find(({ path }) => path === flip.path) ?? controls.find(({ path }) => path === flip.path);
    const run = control === undefined ? undefined : heard.includes(control) ? found : await ask([control]);
    if (run === null) return late;
    const isRun = control !== undefined && (heard.includes(control) || run?.missed.length === 0);
    const isNeeded = !isRun && lab.wasRed && isOfTests.test(check.command) && (await lab.run("work", [], [flip.path]))?.passed === false;
    const again = isRun || isNeeded ? await ask([flip]) : undefined;
    if (again === null) return late;
    if (again?.missed.length === 1)
      return { outcome: "partly", detail: `it passes as well with another expectation in ${placesOf([flip])}` };
    if (!isRun) return null;
  }
  return heard.length === 0 ? null : unlessWatched(lab, others, heard);
}

/** Functions that existed before the work and that it changed. */
async function changedNames(lab: Laboratory): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const path of lab.changed.slice(0, filesReadMax)) {
    const [was, is] = [await lab.textAt("base", path), await lab.textAt("work", path)];
    if (was !== null && is !== null) for (const { is: one } of redefined(path, was, is)) if (one.isFunction) names.add(one.name);
  }
  return names;
}

const isOfTests = /(?:^|[\s/._-])(?:tests?|check|spec|verify)(?:[\s/._-]|$)/i;

/** Of the breakages that the work's check missed, those that it notices on the base, and misses again. */
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
  if (usable.length === 0) return { noticed: [], missed: flips, beside: [], unread: flips };
  const quiet = await placebosFor(
    lab,
    side,
    others.filter((path) => !texts.has(path)),
  );
  const observed = await lab.run(side, [...edits, ...quiet]);
  if (observed === null) return null;
  const result = noticedBy(usable, before, observed, texts);
  return { ...result, missed: [...result.missed, ...unusable], unread: [...result.unread, ...unusable] };
}

const missed = (flips: readonly Flip[]): Experiment =>
  blindReported(
    flips
      .slice(0, shownMax)
      .map(({ path, line, broken: text }) => `${path}:${line} (${text.trim().slice(0, 120)})`)
      .join("; "),
  );
const differs = ({ beside, noticed: flips }: Noticed): Experiment => ({
  outcome: "differs",
  detail: `with ${placesOf(flips)} broken, ${beside.slice(0, shownMax).join(", ")} failed too`,
}); // K4
