// find-branches: finds the branches that the work wrote. Pure.
//
// Invariants:
//   B1. Only what stands on a line that neither the file nor a file that is gone had before.

import { isInside, findRustTestModules } from "../source-text/rust-places.ts";
import { createLineCounter } from "../source-text/test-cases.ts";
import { maskText } from "../../protected/mask-text.ts";
import { detectSourceLanguage } from "../../protected/source-language.ts";
import type { ChangedFile } from "../questions/question-context.ts";
import type { Branch, FoundBranch } from "./branch.ts";
import { findBraceBranches } from "./brace-branches.ts";
import { findPythonBranches } from "./python-branches.ts";

/** Larger files are not looked through. */
const textCharsMax = 400_000;
/** Headers are in several programs, and JSX is read as text by no scanner of ours. */
const unreadFile = /\.(?:h|hpp|[jt]sx|d\.[cm]?ts)$/;
const shownCharsMax = 60;

/** `gone`: texts of files that the work deleted: what was in them may be here now. */
export function findBranches(
  { path, was, is }: ChangedFile,
  gone: readonly string[],
): readonly Branch[] {
  const language = detectSourceLanguage(path);
  if (language === null || is.length > textCharsMax || unreadFile.test(path)) return [];
  const found = language === "py" ? findPythonBranches(is) : findBraceBranches(is, language);
  const earlier = new Set([was ?? "", ...gone].flatMap((text) => text.split("\n")).map(trim));
  const lines = is.split("\n");
  const lineAt = createLineCounter(is);
  const tests = language === "rust" ? findRustTestModules(maskText(is, language)) : [];

  const sorted = found.toSorted((left, right) => left.from - right.from || right.to - left.to);
  return sorted.flatMap((branch): readonly Branch[] => {
    const line = lineAt(branch.from);
    const written = lines[line - 1] ?? "";
    if (earlier.has(trim(written)) || isInside(tests, branch.from)) return []; // B1
    return [{ ...branch, path, line, text: shortenCode(describeCode(is, written, branch)) }];
  });
}

const trim = (line: string): string => line.trim();

/** An arm is named by its line. */
const describeCode = (text: string, line: string, { kind, from, to }: FoundBranch): string =>
  kind === "arm"
    ? line
        .trim()
        .replace(/^\}\s*/, "")
        .replace(/\s*\{?$/, "")
    : text.slice(from, to);

function shortenCode(code: string): string {
  const oneLine = code.replaceAll(/\s+/g, " ");
  return oneLine.length > shownCharsMax ? `${oneLine.slice(0, shownCharsMax - 1)}…` : oneLine;
}
