// find-world-dependence: finds out whether a passing check fails if something is different that
// must not matter (wrap-in-other-world.ts): code may be right on the machine that checks it, and
// wrong for its users. Pure, except for those runs.
//
// Invariants:
//   D1. If the check passes there too, it costs one run, or none if a repetition has passed there
//       already. Only a failure is looked into, by halves, until it is known which difference
//       matters.
//   D2. A failure counts only if it is repeated there, and the check passes again here: a flaky
//       test shows nothing.
//   D3. The work has to be the cause: a test that fails there before the work as well shows
//       nothing. Nor does a test, or a goal, that is about what is different; tests are read as
//       they were before the work.

import { listSome } from "../../../kit/list-some.ts";
import { isReadOnly } from "../../protected/programs.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import type { Lab } from "../lab.ts";
import { readTests, type QuestionContext } from "../questions/question-context.ts";
import {
  findTestCases,
  isNameOfFile,
  isNameOfTest,
  omitGroups,
} from "../source-text/test-cases.ts";
import { worldFacts, type WorldFact } from "./wrap-in-other-world.ts";

const namesMax = 5;
const lateGap =
  "it could not be found out whether it passes in another time zone, language and number of processors";

export type WorldContext = Pick<
  QuestionContext,
  "elsewhere" | "runWith" | "goal" | "rules" | "differences"
> & {
  readonly check: Pick<QuestionContext["check"], "command">;
  readonly lab: Pick<Lab, "now" | "before" | "textAt">;
};

export async function findWorldDependence(context: WorldContext): Promise<string | null> {
  const { lab, elsewhere, runWith, check } = context;
  if (elsewhere.isAnswered() || isReadOnly(check.command)) return null; // D1
  const first = await elsewhere.run("work", worldFacts);
  if (first === null) return lateGap;
  if (first.passed) return null;
  const isCounted = (lab.now.tests?.ran ?? 0) > 0;
  const failedIn = ({ failed }: Observed): readonly string[] =>
    omitGroups([...failed].filter((name) => !lab.now.failed.has(name)));
  const failedCount = lab.now.tests?.failed ?? 0;
  /** Some runners count failures and name none (`cargo test -q`). */
  const isShown = (observed: Observed | null): observed is Observed =>
    observed?.passed === false &&
    (!isCounted || failedIn(observed).length > 0 || (observed.tests?.failed ?? 0) > failedCount);
  if (!isShown(first)) return null; // the test runner itself does not start there
  let isSteady = false;

  for (let facts: readonly WorldFact[] = worldFacts; facts.length > 0;) {
    const found = await narrowFacts(context, facts, isShown);
    if (found === null || found === "late") return found === null ? null : lateGap;
    isSteady ||= (await runWith(null, {}))?.passed === true;
    if (!isSteady) return null; // D2
    const names = await removeEarlierFailures(context, found.different, failedIn(found.observed));
    if (names !== null && !(await isAboutFacts(context, found.different, names))) {
      return describeWorld(found.different, names);
    } // D3

    facts = facts.filter((fact) => !found.different.includes(fact));
    const rest = facts.length === 0 ? null : await elsewhere.run("work", facts);
    if (!isShown(rest)) return rest === null && facts.length > 0 ? lateGap : null;
  }

  return null;
}

type FoundFacts = { readonly different: readonly WorldFact[]; readonly observed: Observed };

/**
 * The fewest of these facts with which the check fails there again, by halves (D1); null if it does
 * not fail again.
 */
async function narrowFacts(
  { elsewhere }: Pick<WorldContext, "elsewhere">,
  facts: readonly WorldFact[],
  isShown: (observed: Observed | null) => observed is Observed,
): Promise<FoundFacts | "late" | null> {
  let found: FoundFacts | null = null;
  for (let parts = splitFacts(facts); parts.length > 0;) {
    let shown: FoundFacts | null = null;
    for (const different of parts) {
      const observed = await elsewhere.run("work", different);
      if (observed === null) return "late";
      if (isShown(observed)) shown = { different, observed };
      if (shown !== null) break;
    }

    found = shown ?? found;
    parts = shown === null || shown.different === facts ? [] : splitFacts(shown.different, []);
  }

  return found;
}

/** Two halves, and all of them: a failure may need two facts at once. */
function splitFacts(
  facts: readonly WorldFact[],
  last: readonly (readonly WorldFact[])[] = [facts],
): readonly (readonly WorldFact[])[] {
  const middle = Math.ceil(facts.length / 2);
  return facts.length === 1 ? last : [facts.slice(0, middle), facts.slice(middle), ...last];
}

/**
 * The failed tests without those that fail there before the work as well; null if none is left, or
 * the check does not work there at all.
 */
async function removeEarlierFailures(
  context: WorldContext,
  different: readonly WorldFact[],
  names: readonly string[],
): Promise<readonly string[] | null> {
  const { lab, elsewhere } = context;
  if (lab.before === null) return names; // it failed, and says nothing of its tests
  const base = await elsewhere.run("base", different);
  if (base === null || (lab.before.passed && !base.passed && base.failed.size === 0)) return null;
  const left = names.filter(
    (name) => !base.failed.has(name) || lab.before?.failed.has(name) === true,
  );

  const newlyFailed = [...base.failed].filter((name) => lab.before?.failed.has(name) !== true);
  const isAboutPlace = different.every((fact) => placeFacts.has(fact));
  const caused = isAboutPlace ? await removeFileMates(context, left, newlyFailed) : left;

  return names.length > 0 && caused.length === 0 ? null : caused;
}

const placeFacts: ReadonlySet<WorldFact> = new Set(["tests beside it", "sources beside it"]);

/**
 * Without the tests beside older ones that fail there, too: what those read (`fixtures/small.log`)
 * is not where it was, and tests of the same file read it as well (D3).
 */
async function removeFileMates(
  context: WorldContext,
  names: readonly string[],
  failedBefore: readonly string[],
): Promise<readonly string[]> {
  if (names.length === 0 || failedBefore.length === 0) return names;
  const mates = new Set<string>();

  for (const { path, text } of await readTests(context)) {
    const cases = findTestCases(path, text);
    const hasCase = (name: string): boolean => cases.some((test) => isNameOfTest(name, test));
    if (failedBefore.some(hasCase)) for (const name of names.filter(hasCase)) mates.add(name);
  }

  return names.filter((name) => !mates.has(name));
}

/**
 * Whether the goal, or one of the failed tests (or test files) as it was before the work, is about
 * what is different (D3).
 */
export async function isAboutFacts(
  context: WorldContext,
  different: readonly WorldFact[],
  names: readonly string[],
): Promise<boolean> {
  const { lab, goal = "", check } = context;
  const texts: string[] = [];

  for (const { path } of await readTests(context)) {
    const text = (await lab.textAt("base", path)) ?? "";
    const cases = findTestCases(path, text);
    if (
      names.some(
        (name) => isNameOfFile(name, path) || cases.some((test) => isNameOfTest(name, test)),
      )
    ) {
      texts.push(text);
    }
  }

  const isAbout = (fact: WorldFact): boolean =>
    subjects[fact].test(`${isIndependenceAsked.test(goal) ? "" : goal}\n${check.command}`) ||
    texts.some((text) => isTestAbout(fact, text));
  return different.some(isAbout);
}

/** A goal that asks for the same answer everywhere: "whatever the machine's time zone". */
const isIndependenceAsked =
  /\b(?:whatever|regardless of|irrespective of|independent(?:ly)? of|no matter|in (?:any|every|all))\b[^.;\n]{0,40}\b(?:time ?zones?|zones?|locales?|languages?|machines?|users?|processors?)\b/i;

/**
 * A test that gives its moments in UTC asks for the same answer in every time zone, unless it
 * speaks of zones.
 */
const isTestAbout = (fact: WorldFact, text: string): boolean =>
  subjects[fact].test(text) &&
  (fact !== "time zone" || !givenInUtc.test(text) || aboutZones.test(text));
const givenInUtc = /\d(?:Z|\+00:00)["'`]|\bUTC\b|\bT\d\d:\d\d:\d\dZ/;
const aboutZones =
  /time ?zone|\bTZ\b|\blocal ?time|toLocale|\b(?:America|Europe|Asia|Africa|Australia|Pacific|Etc)\//i;

const subjects: Readonly<Record<WorldFact, RegExp>> = {
  "time zone":
    /time ?zone|\bTZ\b|\bUTC\b|\blocal ?time|\bdates?\b|datetime|strftime|calendar|\bclock\b/i,
  language: /locale|language|\bIntl\b|translat|collat|alphabet|currency|\bLC_|\bLANG\b/i,
  "number of processors": /processor|\bcpu|worker|parallel|concurren|\bthreads?\b/i,
  user: /getuid|userInfo|getpass|getpwuid|whoami|\b(?:USER|LOGNAME)\b|permission|chmod|EACCES|host ?name/,
  "hash seed": /\bhash/i,
  output: /\bpipes?\b|isatty|isTTY|terminal|buffer/i,
  terminal: /isatty|isTTY|terminal|colou?r|\bansi\b|progress|spinner|interactive/i,
  "temporary folder": /\bTMPDIR\b|\btemp(?:orary)? (?:file|folder|director)/,
  "tests beside it": /\btests? (?:folder|director|file)|test suite|\bgit\b|repositor/i,
  "runner's variables":
    /\benv::|\b(?:Getenv|Setenv|LookupEnv|Environ)\b|environment variable|(?<!env!\(")\bCARGO_/,
  "sources beside it":
    /\bsource (?:files?|code)\b|\bgo\.mod\b|\bCargo\.toml\b|\bcurrent_dir\b|\bGetwd\b|\bworking (?:folder|director)|\bgit\b/i,
  "test program": /\bexecutable\b|\bcurrent_exe\b|\bargs_os\b|\bos\.Args\b/i,
};

const described: Readonly<Record<WorldFact, string>> = {
  "time zone": "in another time zone",
  language: "in another language",
  "number of processors": "with another number of processors",
  user: "for another user",
  "hash seed": "with another hash seed",
  output: "with its output in a file",
  terminal: "on a terminal",
  "temporary folder": "with other temporary folders",
  "tests beside it": "where neither tests nor a history lie beside the code",
  "runner's variables": "without the variables that a test runner sets",
  "sources beside it": "in a folder without its source files",
  "test program": "in a program with another name, place and parent than under a test runner",
};

export function describeWorld(different: readonly WorldFact[], names: readonly string[]): string {
  const where =
    different.length <= 3
      ? different.map((fact) => described[fact]).join(" and ")
      : "in another world: time zone, language, processors, user, terminal and temporary folders at once";

  if (names.length === 0) return `it passes here and fails ${where}`;
  const subject =
    names.length === 1
      ? "1 test passes here and fails"
      : `${names.length} tests pass here and fail`;

  return `${subject} ${where}: ${listSome(names, namesMax)}`;
}
