// meddling: code that reaches for what judges it: that puts words of its own into the mouth of an assertion library, a test runner or
// the process that tells how it ended. It lies in the work itself, so no file of the base can stand in for it; a person must look.
// The text is an agent's, so no pattern here may search far from where it began.

import { familyOf, type Family, type Row } from "./kinds.ts";
import { masked } from "./masked.ts";
import type { Deciding } from "./named.ts";

const row: Row = { kind: "test", fits: /$^/, part: "source" };

/** The row of a source file, in the languages whose ways of meddling are known. */
export function sourceRowOf(path: string): Row | null {
  const family = familyOf(path);
  return family === "js" || family === "py" ? { ...row, family } : null;
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
];
const py: readonly RegExp[] = [
  new RegExp(String.raw`\b(?:unittest\.|case\.)?TestCase\.\w{1,60}${set}|\b_?pytest(?:\.\w{1,60}){1,5}${set}`, "g"),
  new RegExp(
    String.raw`\bbuiltins\.(?:AssertionError|isinstance|len|all|any|abs)${set}|\bsetattr\s{0,9}\(\s{0,9}(?:unittest|_?pytest|TestCase)\b`,
    "g",
  ),
  /\bsys\.modules\s{0,9}\[\s{0,9}["'](?:_?pytest|unittest|pluggy)\b/g,
  /\bdef\s{1,9}__(?:eq|ne)__\s{0,9}\([^)]{0,80}\)[^:\n]{0,40}:\s{0,80}return\s{1,9}(?:True|False)\s{0,9}(?=$|[\n;#])/gm,
  /\bpytest\.skip\s{0,9}\([^)]{0,200}allow_module_level/g,
  /\batexit\.register\s{0,9}\([^)]{0,80}_exit\b/g,
];

const shownMax = 3;

/** What it reaches for, each place as it is written. */
export function meddlingIn(text: string, family: Family): Deciding {
  const code = masked(text, family, "comments");
  const names = [
    ...new Set(["assert", "expect", "chai", ...[...code.matchAll(jsNames)].map(([, one, other]) => one ?? other ?? "assert")]),
  ];
  const found = (family === "py" ? py : js(names.slice(0, 20).join("|"))).flatMap((pattern) => code.match(pattern) ?? []);
  const places = [...new Set(found.map((place) => place.replaceAll(/\s+/g, " ").trim()))];
  return places.length === 0 ? {} : { "what it does to what judges it": places.slice(0, shownMax).join(" … ") };
}
