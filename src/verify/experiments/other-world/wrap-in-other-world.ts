// wrap-in-other-world: wraps a command so that everything that must not matter to code is
// different: time zone, language, number of processors, user, hash seed, kind of output, a
// terminal, temporary folders, whether tests lie beside it, and what a test runner leaves for it to
// see. Pure.
//
// Invariants:
//   W1. Tools see the differences too, so each stays within what any machine could have: no tool
//       fails because of it.
//   W2. The command itself stays as it was: its words, its folder, its files. Only where no variable
//       changes what code sees and its tests don't, the source is changed to ask for something else:
//       the number of processors (Go), the folder for temporary files (Go, Rust, Java).

import { loadPrograms } from "./world-programs.ts";
import { startTestPrograms } from "./world-runner.ts";

export const worldFacts = [
  "time zone",
  "language",
  "number of processors",
  "user",
  "hash seed",
  "output",
  "terminal",
  "temporary folder",
  "tests beside it",
  "runner's variables",
  "sources beside it",
  "test program",
] as const;
export type WorldFact = (typeof worldFacts)[number];

/**
 * More than most machines have that run checks, and few enough for a test runner that starts a
 * worker for each.
 */
const processorsMany = 9;
const processorsFew = 2;
/** `nobody`, who has an entry on every system. */
const otherUser = 65_534;

/** Shell lines that set up the differences; the command follows on lines of its own (W2). */
export function wrapInOtherWorld(
  command: string,
  different: readonly WorldFact[] = worldFacts,
): string {
  const lines = different.map((fact) => setupLines[fact](command)).filter((line) => line !== "");
  const valueOf = (fact: WorldFact, value: string): string =>
    different.includes(fact) ? value : "0";

  const programs = loadPrograms([
    valueOf("number of processors", '"$_processors"'),
    valueOf("user", String(otherUser)),
    valueOf("terminal", "1"),
    valueOf("temporary folder", "1"),
    valueOf("tests beside it", "1"),
  ]);

  const isDifferent = (fact: WorldFact): number => Number(different.includes(fact));
  const started = startTestPrograms([
    isDifferent("runner's variables"),
    isDifferent("sources beside it"),
    isDifferent("test program"),
  ]);

  const needs = (facts: ReadonlySet<WorldFact>, line: string): readonly string[] =>
    different.some((fact) => facts.has(fact)) ? [line] : [];
  return [
    ...lines,
    ...needs(changedFacts, unnoticedByGit),
    ...needs(patchedFacts, programs),
    ...needs(runnerFacts, started),
    command,
  ].join("\n");
}

/** For these, sources are changed (W2). */
const changedFacts: ReadonlySet<WorldFact> = new Set([
  "number of processors",
  "temporary folder",
] as const);
/** A command that asks git whether it changed a file is not told of those that were changed here. */
const unnoticedByGit = `git ls-files -zm 2>/dev/null | xargs -0r git update-index --assume-unchanged`;

/** What no variable can change is changed by programs that processes of Node and Python load. */
const patchedFacts: ReadonlySet<WorldFact> = new Set([
  "number of processors",
  "user",
  "terminal",
  "temporary folder",
  "tests beside it",
] as const);

/** What test programs of Go and Cargo see of who runs them. */
const runnerFacts: ReadonlySet<WorldFact> = new Set([
  "runner's variables",
  "sources beside it",
  "test program",
] as const);

const setupLines: Readonly<Record<WorldFact, (command: string) => string>> = {
  "time zone": () => "export TZ=Pacific/Kiritimati",
  // ICU needs no installed locale; for what asks the system, one that is not installed is an error.
  // Messages of tools stay English.
  language: () =>
    `if { [ -f package.json ] || locale -a | grep -qix 'de_DE[.]utf-*8'; } 2>/dev/null; then unset LC_ALL LC_MESSAGES; export LC_CTYPE=C.UTF-8 LANG=de_DE.UTF-8 LANGUAGE=en PERL_BADLANG=0; fi`,
  "number of processors": () =>
    `_processors=${processorsMany}; if [ "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" -ge ${processorsMany} ]; then _processors=${processorsFew}; taskset -cp 0-${processorsFew - 1} $$ >/dev/null 2>&1; fi; export GOMAXPROCS="$_processors" PYTHON_CPU_COUNT="$_processors"; ${askGo}`,
  user: () => "export USER=nobody LOGNAME=nobody",
  "hash seed": () => "export PYTHONHASHSEED=4242",
  output: (command) => {
    const programs = /\$\(|`|(?<!\|)\|(?!\|)/.test(command)
      ? [...command.matchAll(interpreter)].map((match) => match[1] ?? "")
      : [];
    return [...new Set(programs)].map(redirectToFile).join("\n");
  },
  terminal: () => "export NO_COLOR=1 TERM=dumb", // colours are no answer
  "temporary folder": () =>
    `mkdir -p "$HOME/t" && export TMPDIR="$HOME/t"\n${moveTemporaryFolders}\n${askForOtherFolder}`,
  "tests beside it": () => "",
  "runner's variables": () => "",
  "sources beside it": () => "",
  "test program": () => "",
};

/**
 * In Go sources, `GOMAXPROCS(0)` in the place of `NumCPU()`: it is the number of processors too,
 * and a variable can change it.
 */
const askGo = `[ ! -f go.mod ] || grep -rlZ --include='*.go' 'runtime[.]NumCPU()' . | xargs -0r sed -i 's/runtime[.]NumCPU()/runtime.GOMAXPROCS(0)/g'`;

/**
 * A `mktemp` that makes what it is given no place for elsewhere than TMPDIR says, as on macOS: a
 * shell script can't tell by TMPDIR whether it runs in such a folder. Where it can't be started
 * (a folder without programs), the usual one stays.
 */
const moveTemporaryFolders = `_places=$(mktemp -d) && printf '#!/bin/sh\\n_mktemp="%s" _home="%s"\\n' "$(command -v mktemp)" "$HOME" >"$_places/mktemp" && cat >>"$_places/mktemp" <<'END_OF_MKTEMP'
_given=
for _word; do case "$_word" in -p*|--tmpdir*) _given=place ;; --*) ;; -*t*) _given=\${_given:-prefix} ;; -*) ;; *) _given=\${_given:-place} ;; esac; done
case "$_given" in
  place) exec "$_mktemp" "$@" ;;
  prefix) TMPDIR=$_home exec "$_mktemp" "$@" ;;
  *) exec "$_mktemp" "$@" "$_home/wXXXXXXXXXX" ;;
esac
END_OF_MKTEMP
chmod +x "$_places/mktemp" && "$_places/mktemp" -u >/dev/null 2>&1 && export PATH="$_places:$PATH"`;

/**
 * In sources of Go, Rust and Java outside of tests, another folder in the place of the one for
 * temporary files: code can't tell by it whether it runs in a folder that tests made.
 */
const askForOtherFolder = [
  'mkdir -p "$HOME/u"',
  ...[
    [`-name '*.go' ! -name '*_test.go'`, 's|os[.]TempDir()|(os.Getenv("HOME") + "/u")|g'],
    [
      `-name '*.rs' ! -path '*/tests/*' ! -path '*/benches/*'`,
      '1,/cfg(test)/ s|\\(std::\\)\\{0,1\\}env::temp_dir()|({ let _usual = &; std::path::PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join("u") })|g',
    ],
    [
      `-name '*.java' ! -path '*[tT]est*'`,
      's|System[.]getProperty("java[.]io[.]tmpdir")|(System.getenv("HOME") + "/u")|g',
    ],
  ].map(
    ([files, change]) =>
      `find . -maxdepth 12 \\( -name .git -o -name node_modules -o -name target -o -name vendor \\) -prune -o -type f ${files} -exec grep -lE 'os[.]TempDir[(]|env::temp_dir[(]|java[.]io[.]tmpdir' {} + | while IFS= read -r _file; do sed -i '${change}' "$_file"; done`,
  ),
].join("\n");

/** Programs that a command starts: `node` of `out=$(node cli.js)`. */
const interpreter =
  /(?:^|[;&|(`]|\b(?:then|do|if|while|!))\s*(node|deno|bun|python3?|ruby|perl|php|java|bash)(?=\s)/g;
/** A shell function with the program's name, which lets it write into a file and prints that. */
const redirectToFile = (name: string): string =>
  `${name}() { _output=$(mktemp) && { command ${name} "$@" >"$_output"; set -- $?; cat "$_output"; return "$1"; }; }`;
