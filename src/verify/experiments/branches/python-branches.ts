// python-branches: finds the branches in Python code. There is no parser. Pure.

import { maskText } from "../../protected/mask-text.ts";
import { findOutsideBrackets, type Span, trimSpan } from "../source-text/brackets.ts";
import { type FoundBranch, type Outcome, unique } from "./branch.ts";
import { endsInError } from "./error-branches.ts";
import { findLeftOperand, findOperators, splitCondition, toLeftOperand } from "./operands.ts";

const both: readonly Outcome[] = ["true", "false"];

/** Words that an operand does not begin with. */
const leadingWords: ReadonlySet<string> = new Set(
  "and or if elif else while return yield lambda assert for in raise del".split(" "),
);

export function findPythonBranches(text: string): readonly FoundBranch[] {
  const code = maskText(text, "py").replaceAll("#", " ").replaceAll("\\\n", "  ");
  const operators = findOperators(code, /\b(?:and|or)\b/g);
  const depths = countDepths(code);
  const joins = (index: number): boolean => (depths[index] ?? 0) > 0;
  const found = [
    ...findHeads(code).flatMap((head) => splitCondition(code, head, operators)),
    ...findInlineConditions(code).flatMap((span) =>
      splitCondition(code, { ...span, outcomes: both }, operators),
    ),
    ...[...operators].flatMap(([at, word]) => {
      const span = findLeftOperand(code, at, {
        leadingWords,
        isStop: () => false,
        joins,
        isHead: () => false,
      });
      return span === null ? [] : [toLeftOperand(span, word)];
    }),
  ].filter(({ from, to }) => isDecision(code.slice(from, to)));

  return [...unique(found), ...findArms(code)];
}

/** Constants decide nothing; whether a file is the main program is asked elsewhere. */
const isDecision = (text: string): boolean =>
  /[A-Za-z_]/.test(text) &&
  !/^(?:True|False|None|TYPE_CHECKING|typing\.TYPE_CHECKING)$|__name__|\blambda\b|\byield\b|\bfor\b/.test(
    text,
  );

function countDepths(code: string): readonly number[] {
  let depth = 0;
  return Array.from({ length: code.length }, (_, index) => {
    if ("([{".includes(code[index] ?? "")) depth += 1;
    if (")]}".includes(code[index] ?? "")) depth -= 1;
    return depth;
  });
}

/** What stands between `if`, `elif`, `while` at the beginning of a line and the colon. */
function findHeads(code: string): readonly (Span & { readonly outcomes: readonly Outcome[] })[] {
  return [...code.matchAll(/^[ \t]*(if|elif|while)\b[ \t]*/gm)].flatMap(
    ({ 0: head, 1: keyword, index }) => {
      const from = index + head.length;
      const to = findColon(code, from);
      if (to === null) return [];
      const isLoud = keyword !== "while" && endsInError(readBlock(code, to + 1));
      return [{ from, to, outcomes: isLoud ? (["false"] as const) : both }];
    },
  );
}

/** The colon that ends a head, not that of `:=`. */
function findColon(code: string, from: number): number | null {
  const to = findOutsideBrackets(
    code,
    from,
    code.length,
    (letter, at) => (letter === ":" && code[at + 1] !== "=") || letter === "\n",
  );
  return code[to] === ":" && !/\blambda\b/.test(code.slice(from, to)) ? to : null;
}

/** The code behind a colon: on its line, or indented below. */
function readBlock(code: string, from: number): string {
  const lineEnd = code.indexOf("\n", from);
  const sameLine = code.slice(from, lineEnd === -1 ? code.length : lineEnd);
  if (sameLine.trim() !== "" || lineEnd === -1) return sameLine;
  const below = code.slice(lineEnd + 1);
  const indent = /^\s*?([ \t]+)\S/.exec(below)?.[1] ?? "";
  const lines = below.split("\n");
  const end = lines.findIndex((line) => line.trim() !== "" && !line.startsWith(indent));
  return indent === "" ? "" : lines.slice(0, end === -1 ? lines.length : end).join("\n");
}

/** `a if CONDITION else b`, and the condition of a comprehension. */
const findInlineConditions = (code: string): readonly Span[] =>
  [...code.matchAll(/(?<=[^\s:][ \t]*|\n[ \t]*)\bif\b[ \t]+/g)].flatMap(({ 0: word, index }) => {
    const from = index + word.length;
    const lineStart = code.lastIndexOf("\n", index) + 1;
    const isHead = code.slice(lineStart, index).trim() === "";
    const to = findOutsideBrackets(
      code,
      from,
      code.length,
      (letter, at) =>
        letter === "\n" ||
        letter === "," ||
        (!/\w/.test(code[at - 1] ?? "") && /^(?:else|if|for|async)\b/.test(code.slice(at, at + 6))),
    );
    const isInBrackets = ")]}".includes(code[to] ?? " ") || code.startsWith("else", to);
    return isHead || !isInBrackets ? [] : [trimSpan(code, { from, to })];
  });

/** Code behind `except` and `case`. */
function findArms(code: string): readonly FoundBranch[] {
  return [...code.matchAll(/^[ \t]*(?:except|case)\b/gm)].flatMap(({ 0: head, index }) => {
    const colon = findColon(code, index + head.length);
    if (colon === null || endsInError(readBlock(code, colon + 1))) return [];
    return [{ from: colon + 1, to: colon + 1, kind: "arm" as const, outcomes: ["true"] as const }];
  });
}
