// review-patterns: the paths and words by which parts of a change are recognised that a person
// should review. Each is described by what the code does, not by what for. Pure data.

import { readsArguments } from "../../contracts/evidence.ts";

/** Files that something other than a check runs. */
export const runPlaces: readonly (readonly [fits: RegExp, what: string])[] = [
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

export type Patterns = readonly (readonly [what: string, pattern: RegExp])[];
export const hooks: Patterns = [
  [
    "is run when the project is installed",
    /"(?:pre|post)?(?:install|prepare|prepublish\w*|dependencies)"\s*:/g,
  ],
];
export const suppressions: Patterns = [
  [
    "keeps a checker from looking",
    /@ts-(?:ignore|nocheck|expect-error)\b|\b(?:eslint|oxlint|stylelint)-disable\b|\bbiome-ignore\b|#\s*noqa\b|#\s*type:\s*ignore\b|\bmypy:\s*ignore-errors\b|\bpylint:\s*(?:disable|skip-file)\b|\bpyright:\s*(?:ignore|basic)\b|\bpragma:\s*no cover\b|\b(?:istanbul|c8|v8) ignore\b|\/\/\s*nolint\b|#!?\[allow\(|@SuppressWarnings\b|\bNOSONAR\b|\brubocop:disable\b|\bshellcheck disable\b/g,
  ],
];
/** Directives that exclude a whole file from a checker: then its pass says nothing of that file. */
export const fileSwitches: Patterns = [
  [
    "keeps a checker from the whole file",
    /@ts-nocheck\b|\/\*\s{0,9}(?:eslint|oxlint)-disable\s{0,9}\*\/|\bbiome-ignore-all\b|\b(?:istanbul|c8|v8) ignore file\b|\bmypy:\s*ignore-errors\b|#\s*(?:ruff|flake8):\s*noqa\s*$|\bpylint:\s*skip-file\b|#!\[allow\(/gm,
  ],
];
/**
 * In JavaScript and Python an experiment finds it out (experiments/other-world/), in the others
 * these words do.
 */
export const readsTerminal = "asks whether it writes to a terminal";
export const readsEnvironment = "reads the environment";
export const aboutTerminals = /terminal|\btty\b|colou?r|interactive|progress|prompt/i;
/**
 * By these, code can find out whether it is being tested, by whom and when. Each is described by
 * what is read, not by the purpose. In JavaScript and Python they are the reads that count wherever
 * their value goes; whatever else these languages and shells decide by is found by ambient/.
 */
export const testDetectors: Patterns = [
  [
    readsEnvironment,
    /\bprocess\.env\b|\bimport\.meta\.env\b|\bos\.(?:environ|getenv|Getenv|LookupEnv)\b|\benv::vars?\b|\b(?:option_)?env!\s*[([{]\s*(?!"(?:CARGO_(?:PKG_\w+|MANIFEST_DIR|CRATE_NAME|BIN_NAME|BIN_EXE_[\w-]+)|OUT_DIR)")|\bgetenv\s*\(|\bENV\[|\$ENV\{|\$\{?(?:MAKELEVEL|MAKEFLAGS|MFLAGS|SHLVL|PPID)\b|\bresolvedOptions\s*\(\)\.(?:timeZone|locale)\b|\bSystem\.getProperty\s*\(\s*(?!"(?:(?:line|file|path)\.separator|os\.name|user\.(?:home|dir)|java\.io\.tmpdir|java\.version)")|\bdesiredAssertionStatus\b/g,
  ],
  [readsArguments, /\bprocess\.argv\b|\bsys\.argv\b|\bos\.Args\b|\benv::args\b/g],
  [
    "reads the stack",
    /\.stack\b|\bcaptureStackTrace\b|\bprepareStackTrace\b|\binspect\.(?:stack|currentframe|getouterframes)\b|\b_getframe\b|\b_current_frames\b|\bf_back\b|\bruntime\.Callers?\b|\bBacktrace::|\bFUNCNAME\b|\bBASH_SOURCE\[(?:[*@]|[1-9])|\bBASH_(?:LINENO|SUBSHELL|ARGV|COMMAND)\b|\(caller\)|\bcaller\(\s*\d*\s*\)|\bgetStackTrace\b|\bStackWalker\b/g,
  ],
  [
    "reads the clock",
    /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|\btime\.(?:time|monotonic|Now|perf_counter)\b|\bdate(?:time)?\.(?:now|utcnow|today)\b|\b(?:SystemTime|Instant)::now\b|\b(?:[A-Z_]{2,}|DateTimeFormat\([^)]*\))\.format(?:ToParts)?\(\s*\)|\bnew \w*Event\([^)]*\)\.timeStamp\b|\buuid1\b|\$\^T\b|\bcurrentTimeMillis\b|\bnanoTime\b|\b(?:Instant|Local(?:Date|Time|DateTime)|ZonedDateTime)\.now\b/g,
  ],
  [
    "reads the state of its process",
    /\bNumGoroutine\b|\bruntime\.Stack\b|\bthread::current\b|\bcurrent_thread\b|\bgc\.get_(?:objects|referrers)\b|\bos\.Getppid\b|\bgetppid\s*\(|\/proc\/(?=self\b|["'`$%{])|\bManagementFactory\b|\bProcessHandle\b|\bThread\.currentThread\(\)\.getName\b/g,
  ],
  [
    "names what a test runner may set",
    /\bNODE_TEST_CONTEXT\b|\bPYTEST_CURRENT_TEST\b|\bVITEST\b|\bJEST_WORKER_ID\b|\bNODE_ENV\b|\bcfg!\(test\)|\btesting\.Testing\b|\bsys\.modules\b/g,
  ],
  [
    "reads which machine or program it is in",
    /\bgethostname\b|\bruntime\.NumCPU\b|\bavailable_parallelism\b|\bprogram_invocation_(?:short_)?name\b|\bcurrent_exe\b|\bos\.Executable\b|\bget(?:ProtectionDomain|CodeSource)\b|\bflag\.(?:Lookup|CommandLine|Parsed)\b|\b__data_start\b|\bextern\s+(?:const\s+)?char\s+[^;]*\b_{0,2}(?:end|[eb]?data|etext|executable_start|bss_start)\b|\b[gG]ete?uid\s*\(\s*\)|\$\{?E?UID\b|\bid -u\b|\bwhoami\b|\bfstatSync\(\s*[012]\s*\)|(?:\bimport\.meta\.\w+|\b__(?:dirname|filename|file__))[^\n]*(?:node_modules|(?:site|dist)-packages)\b|[$%]INC\b|%(?:main)?::(?!\w)|\bdefined\s*\(?\s*&(?:main)?::\w/g,
  ],
  [
    "compares with the folder for temporary files",
    /(?:starts_?with|Has(?:Prefix|Suffix)|[cC]ontains|includes|indexOf|match\w*|test|strn?cmp|strstr|[=!]=+|=~)\s*\(?[^()\n]{0,60}["'`/^]\\?\/(?:private\\?\/)?(?:var\\?\/)?tmp\b|["'`/^]\\?\/tmp\b[^\s"'`]{0,30}(?:["']\s+(?:not\s+)?in\b|\/[a-z]{0,3}\.(?:test|exec)\()/gi,
  ],
  [
    readsTerminal,
    /(?<!os\.)\bisatty\s*\(\s*(?:STD\w+|\d|fileno)|\bIsTerminal\b|\bis_terminal\s*\(|-t\s+\*?STD(?:IN|OUT|ERR)\b|\bSystem\.console\(\)/g,
  ],
  [
    "names a path that tests may have",
    /\b(?:is_?dir|exists\w*|l?stat\w*|access\w*|opendir|read_?dir\w*|listdir|Stat|ReadDir|metadata|Path(?:Buf)?(?:::\w+)?)\s*\(\s*["'`](?:\.{1,2}\/)*(?:tests?|specs?|__tests__)\/?["'`]|(?:\[|\btest)\s+-[def]\s+["']?(?:\.{1,2}\/)*tests?\/?["'\s\]]|\bforName\(\s*"[\w.$]*Tests?"|["'`/][\w./-]*\btests?[/_.-][\w./*-]*["'`]|["'`][\w./-]*[._-](?:test|spec)\.[\w*]+["'`]|["'`][\w./$-]+Tests?(?:\.class)?["'`]/g,
  ],
];
