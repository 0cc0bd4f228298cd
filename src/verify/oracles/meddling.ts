// meddling: code that reaches for what judges it: that puts words of its own into the mouth of an assertion library, a test runner or
// the process that tells how it ended. It lies in the work itself, so no file of the base can stand in for it; a person must look.
// The text is an agent's, so no pattern here may search far from where it began.

import { familyOf, type Family, type Row } from "./kinds.ts";
import { masked } from "./masked.ts";
import type { Deciding, Named } from "./named.ts";

const row: Row = { kind: "test", fits: /$^/, part: "source" };

/** The row of a source file, in the languages whose ways of meddling are known. `isTest`: of a new test, which may stand in for much. */
export function sourceRowOf(path: string, isTest = false): Row | null {
  const family = familyOf(path);
  return family === "js" || family === "py" ? { ...row, family, part: isTest ? "test_source" : "source" } : null;
}

const set = String.raw`\s{0,9}=(?![=>])`;
const jsNames =
  /\bimport\s{1,9}(?:\*\s{1,9}as\s{1,9})?(\w{1,40})\s{1,9}from\s{0,9}["'](?:node:)?(?:assert(?:\/strict)?|chai|expect)["']|\b(\w{1,40})\s{0,9}=\s{0,9}require\(["'](?:node:)?(?:assert(?:\/strict)?|chai|expect)["']\)/g;
const js = (names: string): readonly RegExp[] => [
  new RegExp(String.raw`(?<![.\w$])(?:${names})(?:\.strict)?\.\w{1,40}${set}`, "g"),
  new RegExp(String.raw`\bObject\.(?:assign|definePropert(?:y|ies))\s{0,9}\(\s{0,9}(?:${names}|process)\b`, "g"),
  new RegExp(String.raw`\b(?:globalThis|global)\.(?:expect|it|test|describe|assert)${set}`, "g"),
  new RegExp(String.raw`\bprocess\.(?:exit|reallyExit|abort)${set}|\bprocess\.reallyExit\b|\bAssertionError\.prototype\b`, "g"),
  /\bprocess\.on(?:ce)?\(\s{0,9}["'](?:exit|beforeExit)["'][^;]{0,200}exitCode\s{0,9}=\s{0,9}0\b/g,
  // What a test throws is heard by nobody, or taken for a good end.
  /\bprocess\.(?:on|once|addListener|prependListener)\(\s{0,9}["'](?:uncaughtException|unhandledRejection)["']\s{0,9},\s{0,9}(?:async\s{1,9})?(?:function\b[^{]{0,40}|\([^)]{0,40}\)\s{0,9}=>|\w{1,40}\s{0,9}=>)\s{0,9}(?:\{\s{0,80}\}|\{?[^;{}]{0,100}\bexit\(\s{0,9}0?\s{0,9}\)|\{?[^;{}]{0,100}\bexitCode\s{0,9}=\s{0,9}0\b|null\b|undefined\b|void 0)/g,
  /\bprocess\.setUncaughtExceptionCaptureCallback\b|\bsyncBuiltinESMExports\s{0,9}\(/g,
  new RegExp(String.raw`\bObject\.is${set}`, "g"),
];
/** Where other tests are run in the same process, these bend them too. */
const bends = (family: Family, names: string): readonly RegExp[] =>
  family === "py"
    ? [new RegExp(String.raw`\bTestCase\.(?:assert|fail|run)\w{0,60}${set}|\bsetattr\s{0,9}\(\s{0,9}(?:unittest\.)?TestCase\b`, "g")]
    : js(names).slice(0, 1);
const py: readonly RegExp[] = [
  new RegExp(String.raw`\b(?:unittest\.|case\.)?TestCase\.\w{1,60}${set}|\b_?pytest(?:\.\w{1,60}){1,5}${set}`, "g"),
  new RegExp(
    String.raw`\bbuiltins\.(?:AssertionError|isinstance|len|all|any|abs)${set}|\bsetattr\s{0,9}\(\s{0,9}(?:unittest|_?pytest|TestCase)\b`,
    "g",
  ),
  /\bsys\.modules\s{0,9}\[\s{0,9}["'](?:_?pytest|unittest|pluggy)\b/g,
  /\bdef\s{1,9}__(?:eq|ne)__\s{0,9}\([^)]{0,80}\)[^:\n]{0,40}:\s{0,80}return\s{1,9}(?:True|False)\s{0,9}(?=$|[\n;#])/gm,
  /\b__(?:eq|ne)__\s{0,9}=\s{0,9}lambda\b[^:\n]{0,80}:\s{0,9}(?:True|False|1|not None)\s{0,9}(?=$|[\n;#)])/gm,
  /\bdef\s{1,9}assert(?:Equal|NotEqual|True|False|Is|IsNot|IsNone|In|NotIn|Raises|AlmostEqual|CountEqual|ListEqual|DictEqual|Regex)\s{0,9}\(/g,
  /\bsys\.(?:excepthook|unraisablehook)\s{0,9}=(?!=)[^\n]{0,200}(?:\b_?exit\b|lambda\b[^:\n]{0,80}:\s{0,9}None\b)/g,
  /\bpytest\.skip\s{0,9}\([^)]{0,200}allow_module_level/g,
  /\batexit\.register\s{0,9}\([^)]{0,80}_exit\b/g,
];

const shownMax = 3;

/** What it reaches for, each place as it is written. */
export function meddlingIn(text: string, family: Family): Deciding {
  const code = masked(text, family, "comments");
  return told("what it does to what judges it", family === "py" ? py : js(namesIn(code)), code);
}

/** What a test does to all tests. */
export function bentIn(text: string, family: Family): Deciding {
  const code = masked(text, family, "comments");
  return told("what it does to what judges it", bends(family, namesIn(code)), code);
}

const namesIn = (code: string): string =>
  [...new Set(["assert", "expect", "chai", ...[...code.matchAll(jsNames)].map(([, one, other]) => one ?? other ?? "assert")])]
    .slice(0, 20)
    .join("|");

function told(name: string, patterns: readonly RegExp[], code: string): Deciding {
  const found = patterns.flatMap((pattern) => code.match(pattern) ?? []);
  const places = [...new Set(found.map((place) => place.replaceAll(/\s+/g, " ").trim()))];
  return places.length === 0 ? {} : { [name]: places.slice(0, shownMax).join(" … ") };
}

/** The name of the part that keeps a whole file from being looked at. */
export const silenced = "what it keeps from being looked at";
const looking = /lint|\btsc\b|type-?check|biome|ruff|flake8|mypy|pyright|\bcov|\bc8\b|\bnyc\b/i;
const switches: Readonly<Record<"js" | "py", RegExp>> = {
  js: /\/\*\s{0,9}(?:eslint|oxlint)-disable\s{0,9}\*\/|\/\/\s{0,9}@ts-nocheck\b|\/\*\s{0,9}(?:istanbul|c8|v8) ignore file\b|\/\/\s{0,9}biome-ignore-all\b/g,
  py: /^#\s{0,9}(?:mypy:\s{0,9}ignore-errors|(?:ruff|flake8):\s{0,9}noqa\s{0,9}$|pylint:\s{0,9}skip-file|pyright:\s{0,9}(?:basic|ignore)|type:\s{0,9}ignore\s{0,9}$)/gm,
};

/** Words that switch a checker off for a whole file, where the checks of this run look into files at all. */
export function silencedIn(text: string, family: Family, { used }: Named): Deciding {
  if ((family !== "js" && family !== "py") || !used.some((command) => looking.test(command))) return {};
  return told(silenced, [switches[family]], text);
}
