// build-conditions: changes the work's code to what another build than the check's would compile: without cfg(test), debug assertions,
// features that only tests enable, `assert` and `__debug__`. Code that is right only in the checked build then returns something else. Pure.
//
// Invariants:
//   D1. What can be switched is a list, given by the languages: in Rust `cfg` and `debug_assert!`; in C `assert`, `NDEBUG`, `__OPTIMIZE__` and
//       macros that only rules for tests define; in Java `assert`; in Python `assert`, `__debug__` and `sys.flags.optimize`. Also who compiles,
//       loads or sources the code: C's `__BASE_FILE__`, the program's name in a Perl module, a shell function that somebody else defines.
//       It is switched in the source text, so it does not depend on the build tool.
//   D2. Only conditions on lines that the work wrote are switched, and none that contains tests: the experiment needs those.
//   D3. A condition that is on in other builds too (a default feature, one that the command itself names) is left on.

import { detectLanguage } from "../../protected/kinds.ts";
import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket, createLineCounter } from "../source/test-cases.ts";
import { findAskedMacros, isCompilerFlag, switchJavaAsserts } from "./build-macros.ts";

type Source = { readonly path: string; readonly was: string | null; readonly is: string };
type Change = { readonly from: number; readonly to: number; readonly text: string };
export type OtherBuild = {
  readonly text: string;
  /** What is off in it, as text. */
  readonly off: readonly string[];
};

/** Null if nothing the work wrote depends on the build. `isOn`: see D3. `isGentle`: code that only tests may need stays. */
export function switchBuild(source: Source, isOn: (feature: string) => boolean, isGentle = false): OtherBuild | null {
  const { path, was, is } = source;
  const switchLanguage = languageSwitches.find(([ending]) => ending.test(path))?.[1];
  if (switchLanguage === undefined || is.length > textCharsMax) return null;
  const earlierLines = new Set((was ?? "").split("\n").map((line) => line.trim()));
  const lines = is.split("\n");
  const lineAt = createLineCounter(is);
  const isNew = (from: number, to: number): boolean =>
    lines.slice(lineAt(from) - 1, lineAt(to)).some((line) => line.trim() !== "" && !earlierLines.has(line.trim())); // D2
  const language = cFile.test(path) ? "java" : detectLanguage(path);
  const code = language === null ? is : maskText(is, language);
  const { changes, head = "", off } = switchLanguage({ text: is, code, isNew, isOn, isGentle });
  return off.length === 0 ? null : { text: head + applyChanges(is, changes), off: [...new Set(off)] };
}

const cFile = /\.(?:c|cc|cpp|cxx|h|hpp)$/;

const textCharsMax = 400_000;

type SourceText = {
  readonly text: string;
  /** Without comments and strings. */
  readonly code: string;
  readonly isNew: (from: number, to: number) => boolean;
  readonly isOn: (feature: string) => boolean;
  readonly isGentle: boolean;
};
/** `head`: lines before the text. `off`: what is off, as text. */
type SwitchedBuild = { readonly changes: readonly Change[]; readonly head?: string; readonly off: readonly string[] };

/** From the last to the first, so that positions stay right. */
function applyChanges(text: string, changes: readonly Change[]): string {
  let changed = text;
  for (const { from, to, text: replacement } of changes.toSorted((left, right) => right.from - left.from || right.to - left.to))
    changed = changed.slice(0, from) + replacement + changed.slice(to);
  return changed;
}

/** Conditions on the target, which is the same for every build on this machine. */
const targetCondition = /^(?:unix|windows|any|all|not|true|false|target_\w+|panic|proc_macro|miri|version|accessible)$/;

function switchRust({ text, code, isNew, isOn, isGentle }: SourceText): SwitchedBuild {
  const changes: Change[] = [];
  const off: string[] = [];
  const isNeeded = isGentle ? createUseFilter(code) : () => true;
  for (const { 0: open, index } of code.matchAll(/\bcfg(?:_attr)?\s*(?:!\s*)?\(/g)) {
    const start = index + open.length;
    const close = findClosingBracket(code, start - 1);
    if (close === null) continue;
    const to = open.startsWith("cfg_attr") ? findFirstComma(code, start, close - 1) : close - 1;
    const behind = /^\s*\]\s*(?:#\[[^\]]*\]\s*)*/.exec(code.slice(close));
    const item = behind === null ? close : close + behind[0].length;
    if (behind !== null && !open.startsWith("cfg_attr") && containsTests(code, item)) continue; // D2
    if (isGentle && behind !== null && text.slice(start, to).trim() === "test" && !isNeeded(item)) continue;
    if (!isNew(index, behind === null ? close : findItemEnd(code, item))) continue;
    for (const { 0: word, 1: feature, index: at } of text
      .slice(start, to)
      .matchAll(/\bfeature\s*=\s*"([^"]*)"|\b[a-z_]\w*\b(?!\s*[=(])/g)) {
      if (feature === undefined ? targetCondition.test(word) || isInString(code, start + at, word) : isOn(feature)) continue; // D3
      changes.push({ from: start + at, to: start + at + word.length, text: "any()" }); // which is never true
      const condition = word === "debug_assertions" ? "debug assertions" : `cfg(${word})`;
      off.push(feature === undefined ? condition : `the feature ${feature}`);
    }
  }
  for (const { 0: open, index } of code.matchAll(/\bdebug_assert(?:_eq|_ne)?!\s*[([{]/g)) {
    const close = findClosingBracket(code, index + open.length - 1);
    if (close === null || !isNew(index, close)) continue;
    changes.push({ from: index, to: index, text: "if false { " }, { from: close, to: close, text: " }" });
    off.push("debug assertions");
  }
  return { changes, off };
}

/** Words inside a string aren't names of conditions. */
const isInString = (code: string, position: number, word: string): boolean => code.slice(position, position + word.length) !== word;

const itemHead =
  /^(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|unsafe|const)\s+(?=fn\b))*(fn|use|struct|enum|const|static|type|trait|mod|impl|macro_rules!)\s*([^{;]*)/;

/** Returns a predicate for positions of items under `#[cfg(test)]`: whether code outside the test build uses what the item defines. */
function createUseFilter(code: string): (item: number) => boolean {
  let codeOutside = code;
  for (const { 0: open, index } of code.matchAll(/#\[\s*cfg\s*\(\s*test\s*\)\s*\]\s*(?:#\[[^\]]*\]\s*)*/g)) {
    const end = findItemEnd(code, index + open.length) + 1;
    codeOutside = codeOutside.slice(0, index) + " ".repeat(end - index) + codeOutside.slice(end);
  }
  const namesOutside = new Set(codeOutside.match(/[A-Za-z_]\w*/g) ?? []);
  return (item) => findItemNames(code, item)?.some((name) => namesOutside.has(name)) ?? true;
}

/** The names that an item defines or imports; null if it can be used without being named: a trait's functions, `use tests::*`. */
function findItemNames(code: string, item: number): readonly string[] | null {
  const [, kind, head = ""] = itemHead.exec(code.slice(item, item + 400)) ?? [];
  if (kind === undefined || (kind === "impl" && /\bfor\b/.test(head))) return null;
  if (kind === "impl") return [...code.slice(item, findItemEnd(code, item)).matchAll(/\bfn\s+(\w+)/g)].map(([, name = ""]) => name);
  if (kind !== "use") return head.match(/[A-Za-z_]\w*/g)?.slice(0, 1) ?? [];
  const [useText = ""] = code.slice(item).split(";", 1);
  return useText.includes("*") ? null : (useText.match(/[A-Za-z_]\w*(?=\s*(?:[,}]|$))/g) ?? []);
}

/** Whether a module with tests begins here, and the file has no other module of the same name. */
function containsTests(code: string, position: number): boolean {
  const head = /^(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*([{;])/.exec(code.slice(position, position + 200));
  if (head === null) return false;
  const isAlone = [...code.matchAll(new RegExp(`\\bmod\\s+${head[1]}\\b`, "g"))].length === 1;
  if (head[2] === ";") return isAlone;
  const end = findClosingBracket(code, position + head[0].length - 1);
  return isAlone && /#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck)\b/.test(code.slice(position, end ?? code.length));
}

function findItemEnd(code: string, position: number): number {
  const stop = code.slice(position).search(/[{;]/);
  if (stop === -1) return code.length - 1;
  return code[position + stop] === ";" ? position + stop : (findClosingBracket(code, position + stop) ?? code.length) - 1;
}

function findFirstComma(code: string, from: number, to: number): number {
  let depth = 0;
  for (let index = from; index < to; index += 1) {
    if ("([{".includes(code[index] ?? "")) depth += 1;
    if (")]}".includes(code[index] ?? "")) depth -= 1;
    if (code[index] === "," && depth === 0) return index;
  }
  return to;
}

/** `assert(x)` becomes `((void)(0 && (x)))`: x isn't evaluated but still used, so that a compiler has no new unused name to warn of. */
function switchC(source: SourceText): SwitchedBuild {
  const { text, code, isNew, isOn } = source;
  const base = switchBaseFile(source);
  const changes: Change[] = [...base.changes];
  const off: string[] = [...base.off];
  for (const { 0: open, index } of code.matchAll(/(?<![\w.>])assert\s*\(/g)) {
    const close = findClosingBracket(code, index + open.length - 1);
    if (close === null || !isNew(index, close)) continue;
    changes.push({ from: index, to: index + open.length, text: "((void)(0 && (" }, { from: close, to: close, text: "))" });
    off.push("assert");
  }
  const asksFor = (name: string): boolean =>
    [...text.matchAll(new RegExp(`^[ \\t]*#[ \\t]*(?:if|ifdef|ifndef|elif)\\b.*\\b${name}\\b.*$`, "gm"))].some(({ index, 0: line }) =>
      isNew(index, index + line.length),
    );
  const heads = [
    ["NDEBUG", "#ifndef NDEBUG\n#define NDEBUG 1\n#endif\n", "assert"],
    [
      "__OPTIMIZE__",
      "#ifdef __OPTIMIZE__\n#undef __OPTIMIZE__\n#else\n#define __OPTIMIZE__ 1\n#endif\n",
      "the optimisation of the check's build",
    ],
  ].filter(([name = ""]) => asksFor(name));
  const asked = findAskedMacros(text, isNew);
  const flags = asked.filter(isCompilerFlag);
  const macros = asked.filter((name) => !flags.includes(name) && !isOn(`-D${name}`));
  const toggle = (name: string): string => `#ifdef ${name}\n#undef ${name}\n#else\n#define ${name} 1\n#endif\n`;
  return {
    changes,
    head: [...heads.map(([, head]) => head), ...macros.map((name) => `#undef ${name}\n`), ...flags.map(toggle)].join(""),
    off: [...off, ...heads.map(([, , what = ""]) => what), ...macros, ...flags],
  };
}

function switchJava({ code, isNew }: SourceText): SwitchedBuild {
  const changes = switchJavaAsserts(code, isNew);
  return { changes, off: changes.length === 0 ? [] : ["assert"] };
}

/** Replaces each match in lines that the work wrote by what it would be in another build. */
const switchEach =
  (pattern: RegExp, replace: (match: string, name: string) => string, what: string) =>
  ({ code, isNew }: SourceText): SwitchedBuild => {
    const changes = [...code.matchAll(pattern)]
      .filter(({ index }) => isNew(index, index))
      .map(({ 0: match, 1: name = "", index }) => ({ from: index, to: index + match.length, text: replace(match, name) }));
    return { changes, off: changes.length === 0 ? [] : [what] };
  };

const switchPerl = switchEach(/\$0\b|\$PROGRAM_NAME\b/g, () => '"/usr/bin/app"', "the name of the program that loads it");
/** In a shell script, a question for a function is asked without that function. Programs are still found. */
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

function switchPython({ text, code, isNew }: SourceText): SwitchedBuild {
  const changes: Change[] = [];
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
    changes.push({ from: index, to: index + word.length, text: word === "__debug__" ? "False" : "1" });
    off.push("assert");
  }
  return { changes, off };
}

const languageSwitches: readonly (readonly [ending: RegExp, switchLanguage: (text: SourceText) => SwitchedBuild])[] = [
  [/\.pm$/, switchPerl],
  [/\.(?:sh|bash)$/, switchShell],
  [cFile, switchC],
  [/\.rs$/, switchRust],
  [/\.pyi?$/, switchPython],
  [/\.java$/, switchJava],
];

/** Where an assert's condition ends: before its message, or with its line. */
function findConditionEnd(code: string, from: number): number {
  let [depth, position] = [0, from];
  for (; position < code.length; position += 1) {
    const letter = code[position] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (depth === 0 && (letter === "," || letter === ";" || (letter === "\n" && code[position - 1] !== "\\"))) break;
  }
  return from + code.slice(from, position).trimEnd().length;
}

/** Returns a predicate for Cargo features: whether one is on in every build of the package, or because the command says so (D3). */
export function createFeatureFilter(manifests: readonly string[], commands: readonly string[]): (feature: string) => boolean {
  const areAllOn = commands.some((command) => /--all-features\b/.test(command));
  const namedFeatures = commands.flatMap((command) => {
    const options = [...command.matchAll(/(?:--features|-F)[=\s]+(?:"([^"]*)"|'([^']*)'|(\S+))/g)];
    return options.flatMap(([, doubleQuoted, singleQuoted, bare]) => (doubleQuoted ?? singleQuoted ?? bare ?? "").split(/[\s,]+/));
  });
  const featuresThatAreOn = new Set(namedFeatures);
  for (const manifest of manifests) {
    const impliedBy = parseFeatures(manifest);
    const queue = ["default", ...namedFeatures];
    for (let feature = queue.pop(); feature !== undefined; feature = queue.pop()) {
      const newFeatures = (impliedBy.get(feature) ?? []).filter((implied) => !featuresThatAreOn.has(implied));
      for (const implied of newFeatures) featuresThatAreOn.add(implied);
      queue.push(...newFeatures);
    }
  }
  return (feature) => areAllOn || featuresThatAreOn.has(feature);
}

/** The features that each feature of a Cargo.toml turns on: `default = ["std"]`. */
function parseFeatures(manifest: string): ReadonlyMap<string, readonly string[]> {
  const section = /^\[features\]([^]*?)(?=^\[|(?![^]))/m.exec(manifest)?.[1] ?? "";
  const entries = [...section.matchAll(/^\s*"?([\w-]+)"?\s*=\s*\[([^\]]*)\]/gm)];
  return new Map(entries.map(([, name = "", list = ""]) => [name, [...list.matchAll(/"([^"]+)"/g)].map(([, implied = ""]) => implied)]));
}

export const describeBuildDependence = (off: readonly string[], tests: readonly string[]): string => {
  const more = tests.length > shownMax ? ` and ${tests.length - shownMax} more` : "";
  const verb = tests.length === 1 ? "fails" : "fail";
  const failure = tests.length === 0 ? "it fails" : `${tests.slice(0, shownMax).join(", ")}${more} ${verb}`;
  return `what the work answers depends on the build: without ${off.slice(0, shownMax).join(", ")} ${failure}`;
};
export const describeUndecidedBuild = (off: readonly string[]): string =>
  `it could not be found out whether the work answers the same without ${off.slice(0, shownMax).join(", ")}, by which it goes`;
const shownMax = 3;
