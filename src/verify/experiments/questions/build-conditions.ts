// build-conditions: the work's code as compiled in another build than the check's: without cfg(test), debug assertions, features that only
// tests enable, `assert` and `__debug__`. Code that is right only in the checked build returns something else then. Pure.
//
// Invariants:
//   D1. The list is that of the languages: what a build can switch in Rust (`cfg`, `debug_assert!`), C (`assert`, `NDEBUG`, `__OPTIMIZE__`,
//       macros that only rules for tests define), Java (`assert`) and Python (`assert`, `__debug__`, `sys.flags.optimize`), and who compiles, loads or sources the code: C's `__BASE_FILE__`, the
//       program's name in a module of Perl, a shell function that somebody else defines. It is switched in the source text, independent of
//       the build tool.
//   D2. Only conditions on lines that the work wrote, and none that contains tests: those are needed for the experiment.
//   D3. A condition that is on elsewhere too (a default feature, one that the command itself names) is left on.

import { languageOf } from "../../protected/kinds.ts";
import { maskText } from "../../protected/masked.ts";
import { closingBracket, lineCounter } from "../source/test-cases.ts";
import { askedMacros, isCompilerFlag, switchJavaAsserts } from "./build-macros.ts";

type Source = { readonly path: string; readonly was: string | null; readonly is: string };
type Change = { readonly from: number; readonly to: number; readonly text: string };
export type OtherBuild = {
  readonly text: string;
  /** What is off in it, as text. */
  readonly off: readonly string[];
};

/** Null if nothing the work wrote depends on the build. `isGentle`: what only tests may need stays. */
export function switchBuild(source: Source, isOn: (feature: string) => boolean, isGentle = false): OtherBuild | null {
  const { path, was, is } = source;
  const isC = /\.(?:c|cc|cpp|cxx|h|hpp)$/.test(path);
  const loader = loaders.find(([ending]) => ending.test(path))?.[1] ?? null;
  const family = isC ? "java" : languageOf(path);
  const switchLanguage =
    loader ??
    (isC ? switchC : family === "rust" ? switchRust : family === "py" ? switchPython : path.endsWith(".java") ? switchJava : null);
  if (switchLanguage === null || is.length > textCharsMax) return null;
  const old = new Set((was ?? "").split("\n").map((line) => line.trim()));
  const lines = is.split("\n");
  const lineAt = lineCounter(is);
  const isNew = (from: number, to: number): boolean =>
    lines.slice(lineAt(from) - 1, lineAt(to)).some((line) => line.trim() !== "" && !old.has(line.trim())); // D2
  const {
    changes,
    head = "",
    off,
  } = switchLanguage({ text: is, code: family === null ? is : maskText(is, family), isNew, isOn, isGentle });
  if (off.length === 0) return null;
  return { text: head + applyChanges(is, changes), off: [...new Set(off)] };
}

const textCharsMax = 400_000;

type SourceText = {
  readonly text: string;
  /** Without comments and strings. */
  readonly code: string;
  readonly isNew: (from: number, to: number) => boolean;
  readonly isOn: (feature: string) => boolean;
  readonly isGentle: boolean;
};
type SwitchedBuild = { readonly changes: readonly Change[]; readonly head?: string; readonly off: readonly string[] };

function applyChanges(text: string, changes: readonly Change[]): string {
  let done = text;
  for (const { from, to, text: put } of changes.toSorted((one, next) => next.from - one.from || next.to - one.to))
    done = done.slice(0, from) + put + done.slice(to);
  return done;
}

/** Of the target, not of the build: the same for every program built on this machine. */
const targetCondition = /^(?:unix|windows|any|all|not|true|false|target_\w+|panic|proc_macro|miri|version|accessible)$/;

function switchRust({ text, code, isNew, isOn, isGentle }: SourceText): SwitchedBuild {
  const changes: Change[] = [];
  const off: string[] = [];
  const isNeeded = isGentle ? usedOutsideTests(code) : () => true;
  for (const { 0: open, index } of code.matchAll(/\bcfg(?:_attr)?\s*(?:!\s*)?\(/g)) {
    const start = index + open.length;
    const close = closingBracket(code, start - 1);
    if (close === null) continue;
    const to = open.startsWith("cfg_attr") ? firstComma(code, start, close - 1) : close - 1;
    const behind = /^\s*\]\s*(?:#\[[^\]]*\]\s*)*/.exec(code.slice(close));
    const item = behind === null ? close : close + behind[0].length;
    if (behind !== null && !open.startsWith("cfg_attr") && containsTests(code, item)) continue; // D2
    if (isGentle && behind !== null && text.slice(start, to).trim() === "test" && !isNeeded(item)) continue;
    if (!isNew(index, behind === null ? close : itemEnd(code, item))) continue;
    for (const { 0: word, 1: feature, index: at } of text
      .slice(start, to)
      .matchAll(/\bfeature\s*=\s*"([^"]*)"|\b[a-z_]\w*\b(?!\s*[=(])/g)) {
      if (feature === undefined ? targetCondition.test(word) || isInString(code, start + at, word) : isOn(feature)) continue; // D3
      changes.push({ from: start + at, to: start + at + word.length, text: "any()" });
      off.push(feature === undefined ? (word === "debug_assertions" ? "debug assertions" : `cfg(${word})`) : `the feature ${feature}`);
    }
  }
  for (const { 0: open, index } of code.matchAll(/\bdebug_assert(?:_eq|_ne)?!\s*[([{]/g)) {
    const close = closingBracket(code, index + open.length - 1);
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

/**
 * Whether code that exists only in the test build is named outside it; code that is used without being named (a trait's functions) counts
 * as named.
 */
function usedOutsideTests(code: string): (item: number) => boolean {
  let rest = code;
  for (const { 0: open, index } of code.matchAll(/#\[\s*cfg\s*\(\s*test\s*\)\s*\]\s*(?:#\[[^\]]*\]\s*)*/g)) {
    const end = itemEnd(code, index + open.length) + 1;
    rest = rest.slice(0, index) + " ".repeat(end - index) + rest.slice(end);
  }
  const outside = new Set(rest.match(/[A-Za-z_]\w*/g) ?? []);
  return (item) => {
    const [, kind, before = ""] = itemHead.exec(code.slice(item, item + 400)) ?? [];
    const head = kind === "use" ? (code.slice(item).split(";", 1)[0] ?? "") : before;
    if (kind === undefined || (kind === "impl" && /\bfor\b/.test(head)) || (kind === "use" && head.includes("*"))) return true;
    const inner = kind === "impl" ? code.slice(item, itemEnd(code, item)).matchAll(/\bfn\s+(\w+)/g) : null;
    const names =
      inner === null
        ? kind === "use"
          ? (head.match(/[A-Za-z_]\w*(?=\s*(?:[,}]|$))/g) ?? [])
          : head.match(/[A-Za-z_]\w*/g)?.slice(0, 1)
        : [...inner].map(([, name = ""]) => name);
    return (names ?? []).some((name) => outside.has(name));
  };
}

/** Whether a module with tests begins here, and none of the same name replaces it elsewhere. */
function containsTests(code: string, position: number): boolean {
  const head = /^(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*([{;])/.exec(code.slice(position, position + 200));
  if (head === null) return false;
  const isAlone = [...code.matchAll(new RegExp(`\\bmod\\s+${head[1]}\\b`, "g"))].length === 1;
  if (head[2] === ";") return isAlone;
  const end = closingBracket(code, position + head[0].length - 1);
  return isAlone && /#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck)\b/.test(code.slice(position, end ?? code.length));
}

function itemEnd(code: string, position: number): number {
  const stop = code.slice(position).search(/[{;]/);
  if (stop === -1) return code.length - 1;
  return code[position + stop] === ";" ? position + stop : (closingBracket(code, position + stop) ?? code.length) - 1;
}

function firstComma(code: string, from: number, to: number): number {
  let depth = 0;
  for (let index = from; index < to; index += 1) {
    if ("([{".includes(code[index] ?? "")) depth += 1;
    if (")]}".includes(code[index] ?? "")) depth -= 1;
    if (code[index] === "," && depth === 0) return index;
  }
  return to;
}

/** `assert(x)` is not evaluated, but x still counts as used: a compiler that warns of unused names says nothing new. */
function switchC(source: SourceText): SwitchedBuild {
  const { text, code, isNew, isOn } = source;
  const base = switchBaseFile(source);
  const changes: Change[] = [...base.changes];
  const off: string[] = [...base.off];
  for (const { 0: open, index } of code.matchAll(/(?<![\w.>])assert\s*\(/g)) {
    const close = closingBracket(code, index + open.length - 1);
    if (close === null || !isNew(index, close)) continue;
    changes.push({ from: index, to: index + open.length, text: "((void)(0 && (" }, { from: close, to: close, text: "))" });
    off.push("assert");
  }
  const says = (name: string): boolean =>
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
  ].filter(([name = ""]) => says(name));
  const asked = askedMacros(text, isNew);
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

/** Each match in lines of the work's own, as it would be elsewhere. */
const switchEach =
  (found: RegExp, elsewhere: (match: string, name: string) => string, what: string) =>
  ({ code, isNew }: SourceText): SwitchedBuild => {
    const changes = [...code.matchAll(found)]
      .filter(({ index }) => isNew(index, index))
      .map(({ 0: match, 1: name = "", index }) => ({ from: index, to: index + match.length, text: elsewhere(match, name) }));
    return { changes, off: changes.length === 0 ? [] : [what] };
  };

const loaders: readonly (readonly [ending: RegExp, turn: (text: SourceText) => SwitchedBuild])[] = [
  [/\.pm$/, switchEach(/\$0\b|\$PROGRAM_NAME\b/g, () => '"/usr/bin/app"', "the name of the program that loads it")],
  [
    /\.(?:sh|bash)$/,
    // Programs are still found, and functions of its own can be defined again.
    switchEach(
      /\b(?:type(?:\s+-\w+)?|declare\s+-[fF]|command\s+-[vV])\s+([A-Za-z_]\w*)\b/g,
      (match, name) => `eval '(unset -f ${name}; ${match})'`,
      "functions of who sources it",
    ),
  ],
];
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
    const to = conditionEnd(code, from);
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

/** Where an assert's condition ends: before its message, or with its line. */
function conditionEnd(code: string, from: number): number {
  let [depth, at] = [0, from];
  for (; at < code.length; at += 1) {
    const letter = code[at] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (depth === 0 && (letter === "," || letter === ";" || (letter === "\n" && code[at - 1] !== "\\"))) break;
  }
  return at - (code.slice(from, at).length - code.slice(from, at).trimEnd().length);
}

/** Which features are on in every build of the package, or because the command says so (D3). */
export function featuresOn(manifests: readonly string[], commands: readonly string[]): (feature: string) => boolean {
  const all = commands.some((command) => /--all-features\b/.test(command));
  const named = commands.flatMap((command) =>
    [...command.matchAll(/(?:--features|-F)[=\s]+(?:"([^"]*)"|'([^']*)'|(\S+))/g)].flatMap(([, a, b, c]) =>
      (a ?? b ?? c ?? "").split(/[\s,]+/),
    ),
  );
  const on = new Set(named);
  for (const manifest of manifests) {
    const section = /^\[features\]([^]*?)(?=^\[|(?![^]))/m.exec(manifest)?.[1] ?? "";
    const features = new Map(
      [...section.matchAll(/^\s*"?([\w-]+)"?\s*=\s*\[([^\]]*)\]/gm)].map(([, name = "", list = ""]) => [
        name,
        [...list.matchAll(/"([^"]+)"/g)].map(([, one = ""]) => one),
      ]),
    );
    const open = ["default", ...named];
    for (let next = open.pop(); next !== undefined; next = open.pop())
      for (const one of features.get(next) ?? []) if (!on.has(one)) open.push((on.add(one), one));
  }
  return (feature) => all || on.has(feature);
}

export const describeBuildDependence = (off: readonly string[], tests: readonly string[]): string => {
  const names =
    tests.length === 0
      ? "it fails"
      : `${tests.slice(0, shownMax).join(", ")}${tests.length > shownMax ? ` and ${tests.length - shownMax} more` : ""} fail${tests.length === 1 ? "s" : ""}`;
  return `what the work answers depends on the build: without ${off.slice(0, shownMax).join(", ")} ${names}`;
};
export const describeUndecidedBuild = (off: readonly string[]): string =>
  `it could not be found out whether the work answers the same without ${off.slice(0, shownMax).join(", ")}, by which it goes`;
const shownMax = 3;
