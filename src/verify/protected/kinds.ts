// kinds: which files judge and so are protected, by the conventions of their languages. The rows
// are in the folder `rows`.

import { codeToolRows } from "./rows/code-tool-rows.ts";
import type { Language, ProtectionRow } from "./rows/protection-row.ts";
import { scriptRows } from "./rows/script-rows.ts";
import { testConfigRows } from "./rows/test-config-rows.ts";
import { mayBeTest, testRows } from "./rows/test-rows.ts";

const languages: readonly (readonly [RegExp, Language])[] = [
  [/\.(?:[cm]?[jt]sx?|vue|svelte)$/, "js"],
  [/\.pyi?$/, "py"],
  [/\.go$/, "go"],
  [/\.rs$/, "rust"],
  [/\.(?:java|kts?|scala|groovy)$/, "java"],
];
/** Whether a file is a program, by its name: not data beside it. */
export function isProgramText(path: string): boolean {
  const dot = path.lastIndexOf(".");
  if (dot === -1) return false;
  const ending = path.slice(dot + 1);
  const cached = programEndings.get(ending);
  if (cached !== undefined) return cached;
  const isProgram =
    detectLanguage(path) !== null ||
    /\.(?:sh|bash|bats|rb|php|pl|pm|t|ps1|exs?|cs|c|cc|cpp|h|hpp|swift)$/.test(path);
  if (ending.length < endingCharsMax) programEndings.set(ending, isProgram);

  return isProgram;
}
/** Programs are recognised by extension alone, of which even a large tree has few. */
const programEndings = new Map<string, boolean>();
const endingCharsMax = 12;
export const detectLanguage = (path: string): Language | null =>
  languages.find(([ending]) => ending.test(path))?.[1] ?? null;

/** The first row that matches decides. Tests come last, since their folders may hold settings. */
const rows: readonly ProtectionRow[] = [
  ...testConfigRows,
  ...codeToolRows,
  ...scriptRows,
  ...testRows,
];

/**
 * All rows in one expression: most files of a large tree match none, and one test in place of
 * seventy finds that out.
 */
const anyRow = new RegExp(rows.map((row) => `(?:${row.path.source})`).join("|"));

/** The same paths are looked up again and again, so results are cached. */
const rowCache = new Map<string, ProtectionRow | null>();
const rowCacheMax = 20_000;

export function findProtectionRow(path: string): ProtectionRow | null {
  const cached = rowCache.get(path);
  if (cached !== undefined) return cached;
  const row = anyRow.test(path) ? (rows.find((row) => row.path.test(path)) ?? null) : null;
  if (rowCache.size >= rowCacheMax) rowCache.clear();
  rowCache.set(path, row);

  return row;
}

/**
 * Whether a path is for tests alone: code there knows that it is a test. A Rust source only may
 * contain tests.
 */
export const isTestRow = (row: ProtectionRow | null): boolean =>
  (row?.kind === "test" && row.part !== "rust_source") ||
  row?.kind === "snapshot" ||
  row?.kind === "test_config";

/** Whether a path is a test's, by the table alone. */
export const isTestPath = (path: string): boolean =>
  mayBeTest(path) && findProtectionRow(path)?.kind === "test";
