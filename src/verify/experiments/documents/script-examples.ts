// script-examples: reads a block of JavaScript line by line: its calls, and what the comments behind
// or below them say of their results.
// Invariants A1 and on: verify/experiments/documents/usage-examples.ts.

import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import type { ExampleStep, ExpectedResult } from "./example-block.ts";
import {
  asideBehindValue,
  conditionComment,
  leadingLiteral,
  leadingString,
  notAboutNow,
  resultArrow,
  scriptConstant,
  scriptImport,
  thrownError,
} from "./usage-patterns.ts";
import { isPlainCall, isWrittenValue } from "./written-calls.ts";

export function parseScript(
  lines: readonly string[],
  names: ReadonlySet<string>,
): readonly ExampleStep[] {
  const steps: ExampleStep[] = [];
  const knownNames = new Set(names);
  let openStatement = "";

  for (const [index, line] of lines.entries()) {
    const { code, comment } = splitComment(line);

    if (code.trim() === "") {
      const isBelowCode = openStatement === "" && lines[index - 1]?.trim() !== "";
      if (isBelowCode) addResultBelow(steps, comment);
      if (conditionComment.test(comment)) return steps; // A3
    }

    openStatement = `${openStatement}\n${code}`.trim();
    if (openStatement === "" || hasOpenBracket(openStatement)) continue;
    const statement = openStatement.replace(/;$/, "");
    openStatement = "";
    if (scriptImport.test(statement)) continue;

    const step = readStatement(statement, knownNames);
    if (step !== null) {
      const isCall = step.constant === null;
      steps.push(isCall ? { ...step, expected: readComment(comment) } : step);
    } else if (/[\w$\])]\s*\(|`|=/.test(statement)) {
      return steps; // A2
    }
  }

  return steps;
}

/**
 * Gives the last call the result that the line below it says: of a comment on a line of its own,
 * only an arrow says that it is about the line above.
 */
function addResultBelow(steps: ExampleStep[], comment: string): void {
  const last = steps.at(-1);
  const isOpenCall = last?.expected === null && last.constant === null;
  if (!isOpenCall || !resultArrow.test(comment)) return;
  steps.splice(-1, 1, { ...last, expected: readComment(comment) });
}

/** A line's code, and the text of the comment behind it. */
function splitComment(line: string): { readonly code: string; readonly comment: string } {
  const masked = maskText(line, "js", "comments");
  const code = masked.replace(/(?:\/\/|\/\*\s*\*\/)\s*$/, "").trimEnd();
  const [, comment = ""] = /^\s*\/[/*]([^]*?)(?:\*\/)?$/.exec(line.slice(code.length)) ?? [];
  return { code, comment: comment.trim() };
}

/** Whether a statement has more opening than closing brackets, so that it goes on. */
function hasOpenBracket(statement: string): boolean {
  const code = maskText(statement, "js");
  const count = (brackets: RegExp): number => code.match(brackets)?.length ?? 0;
  return count(/[([{]/g) > count(/[)\]}]/g);
}

/** The constant or the call of a statement; null if it is neither. Adds the constant's name. */
function readStatement(statement: string, knownNames: Set<string>): ExampleStep | null {
  const [, constant, value = ""] = scriptConstant.exec(statement) ?? [];
  if (constant !== undefined && isWrittenValue(value)) {
    knownNames.add(constant);
    return { code: value, constant, expected: null };
  }

  const printed = /^console\.log\(([^]+)\)$/.exec(statement)?.[1];
  const callText = constant === undefined ? statement : value;
  const code = (printed ?? callText).trim().replace(/^await\s+/, "");
  return isPlainCall(code, knownNames) ? { code, constant: null, expected: null } : null;
}

/** What a comment says that a call gives; null if it says nothing, or not exactly. */
function readComment(comment: string): ExpectedResult | null {
  const withoutStrings = comment.replaceAll(/"[^"]*"|'[^']*'/g, "");
  if (notAboutNow.test(withoutStrings)) return null; // A3

  const hasArrow = resultArrow.test(comment);
  const text = comment.replace(resultArrow, "").trim();
  const [isThrown, errorBehindVerb, errorAlone] = thrownError.exec(text) ?? [];
  if (isThrown !== undefined) return { error: errorBehindVerb ?? errorAlone ?? "" };

  const isInexact = /…|\.{3}|≈|~/.test(text);
  if (isInexact) return null;

  const value = readLeadingValue(text);
  const isWholeComment = value === text.replace(/;$/, "") && !/^\d$/.test(value);
  if (value !== null && (hasArrow || isWholeComment)) return { value };
  return hasArrow && isPrintedWord(text) ? { text } : null;
}

/** `grand-hotel` of `// => grand-hotel`: a word that `console.log` prints, and no prose. */
function isPrintedWord(text: string): boolean {
  const isWord = /^[^\s"'`[{(<]+$/.test(text) && !/^\W|\W$/.test(text);
  return isWord && /[a-z]/i.test(text) && /[\d_./:@-]/.test(text);
}

/** The value with which a text begins, if only an aside follows: `3.5 (the mean)`. */
function readLeadingValue(text: string): string | null {
  const masked = maskText(text, "js");
  const literal = leadingLiteral.exec(masked)?.[0];
  const quoted = leadingString.exec(text)?.[0];
  const bracketEnd = /^[[{(]/.test(text) ? findClosingBracket(masked, 0) : null;
  const end = literal?.length ?? quoted?.length ?? bracketEnd ?? 0;
  if (end === 0) return null;

  const value = text.slice(0, end);
  const isAside = asideBehindValue.test(text.slice(end));
  return isAside && isWrittenValue(value) ? value : null;
}
