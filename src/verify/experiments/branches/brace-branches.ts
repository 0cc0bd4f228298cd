// brace-branches: finds the branches in code of languages with braces: JavaScript, TypeScript, Java,
// C, Go, Rust. There is no parser. Pure.

import { maskText } from "../../protected/mask-text.ts";
import type { SourceLanguage } from "../../protected/source-language.ts";
import {
  findClosingBracket,
  findOutsideBrackets,
  type Span,
  splitAtCommas,
  trimSpan,
} from "../source-text/brackets.ts";
import { type FoundBranch, type Outcome, unique } from "./branch.ts";
import { endsInError } from "./error-branches.ts";
import {
  findLeftOperand,
  findOperators,
  type Operators,
  splitCondition,
  toLeftOperand,
} from "./operands.ts";

type BraceLanguage = Exclude<SourceLanguage, "py">;

const both: readonly Outcome[] = ["true", "false"];
const reached: readonly Outcome[] = ["true"];

export function findBraceBranches(text: string, language: BraceLanguage): readonly FoundBranch[] {
  const code = blankPreprocessor(blankCommentSigns(maskText(text, language)), language);
  const operators = findOperators(code, language === "js" ? jsOperator : operator);
  /** Braces begin no bracket here, so that they can be looked for. */
  const flat = code.replaceAll("{", ";");
  const heads = findHeads(code, flat, language);
  const found = [
    ...heads.flatMap((head) => splitCondition(code, head, operators)),
    ...(language === "rust" ? [] : findValueConditions(code, language, operators)),
    ...(language === "rust" ? [] : findSwitchArms(code, flat, language)),
    ...(language === "js" || language === "java" ? findCatchArms(code) : []),
    ...(language === "js" ? findDefaults(code) : []),
  ];

  return unique(found.filter((branch) => isDecision(code, branch)));
}

/** The signs that stand around the blanks of a comment. */
const blankCommentSigns = (code: string): string => code.replaceAll(/\/\/|\/\*|\*\//g, "  ");

const operator = /&&|\|\|/g;
const jsOperator = /(?:&&|\|\||\?\?)(?!=)/g;

/** Words that an operand does not begin with. */
const leadingWords: ReadonlySet<string> = new Set(
  "return throw case yield else do of const let var if for while switch defer".split(" "),
);

/** Conditional compilation and macros are no code of their own. */
const blankPreprocessor = (code: string, language: BraceLanguage): string =>
  language === "c"
    ? code.replaceAll(/^[ \t]*#(?:[^\n\\]|\\[^])*/gm, (line) => line.replaceAll(/[^\n]/g, " "))
    : code;

/** A constant decides nothing, and what binds names for later can't be put into a call. */
function isDecision(code: string, { from, to, kind }: FoundBranch): boolean {
  const text = code.slice(from, to);
  if (kind === "arm" || kind === "default") return true;
  return /[A-Za-z_$]/.test(text) && !/^(?:true|false)$|\binstanceof\s+\w+\s+\w|\blet\b/.test(text);
}

type Head = Span & { readonly outcomes: readonly Outcome[] };

/** What stands behind `if` and `while`, with the outcomes that end in no error. */
function findHeads(code: string, flat: string, language: BraceLanguage): readonly Head[] {
  return [...code.matchAll(/(?<![\w$.#])(if|while|for)\b\s*/g)].flatMap(
    ({ 0: word, 1: keyword = "", index }): readonly Head[] => {
      const from = index + word.length;
      const span =
        language === "go" || language === "rust"
          ? findBareCondition({ code, flat }, from, keyword, language)
          : findParenthesized(code, from, keyword);
      if (span === null) return [];
      if (keyword !== "if") return [{ ...span, outcomes: both }];
      const bodyFrom = code[span.to] === ")" ? span.to + 1 : span.to;
      return [{ ...span, outcomes: findQuietOutcomes(code, bodyFrom) }];
    },
  );
}

/** The loop of C counts, and decides little. */
function findParenthesized(code: string, from: number, keyword: string): Span | null {
  const close = code[from] === "(" && keyword !== "for" ? findClosingBracket(code, from) : null;
  return close === null ? null : { from: from + 1, to: close - 1 };
}

function findBareCondition(
  { code, flat }: { readonly code: string; readonly flat: string },
  from: number,
  keyword: string,
  language: "go" | "rust",
): Span | null {
  if (language === "rust" && keyword === "for") return null;
  const to = findOutsideBrackets(
    flat,
    from,
    code.length,
    (_, index) => code[index] === "{" || code.startsWith("=>", index),
  );
  const parts = code.slice(from, to).split(";");
  const last = parts.at(-1) ?? "";
  if (parts.length > 2 || /:=|\brange\b|\blet\b/.test(last)) return null;
  return { from: to - last.length, to };
}

/** The outcomes of an `if` that end in no error; `from`: behind its condition. */
function findQuietOutcomes(code: string, from: number): readonly Outcome[] {
  const body = findBody(code, from);
  const rest = /^\s*else\b\s*/.exec(code.slice(body.end, body.end + 200));
  const isElseIf = rest !== null && /^if\b/.test(code.slice(body.end + rest[0].length));
  const other = rest === null || isElseIf ? null : findBody(code, body.end + rest[0].length);
  return both.filter((outcome) => {
    const branch = outcome === "true" ? body : other;
    return branch === null || !endsInError(code.slice(branch.from, branch.to));
  });
}

function findBody(code: string, from: number): Span & { readonly end: number } {
  const start = from + (/^\s*/.exec(code.slice(from))?.[0].length ?? 0);
  if (code[start] === "{") {
    const end = findClosingBracket(code, start) ?? code.length;
    return { from: start + 1, to: end - 1, end };
  }

  const end = findOutsideBrackets(code, start, code.length, (letter) => letter === ";");
  return { from: start, to: end, end: Math.min(end + 1, code.length) };
}

/** Conditions in values: before `?`, `&&`, `||`, `??`. */
function findValueConditions(
  code: string,
  language: BraceLanguage,
  operators: Operators,
): readonly FoundBranch[] {
  const form = {
    leadingWords,
    joins: (index: number) => joinsLines(code, index),
    isHead: (open: number) =>
      /\b(?:if|while|for|switch|catch|with)\s*$/.test(code.slice(Math.max(0, open - 20), open)),
  };
  const isOperatorEnd = (index: number): boolean =>
    /^(?:&&|\|\||\?\?)$/.test(code.slice(index - 1, index + 1)) || isTernary(code, index);
  const beforeOperators = [...operators].flatMap(([at, word]): readonly FoundBranch[] => {
    const span = findLeftOperand(code, at, { ...form, isStop: isOperatorEnd });
    return span === null ? [] : [toLeftOperand(span, word)];
  });
  if (language === "go") return beforeOperators;

  const beforeQuestions = [...code.matchAll(ternary)].flatMap(({ index }) => {
    const span = findLeftOperand(code, index + 1, {
      ...form,
      isStop: (at) => isTernary(code, at),
    });
    if (span === null || isTypeText(code.slice(span.from, span.to))) return [];
    return splitCondition(code, { ...span, outcomes: both }, operators);
  });

  return [...beforeOperators, ...beforeQuestions];
}

/** The condition of a type. */
const isTypeText = (text: string): boolean => /\b(?:extends|infer)\b|>$/.test(text);

/** `a ? b : c`, as formatters write it. */
const ternary = /\s\?\s(?!\s*(?:extends\b|super\b|[>,:;=)\]}]))/g;
const isTernary = (code: string, index: number): boolean =>
  code[index] === "?" && /\s/.test(code[index - 1] ?? " ") && /\s/.test(code[index + 1] ?? " ");

/** Whether a line end ends no statement. */
function joinsLines(code: string, index: number): boolean {
  const next = /^\s*(\S?)/.exec(code.slice(index, index + 400))?.[1] ?? "";
  const before =
    code
      .slice(Math.max(0, index - 400), index)
      .trimEnd()
      .at(-1) ?? "";
  return ".?:&|+-*/%<>=,)]".includes(next) || "([{,=&|?:+-*/%<>!".includes(before);
}

/** The arms of `switch` and `select`, behind their colons. */
function findSwitchArms(
  code: string,
  flat: string,
  language: BraceLanguage,
): readonly FoundBranch[] {
  return [...code.matchAll(/(?<![\w$.#])(?:switch|select)\b/g)].flatMap(({ index }) => {
    const brace =
      language === "go"
        ? findOutsideBrackets(flat, index, code.length, (_, at) => code[at] === "{")
        : code.indexOf("{", findClosingBracket(code, code.indexOf("(", index)) ?? code.length);
    const close = brace === -1 || brace >= code.length ? null : findClosingBracket(code, brace);
    return close === null ? [] : findArms(code, brace + 1, close - 1);
  });
}

function findArms(code: string, from: number, to: number): readonly FoundBranch[] {
  const isArm = (_: string, index: number): boolean =>
    /^(?:case\b|default\s*:)/.test(code.slice(index, index + 30)) &&
    !/[\w$.]/.test(code[index - 1] ?? "");
  const starts: number[] = [];
  for (let at = findOutsideBrackets(code, from, to, isArm); at < to;) {
    starts.push(at);
    at = findOutsideBrackets(code, at + 1, to, isArm);
  }

  return starts.flatMap((start, index): readonly FoundBranch[] => {
    const next = starts[index + 1] ?? to;
    const colon = findOutsideBrackets(
      code,
      start,
      next,
      (letter, at) =>
        (letter === ":" && code[at + 1] !== "=") || code.startsWith("->", at) || letter === "?",
    );
    if (code[colon] !== ":") return [];
    const isQuiet = !endsInError(code.slice(colon + 1, next));
    return isQuiet ? [{ from: colon + 1, to: colon + 1, kind: "arm", outcomes: reached }] : [];
  });
}

const findCatchArms = (code: string): readonly FoundBranch[] =>
  [...code.matchAll(/(?<![\w$.])catch\s*(?:\([^()]*\)\s*)?\{/g)].flatMap(({ 0: head, index }) => {
    const from = index + head.length;
    const close = findClosingBracket(code, from - 1);
    const isQuiet = close !== null && !endsInError(code.slice(from, close - 1));
    return isQuiet ? [{ from, to: from, kind: "arm" as const, outcomes: reached }] : [];
  });

/** Values of parameters that may be missing; those that are empty only hold others. */
function findDefaults(code: string): readonly FoundBranch[] {
  const heads = [
    ...code.matchAll(
      /\bfunction\b[^(\n;]*\(|^[ \t]+(?:(?:static|async)\s+)*[*#]?[\w$]+\s*\(|[=(,:]\s*(?:async\s*)?\(/gm,
    ),
  ];
  return heads.flatMap(({ 0: head, index }): readonly FoundBranch[] => {
    const open = index + head.length - 1;
    const close = findClosingBracket(code, open);
    if (close === null || !/^\s*(?::[^;{}()\n]*)?(?:=>|\{)/.test(code.slice(close, close + 200)))
      return [];
    if (/(?:^|[^\w$])(?:if|while|for|switch|catch|with)\s*\($/.test(head)) return [];
    return findDefaultValues(code, open + 1, close - 1);
  });
}

function findDefaultValues(code: string, from: number, to: number): readonly FoundBranch[] {
  return splitAtCommas(code, from, to).flatMap((part): readonly FoundBranch[] => {
    const span = trimSpan(code, part);
    const equals = findOutsideBrackets(
      code,
      span.from,
      span.to,
      (letter, at) => letter === "=" && code[at + 1] !== ">" && code[at + 1] !== "=",
    );
    const brace = "{[".includes(code[span.from] ?? "") ? findClosingBracket(code, span.from) : null;
    const inner = brace === null ? [] : findDefaultValues(code, span.from + 1, brace - 1);
    if (equals >= span.to) return inner;
    const value = trimSpan(code, { from: equals + 1, to: span.to });
    const isEmpty = /^(?:\{\s*\}|\[\s*\]|undefined|null|)$/.test(code.slice(value.from, value.to));
    return isEmpty ? inner : [...inner, { ...value, kind: "default", outcomes: reached }];
  });
}
