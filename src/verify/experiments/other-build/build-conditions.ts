// build-conditions: changes the work's code to what another build than the check's would compile:
// without cfg(test), debug assertions, features that only tests enable, `assert` and `__debug__`.
// Code that is right only in the checked build then returns something else. Pure.
//
// Invariants:
//   D1. What can be switched is a list, given by the languages: in Rust `cfg` and `debug_assert!`;
//       in C `assert`, `NDEBUG`, `__OPTIMIZE__` and macros that only rules for tests define, or
//       only other rules; in Java `assert`; in Python `assert`, `__debug__` and
//       `sys.flags.optimize`. Also who compiles, loads or sources the code: C's `__BASE_FILE__`,
//       weak names that only tests define, the program's name in a Perl module, a shell function
//       that somebody else defines. It is switched in the source text, so it does not depend on the
//       build tool.
//   D2. Only conditions on lines that the work wrote are switched, and none that contains tests:
//       the experiment needs those.
//   D3. A condition that is on in other builds too (a default feature, one that the command itself
//       names, a macro that rules besides those for tests define) is left on.

import { listSome } from "../../../kit/list-some.ts";
import { detectSourceLanguage, cFile } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket, findOutsideBrackets } from "../source-text/brackets.ts";
import { createLineCounter } from "../source-text/test-cases.ts";
import { findConditionMacros, isMacroOfCompilerFlag } from "./build-macros.ts";
import { switchJavaAsserts } from "./java-asserts.ts";
import { applyChanges, type TextChange } from "../source-text/apply-changes.ts";
import type { BuildFacts, BuildSource, SwitchedBuild } from "./build-switch.ts";
import { switchRust } from "./rust-build.ts";
import { findWeakNames, renameWeak } from "./weak-names.ts";

type ChangedSource = { readonly path: string; readonly was: string | null; readonly is: string };
export type OtherBuild = {
  readonly text: string;
  /** What is off in it, as text. */
  readonly off: readonly string[];
};

/**
 * Null if nothing the work wrote depends on the build. `isGentle`: code that only tests may need
 * stays.
 */
export function switchBuild(
  { path, was, is }: ChangedSource,
  facts: BuildFacts,
  isGentle = false,
): OtherBuild | null {
  const switchLanguage = languageSwitches.find(([ending]) => ending.test(path))?.[1];
  if (switchLanguage === undefined || is.length > textCharsMax) return null;
  const earlierLines = new Set((was ?? "").split("\n").map((line) => line.trim()));
  const lines = is.split("\n");
  const lineAt = createLineCounter(is);
  const isNew = (from: number, to: number): boolean =>
    lines
      .slice(lineAt(from) - 1, lineAt(to))
      .some((line) => line.trim() !== "" && !earlierLines.has(line.trim())); // D2

  const language = detectSourceLanguage(path);
  const code = language === null ? is : maskText(is, language);

  const {
    changes,
    prefix = "",
    off,
  } = switchLanguage({ ...facts, text: is, code, isNew, isGentle });
  return off.length === 0
    ? null
    : { text: prefix + applyChanges(is, changes), off: [...new Set(off)] };
}

const textCharsMax = 400_000;

/**
 * `assert(x)` becomes `((void)(0 && (x)))`: x isn't evaluated but still used, so that a compiler
 * has no new unused name to warn of.
 */
function switchC(source: BuildSource): SwitchedBuild {
  const { text, code, isNew, isMacroOn, isMacroOfOthers, isLinked } = source;
  const base = switchBaseFile(source);
  const changes: TextChange[] = [...base.changes];
  const off: string[] = [...base.off];

  for (const { 0: open, index } of code.matchAll(/(?<![\w.>])assert\s*\(/g)) {
    const end = findClosingBracket(code, index + open.length - 1);
    if (end === null || !isNew(index, end)) continue;
    changes.push(
      { from: index, to: index + open.length, text: "((void)(0 && (" },
      { from: end, to: end, text: "))" },
    );

    off.push("assert");
  }

  const asksFor = (name: string): boolean =>
    [
      ...text.matchAll(
        new RegExp(`^[ \\t]*#[ \\t]*(?:if|ifdef|ifndef|elif)\\b.*\\b${name}\\b.*$`, "gm"),
      ),
    ].some(({ index, 0: line }) => isNew(index, index + line.length));

  const builtIns = builtInMacros.filter(({ name }) => asksFor(name));
  const askedMacros = findConditionMacros(text, isNew);
  const flags = askedMacros.filter(isMacroOfCompilerFlag);
  const macros = askedMacros.filter((name) => !flags.includes(name) && !isMacroOn(name));
  const ofOthers = askedMacros.filter(isMacroOfOthers);
  const weakNames = findWeakNames(code, isNew).filter((name) => !isLinked(name));

  return {
    changes,
    prefix: [
      ...builtIns.map((macro) => macro.switched),
      ...macros.map((name) => `#undef ${name}\n`),
      ...[...flags, ...ofOthers].map(toggleMacro),
      ...weakNames.map(renameWeak),
    ].join(""),
    off: [
      ...off,
      ...builtIns.map(({ what }) => what),
      ...macros,
      ...flags,
      ...ofOthers.map((name) => `${name} being undefined`),
      ...weakNames.map((name) => `${name} being linked in`),
    ],
  };
}

/** Lines that define a macro if it isn't defined, and else take it back. */
const toggleMacro = (name: string): string =>
  `#ifdef ${name}\n#undef ${name}\n#else\n#define ${name} 1\n#endif\n`;

/**
 * Macros by which every C compiler tells builds apart, each with the lines that switch it, and what
 * is then off.
 */
const builtInMacros = [
  { name: "NDEBUG", switched: "#ifndef NDEBUG\n#define NDEBUG 1\n#endif\n", what: "assert" },
  {
    name: "__OPTIMIZE__",
    switched: toggleMacro("__OPTIMIZE__"),
    what: "the optimisation of the check's build",
  },
];

function switchJava({ code, isNew }: BuildSource): SwitchedBuild {
  const changes = switchJavaAsserts(code, isNew);
  return { changes, off: changes.length === 0 ? [] : ["assert"] };
}

/** Replaces each match in lines that the work wrote by what it would be in another build. */
const switchEach =
  (pattern: RegExp, replace: (match: string, name: string) => string, what: string) =>
  ({ code, isNew }: BuildSource): SwitchedBuild => {
    const changes = [...code.matchAll(pattern)]
      .filter(({ index }) => isNew(index, index))
      .map(({ 0: match, 1: name = "", index }) => ({
        from: index,
        to: index + match.length,
        text: replace(match, name),
      }));

    return { changes, off: changes.length === 0 ? [] : [what] };
  };

const switchPerl = switchEach(
  /\$0\b|\$PROGRAM_NAME\b/g,
  () => '"/usr/bin/app"',
  "the name of the program that loads it",
);
/**
 * In a shell script, a question for a function is asked without that function. Programs are still
 * found.
 */
const switchShell = switchEach(
  /\b(?:type(?:\s+-\w+)?|declare\s+-[fF]|command\s+-[vV])\s+([A-Za-z_]\w*)\b/g,
  (match, name) => `eval '(unset -f ${name}; ${match})'`,
  "functions of who sources it",
);
/** Where the file is compiled from, and whether a header of the project is to be found there. */
const switchBaseFile = switchEach(
  /\b__(?:BASE_FILE|INCLUDE_LEVEL)__\b|\b__has_include\s*\(\s*"[^"\n]*"\s*\)/g,
  (match) => (match === "__BASE_FILE__" ? '"main.c"' : match.startsWith("__has") ? "0" : "9"),
  "the name of the file that is compiled",
);

function switchPython({ text, code, isNew }: BuildSource): SwitchedBuild {
  const changes: TextChange[] = [];
  const off: string[] = [];

  for (const { 0: open, index } of code.matchAll(/(?<=^[ \t]*|[:;][ \t]*)assert\b(?!\s*=)/gm)) {
    const from = index + open.length;
    const to = findConditionEnd(code, from);
    if (!isNew(index, to) || text.slice(from, to).trim() === "") continue;
    changes.push({ from, to: from, text: " True or (" }, { from: to, to, text: ")" });
    off.push("assert");
  }

  for (const { 0: word, index } of code.matchAll(/\b__debug__\b|\bsys\.flags\.optimize\b/g)) {
    if (!isNew(index, index)) continue;
    changes.push({
      from: index,
      to: index + word.length,
      text: word === "__debug__" ? "False" : "1",
    });

    off.push("assert");
  }

  return { changes, off };
}

const languageSwitches: readonly (readonly [
  ending: RegExp,
  switchLanguage: (text: BuildSource) => SwitchedBuild,
])[] = [
  [/\.pm$/, switchPerl],
  [/\.(?:sh|bash)$/, switchShell],
  [cFile, switchC],
  [/\.rs$/, switchRust],
  [/\.pyi?$/, switchPython],
  [/\.java$/, switchJava],
];

/** Where an assert's condition ends: before its message, or with its line. */
function findConditionEnd(code: string, from: number): number {
  const isEnd = (letter: string, index: number): boolean =>
    /[,;]/.test(letter) || (letter === "\n" && code[index - 1] !== "\\");
  return (
    from + code.slice(from, findOutsideBrackets(code, from, code.length, isEnd)).trimEnd().length
  );
}

export const describeBuildDependence = (
  off: readonly string[],
  tests: readonly string[],
): string => {
  const verb = tests.length === 1 ? "fails" : "fail";
  const failure = tests.length === 0 ? "it fails" : `${listSome(tests)} ${verb}`;
  return `what the work answers depends on the build: without ${listSome(off)} ${failure}`;
};
/** If runs in the other build showed neither. */
export const describeUndecidedBuild = (off: readonly string[]): string =>
  `it could not be found out whether the work answers the same without ${listSome(off)}, by which it goes`;
