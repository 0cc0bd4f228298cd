// review-points: finds parts of a change that a person should review, though nothing is wrong with
// them as such: what runs elsewhere or later, what silences a checker, and what lets code find out
// where it runs. Nothing here is refused; but if code can distinguish a check from production, that
// is a gap in the verdict. Pure.

import { type LookAt, readsArguments } from "../../contracts/evidence.ts";
import type { Difference } from "../../ports/workspace.ts";
import { readsOnlyNamed } from "./environment-reads.ts";

/** Files that something other than a check runs. */
const runPlaces: readonly (readonly [fits: RegExp, what: string])[] = [
  [
    /(?:^|\/)\.(?:github\/(?:workflows|actions)|circleci|buildkite|woodpecker|forgejo|gitea)\/|(?:^|\/)\.(?:gitlab-ci|travis|drone)\.yml$|(?:^|\/)Jenkinsfile$/,
    "is run by a build server",
  ],
  [
    /(?:^|\/)\.(?:husky|githooks)\/|(?:^|\/)(?:lefthook|\.lefthook|\.pre-commit-config)\.ya?ml$/,
    "is run by git",
  ],
  [
    /(?:^|\/)\.(?:vscode|idea|devcontainer|zed)\/|(?:^|\/)\.envrc$|\.code-workspace$/,
    "is run or read by an editor or a shell",
  ],
  [/(?:^|\/)\.gitmodules$/, "names other repositories"],
  [
    /(?:^|\/)(?:setup\.py|build\.rs|binding\.gyp|\.npmrc|\.pnpmfile\.c?js)$/,
    "is run when the project is installed or built",
  ],
];

type Patterns = readonly (readonly [what: string, pattern: RegExp])[];
const hooks: Patterns = [
  [
    "is run when the project is installed",
    /"(?:pre|post)?(?:install|prepare|prepublish\w*|dependencies)"\s*:/g,
  ],
];
const suppressions: Patterns = [
  [
    "keeps a checker from looking",
    /@ts-(?:ignore|nocheck|expect-error)\b|\b(?:eslint|oxlint|stylelint)-disable\b|\bbiome-ignore\b|#\s*noqa\b|#\s*type:\s*ignore\b|\bmypy:\s*ignore-errors\b|\bpylint:\s*(?:disable|skip-file)\b|\bpyright:\s*(?:ignore|basic)\b|\bpragma:\s*no cover\b|\b(?:istanbul|c8|v8) ignore\b|\/\/\s*nolint\b|#!?\[allow\(|@SuppressWarnings\b|\bNOSONAR\b|\brubocop:disable\b|\bshellcheck disable\b/g,
  ],
];
/** Directives that exclude a whole file from a checker: then its pass says nothing of that file. */
const fileSwitches: Patterns = [
  [
    "keeps a checker from the whole file",
    /@ts-nocheck\b|\/\*\s{0,9}(?:eslint|oxlint)-disable\s{0,9}\*\/|\bbiome-ignore-all\b|\b(?:istanbul|c8|v8) ignore file\b|\bmypy:\s*ignore-errors\b|#\s*(?:ruff|flake8):\s*noqa\s*$|\bpylint:\s*skip-file\b|#!\[allow\(/gm,
  ],
];
/**
 * JavaScript and Python are asked by an experiment (experiments/world/), the others by these words.
 */
const readsTerminal = "asks whether it writes to a terminal";
const readsEnvironment = "reads the environment";
const aboutTerminals = /terminal|\btty\b|colou?r|interactive|progress|prompt/i;
/**
 * By these, code can find out whether it is being tested, by whom and when. Each is described by
 * what is read, not by the purpose.
 */
const testDetectors: Patterns = [
  [
    readsEnvironment,
    /\bprocess\.(?:env|execArgv|title|ppid)\b|\bimport\.meta\.env\b|\bsys\.orig_argv\b|\bos\.(?:environ|getenv|Getenv|LookupEnv)\b|\benv::vars?\b|\bgetenv\s*\(|\bENV\[|\$ENV\{|\$\{?(?:MAKELEVEL|MAKEFLAGS|MFLAGS|SHLVL|PPID)\b|\bresolvedOptions\s*\(\)\.(?:timeZone|locale)\b|\bSystem\.getProperty\s*\(\s*(?!"(?:(?:line|file|path)\.separator|os\.name|user\.(?:home|dir)|java\.io\.tmpdir|java\.version)")|\bdesiredAssertionStatus\b/g,
  ],
  [readsArguments, /\bprocess\.argv\b|\bsys\.argv\b|\bos\.Args\b|\benv::args\b/g],
  [
    "reads the stack",
    /\.stack\b|\bcaptureStackTrace\b|\bprepareStackTrace\b|\binspect\.(?:stack|currentframe|getouterframes)\b|\b_getframe\b|\bf_back\b|\bruntime\.Callers?\b|\bBacktrace::|\bFUNCNAME\b|\bBASH_SOURCE\[(?:[*@]|[1-9])|\bBASH_(?:LINENO|SUBSHELL|ARGV|COMMAND)\b|\(caller\)|\bcaller\(\s*\d*\s*\)|\bgetStackTrace\b|\bStackWalker\b/g,
  ],
  [
    "reads the clock",
    /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|\btime\.(?:time|monotonic|Now|perf_counter)\b|\bdatetime\.(?:now|utcnow|today)\b|\b(?:SystemTime|Instant)::now\b|\b(?:[A-Z_]{2,}|DateTimeFormat\([^)]*\))\.format(?:ToParts)?\(\s*\)|\bnew \w*Event\([^)]*\)\.timeStamp\b|\buuid1\b|\$\^T\b|\bcurrentTimeMillis\b|\bnanoTime\b|\b(?:Instant|Local(?:Date|Time|DateTime)|ZonedDateTime)\.now\b/g,
  ],
  [
    "reads the state of its process",
    /\bNumGoroutine\b|\bruntime\.Stack\b|\bthread::current\b|\bcurrent_thread\b|\bthreading\.(?:enumerate|main_thread|active_count)\b|\bcurrent_process\b|\bisMainThread\b|\b_getActive\w+\b|\bgetActiveResourcesInfo\b|\bprocess\.(?:uptime|memoryUsage|resourceUsage)\b|\bos\.(?:getppid|Getppid)\b|\bsys\.(?:gettrace|getprofile|_current_frames)\b|\bgc\.get_(?:objects|referrers)\b|\bgetppid\s*\(|\/proc\/(?=self\b|["'`$%{])|\bManagementFactory\b|\bProcessHandle\b|\bThread\.currentThread\(\)\.getName\b/g,
  ],
  [
    "names what a test runner may set",
    /\bNODE_TEST_CONTEXT\b|\bPYTEST_CURRENT_TEST\b|\bVITEST\b|\bJEST_WORKER_ID\b|\bNODE_ENV\b|\bcfg!\(test\)|\btesting\.Testing\b|\bsys\.modules\b/g,
  ],
  [
    "reads which machine or program it is in",
    /\bos\.(?:availableParallelism|cpus|totalmem|freemem|hostname|userInfo|networkInterfaces|loadavg|cpu_count|uname)\b|\bavailableParallelism\(|\bmultiprocessing\.cpu_count\b|\bplatform\.node\b|\bgethostname\b|\bruntime\.NumCPU\b|\bavailable_parallelism\b|\bprogram_invocation_(?:short_)?name\b|\bcurrent_exe\b|\bos\.Executable\b|\bget(?:ProtectionDomain|CodeSource)\b|\bflag\.(?:Lookup|CommandLine|Parsed)\b|\b__data_start\b|\bextern\s+char\s+_?(?:end|edata|etext)\b|\b[gG]ete?uid\s*\(\s*\)|\$\{?E?UID\b|\bid -u\b|\bwhoami\b|\bfstatSync\(\s*[012]\s*\)|[$%]INC\b|%(?:main)?::(?!\w)|\bdefined\s*\(?\s*&(?:main)?::\w/g,
  ],
  [
    readsTerminal,
    /(?<!os\.)\bisatty\s*\(\s*(?:STD\w+|\d|fileno)|\bIsTerminal\b|\bis_terminal\s*\(|(?:\[|\btest)\s+-t\s+[012]\b|-t\s+\*?STD(?:IN|OUT|ERR)\b|\bSystem\.console\(\)/g,
  ],
  [
    "names a path that tests may have",
    /\b(?:is_?dir|exists\w*|l?stat\w*|access\w*|opendir|read_?dir\w*|listdir|Stat|ReadDir|metadata|Path(?:Buf)?(?:::\w+)?)\s*\(\s*["'`](?:\.{1,2}\/)*(?:tests?|specs?|__tests__)\/?["'`]|(?:\[|\btest)\s+-[def]\s+["']?(?:\.{1,2}\/)*tests?\/?["'\s\]]|\bforName\(\s*"[\w.$]*Tests?"|["'`/][\w./-]*\btests?[/_.-][\w./*-]*["'`]|["'`][\w./-]*[._-](?:test|spec)\.[\w*]+["'`]/g,
  ],
];

/**
 * `// Code generated by gen; DO NOT EDIT.`, `@generated`: in the first lines of a file that a
 * program writes.
 */
const generatedMark =
  /^.{0,80}(?:\bgenerated\b.{0,120}\bdo not (?:edit|modify|change)\b|@generated\b)/i;
const isGenerated = (text: string | null): boolean =>
  (text ?? "").split("\n", 6).some((line) => generatedMark.test(line));

export type ReviewedFile = {
  readonly difference: Difference;
  readonly before: string | null;
  readonly after: string | null;
  readonly isTest: boolean;
  /** Whether the change has no other files than tests and prose. */
  readonly isAlone?: boolean;
  /** The goal and the criteria in the person's words. */
  readonly goal?: string;
};

/** Files that nothing is made from. */
export const isProse = (path: string): boolean => /\.(?:md|mdx|rst|adoc|txt)$/.test(path);

/** What is new in one file, each with its message. */
export function findReviewPoints({
  difference: { path, kind, was = null, now = null },
  before,
  after,
  isTest,
  isAlone = false,
  goal = "",
}: ReviewedFile): readonly LookAt[] {
  if (kind === "deleted") return [];
  const runPlace = runPlaces.find(([fits]) => fits.test(path))?.[1];
  const isRunnable = now?.startsWith("100755") === true && was?.startsWith("100755") !== true;
  const points: LookAt[] = [];
  const add = (what: string, isGap = false): unknown =>
    points.push({ path, what, ...(isGap ? { gap: true as const } : {}) });
  if (runPlace !== undefined) add(runPlace);
  if (isRunnable && was !== null) add("can be run as a program now");
  if (after === null) return points;
  const listNew = (patterns: Patterns, textBefore: string, textAfter: string): Patterns =>
    patterns.filter(
      ([, pattern]) => countMatches(textAfter, pattern) > countMatches(textBefore, pattern),
    );

  if (/(?:^|\/)package\.json$/.test(path)) {
    for (const [what] of listNew(hooks, before ?? "", after)) add(what);
  }

  if (proseOrDataFile.test(path)) return points;
  const newFileSwitches = listNew(fileSwitches, before ?? "", after);
  for (const [what] of newFileSwitches) add(what, true);
  if (newFileSwitches.length === 0) {
    for (const [what] of listNew(suppressions, before ?? "", after)) add(what);
  }

  if (isTest) return points;
  if (isAlone && isGenerated(before) && isGenerated(after)) {
    add("says that it is generated, and nothing that it could be made from was changed", true);
  }

  const [partBefore, partAfter] = [
    readImportedPart(path, before ?? ""),
    readImportedPart(path, after),
  ];
  /** What the goal names in the same words was asked for: it is shown, and leaves no gap. */
  const isAskedFor = (what: string, pattern: RegExp): boolean =>
    (what === readsTerminal && aboutTerminals.test(goal)) ||
    (what === readsEnvironment &&
      readsOnlyNamed(
        partBefore,
        partAfter,
        countMatches(partAfter, pattern) - countMatches(partBefore, pattern),
        goal,
      )) ||
    (after.match(pattern) ?? []).every((word) => goal.includes(word));

  const isMainProgram = mainPrograms.some(([ending, isMain]) => ending.test(path) && isMain(after));
  for (const [what, pattern] of listNew(testDetectors, partBefore, partAfter)) {
    add(what, !(isMainProgram && what === readsArguments) && !isAskedFor(what, pattern));
  }

  return points;
}

/** How tests set what code reads. If tests do so for a module, they ask for it to be read. */
const settersInTests: Readonly<Record<string, RegExp>> = {
  [readsEnvironment]:
    /\b(?:setenv|Setenv|set_var|stubEnv)\b|\bprocess\.env(?:\.\w+|\[[^\]]+\])\s*=[^=]|\benviron(?:\[[^\]]+\]\s*=[^=]|\.update\b)|\bpatch\.dict\([^)]*environ/,
  "reads the clock":
    /\buseFakeTimers\b|\bsetSystemTime\b|\bmock\.timers\b|\bfreeze_?time\b|\btime_machine\b|\bnow\s*[:=]/i,
};
/** Whether tests can set what the point says the code reads. */
export const maySetInTests = ({ what, gap }: LookAt): boolean =>
  gap === true && settersInTests[what] !== undefined;

/** Whether a test from before the work that names a module sets what the module reads. */
export function isSetInTests({ path, what }: LookAt, tests: readonly string[]): boolean {
  const module = /([^/]+?)(?:\.[^/]*)?$/.exec(path)?.[1] ?? path;
  return tests.some((text) => text.includes(module) && settersInTests[what]?.test(text) === true);
}

/**
 * Files that cannot be imported, by the language's rules: their arguments are their input.
 * Otherwise a run decides (experiments/questions/main-program-only.ts).
 */
const mainPrograms: readonly (readonly [ending: RegExp, isMain: (text: string) => boolean])[] = [
  [/\.go$/, (text) => /^package main$/m.test(text)],
  [
    /\.rs$/,
    (text) =>
      /^(?:async )?fn main\s*\(/m.test(text) && !/#\[\s*(?:\w+::)*test\b|\bcfg\(test\)/.test(text),
  ],
];

/**
 * Whether a file newly reads the command line, so that the way it is loaded has to be determined.
 */
export const readsArgumentsNewly = (file: ReviewedFile): boolean =>
  findReviewPoints(file).some(({ what, gap }) => what === readsArguments && gap === true);

/** The module of tests in a file of Rust. */
export const rustTestModule = /^#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod \w+ \{[\s\S]*?^\}/gm;

/**
 * What a module of JavaScript does only as the main program: a top-level `if` that compares its own
 * file with the program's.
 */
const mainBlock =
  /^if \((?=[^\n]*(?:import\.meta\.(?:url|filename|main)|\b__filename\b|\brequire\.main\b))(?![^\n]*(?:\|\||!==?))[^\n]*(?:\{\n(?:(?:[ \t][^\n]*)?\n)*\}|[^\n{]|\}) *$/gm;

/** `if __name__ == "__main__":` and the indented lines below it. */
const pythonMainBlock =
  /^if __name__ == ["']__main__["']:[^\n]*(?:\n[ \t][^\n]*|\n(?=\n*[ \t]))*/gm;

/**
 * The part of a file that runs when tests import it: not what only the main program does, nor in
 * Rust its tests.
 */
function readImportedPart(path: string, text: string): string {
  if (path.endsWith(".rs")) return text.replaceAll(rustTestModule, "");
  return text.replaceAll(path.endsWith(".py") ? pythonMainBlock : mainBlock, "");
}

const proseOrDataFile = /\.(?:md|mdx|rst|adoc|txt|json|lock|ya?ml|toml|svg|csv)$/;
const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
