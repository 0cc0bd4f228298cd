// value-flow: finds out where a value in code goes: whether it decides what the code does, or
// which name it gets. Pure.
//
// Invariants:
//   V1. There is no parser: what happens to a value is read off the words and operators beside it,
//       then off those beside the call or the brackets around it, up to its statement.

import type { Brackets } from "./js-bindings.ts";

/** Code without comments and strings, with its brackets. */
export type Code = {
  readonly code: string;
  readonly brackets: Brackets;
  readonly isPython: boolean;
  /** Whether `<` may also begin a type or an element. */
  readonly hasTypes: boolean;
};
/** A part of the code, up to and without `to`. */
export type Part = { readonly from: number; readonly to: number };
/** `decides`, or the names that the value gets: variables, and functions that return it. */
export type Fate = { readonly decides: boolean; readonly names: readonly string[] };

const near = 240;
/** How far back a statement, and the function around it, are looked for. */
const statementCharsMax = 2_000;
const headsMax = 200;
/** Methods that look at each of a list's values. */
const eachValue =
  /\.\s*(?:every|filter|find\w*|flatMap|forEach|map|reduce\w*|some|sort|toSorted)\s*\(/;
const stepsMax = 30;
const nowhere: Fate = { decides: false, names: [] };
const decisive: Fate = { decides: true, names: [] };

const jsBefore = /(?:!|[=!]==?|(?<![=<])[<>]=?|(?<!\*)[*/%^]|[^-]-|\b(?:switch|case|in|of))$/;
const jsAfter =
  /^(?:[=!]==?|[<>]=?(?![<>])|\?(?![.:?,)=])|&&|\|\||\?\?|-(?!-)|\*|\/(?![/*])|%|\^|(?:in|instanceof)\b)/;
const typedComparison = /^[<>]=?\s/;
const pythonBefore = /(?:[=!]=|[<>]=?|[*/%^]|[^-]-|\b(?:if|elif|while|not|in|is|assert|match))$/;
const pythonAfter = /^(?:[=!]=|[<>]=?|[-*/%^]|(?:and|or|in|is|not|else)\b)/;

/** Where the value goes that the part of the code stands for. */
export function findFate(source: Code, part: Part): Fate {
  const { code, brackets, isPython } = source;
  let { from, to } = part;
  if (eachValue.test(code.slice(from, to))) return decisive;
  for (let step = 0; step < stepsMax; step += 1) {
    from = skipPrefixes(code, from);
    if (isDecidedBeside(source, from, to)) return decisive;
    const start = findStart(source, from);
    if (start === null) return decisive; // too long to be looked through: told, and not passed over
    const head = code.slice(start, from);
    if (isPython && /^\s*(?:if|elif|while|assert|match)\b/.test(head)) return decisive;
    const target = findTarget(source, start, from);
    if (target.length > 0) return { decides: false, names: target };

    const open = brackets.around[from] ?? -1;
    const close = open === -1 ? -1 : (brackets.partner[open] ?? -1);
    const isBlock = open !== -1 && code[open] === "{" && !isPython;
    if (open === -1 || close === -1 || isBlock) {
      return /^\s*(?:return|yield)\b|=>\s*$/.test(head) || /=>[^;]*$/.test(head)
        ? { decides: false, names: findReturner(source, start) }
        : nowhere;
    }

    const before = code.slice(Math.max(0, open - near), open).trimEnd();
    if (code[open] === "(") {
      if (/(?:^|[^\w$.])(?:if|while|switch)$/.test(before) && !isPython) return decisive;
      if (/(?:^|[^\w$.])for(?:\s+await)?$/.test(before) && !isPython) {
        return code.slice(open, from).split(";").length === 2 &&
          code.slice(from, close).includes(";")
          ? decisive
          : nowhere;
      }
    }

    if (
      code[open] === "[" &&
      /[\w$)\]]$/.test(before) &&
      !/\b(?:return|in|of|case)$/.test(before)
    ) {
      return decisive; // an index
    }

    from = code[open] === "(" ? findChainStart(code, open, brackets) : open;
    to = findChainEnd(code, close + 1, brackets);
  }

  return nowhere;
}

/** `await`, `new` and the like before a value. */
function skipPrefixes(code: string, from: number): number {
  const prefix =
    /(?:(?:^|[^\w$.])(?:await|new|void|async|yield|typeof|lambda[^:\n]*:)\s*|\.{3})+$/.exec(
      code.slice(Math.max(0, from - near), from),
    );
  if (prefix === null) return from;
  const length = prefix[0].length - (/^[^\w.]/.test(prefix[0]) ? 1 : 0);
  return from - length;
}

function isDecidedBeside({ code, isPython, hasTypes }: Code, from: number, to: number): boolean {
  const before = code.slice(Math.max(0, from - near), from).trimEnd();
  const after = code.slice(to, to + near);
  const next = after.trimStart();
  if (isPython) {
    return pythonBefore.test(before) || (pythonAfter.test(next) && !/^\s*\n/.test(after));
  }

  if (hasTypes && /[<>]$/.test(before) && !/\s[<>]=?$/.test(before)) return false;
  if (hasTypes && /^[<>]/.test(next) && !(typedComparison.test(next) && /^\s/.test(after)))
    return false;
  if (next.startsWith("?") && !isTernary(next)) return false;
  return (
    (jsBefore.test(before) && !/(?:=>|\/\*|function\s*\*|\breturn -|=\s*-)$/.test(before)) ||
    jsAfter.test(next)
  );
}

/** A question mark with a colon behind it. */
const isTernary = (after: string): boolean =>
  after.startsWith("??") || /^\?[^;]*:/.test(after) || after.length >= near - 1;

/**
 * The start of the part that a value belongs to: of its statement, or of its argument; null if it
 * is too far away.
 */
function findStart(
  { code, brackets: { around, partner }, isPython }: Code,
  from: number,
): number | null {
  const first = Math.max(0, from - statementCharsMax);
  for (let index = from - 1; index >= first; index -= 1) {
    const letter = code[index] ?? "";
    if (")]}".includes(letter)) {
      const open = partner[index] ?? -1;
      if (open === -1) return index + 1;
      index = open;
    } else if ("([{".includes(letter) || letter === ";" || letter === ",") {
      return index + 1;
    } else if (letter === "\n" && isStatementEnd(code, index, isPython && around[index] === -1)) {
      return index + 1;
    }
  }

  return first === 0 ? 0 : null;
}

/** Whether the end of a line ends a statement. */
function isStatementEnd(code: string, newline: number, isPythonLine: boolean): boolean {
  const before = code.slice(Math.max(0, newline - near), newline).trimEnd();
  if (isPythonLine) return !before.endsWith("\\");
  const after = code.slice(newline, newline + near).trimStart();
  return (
    !/(?:[-=+*/%&|?:,<>!~^([{.]|\b(?:return|typeof|await))$/.test(before) &&
    !/^[.?:&|+\-*/%<>=,)\]}]/.test(after)
  );
}

/** What the value is assigned to: the names, `this.name` for a member. */
function findTarget({ code, isPython }: Code, start: number, from: number): readonly string[] {
  const head = code.slice(start, from);
  const assigned = isPython
    ? /^[ \t]*((?:self\.)?[A-Za-z_]\w*(?:\s*,\s*\w+)*)\s*(?::[^=\n]+)?=(?!=)|([A-Za-z_]\w*)\s*:=/.exec(
        head,
      )
    : /(?:^|[\s;])((?:this\.)?#?[A-Za-z_$][\w$]*|\{[^=]*\}|\[[^=]*\])\s*(?::[^=]+)?(?:\|\||&&|\?\?)?=(?![=>])/.exec(
        head,
      );
  const target = assigned?.[1] ?? assigned?.[2] ?? "";

  if (/^(?:this|self)\./.test(target)) return [target];
  return (target.match(/[A-Za-z_$][\w$]*(?!\s*:)/g) ?? []).slice(0, 20);
}

/** The name of the function that a statement is in: `function name(`, `name = (`, `def name(`. */
function findReturner(source: Code, start: number): readonly string[] {
  const { code, isPython, brackets } = source;
  const { around, partner } = brackets;
  if (isPython) {
    const indent = /^[ \t]*/.exec(code.slice(start, start + near))?.[0].length ?? 0;
    const heads = listHeads(source);
    const last = heads.findLastIndex(({ at }) => at < start);
    const head = heads
      .slice(Math.max(0, last + 1 - headsMax), last + 1)
      .findLast((one) => one.indent < indent);
    return head === undefined ? [] : [head.name];
  }

  for (let open = around[start] ?? -1; open !== -1; open = around[open] ?? -1) {
    if (code[open] !== "{") continue;
    const before = code.slice(Math.max(0, open - near), open);
    const named =
      /(?:function\s*\*?\s*([\w$]+)\s*\([^{}]*|(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b[^{}]*|\([^{}]*=>\s*|[\w$]+\s*=>\s*))$/.exec(
        before,
      );
    if (named !== null) return [named[1] ?? named[2] ?? ""];
    const close = /\)\s*(?::[^;{}()]+)?$/.exec(before);
    const head = close === null ? -1 : (partner[Math.max(0, open - near) + close.index] ?? -1);
    const name =
      head === -1 ? null : /([\w$]+)\s*$/.exec(code.slice(Math.max(0, head - 80), head))?.[1];
    if (name !== null && name !== undefined && !/^(?:if|for|while|switch|catch|with)$/.test(name))
      return [name];
  }

  return [];
}

type Head = { readonly at: number; readonly indent: number; readonly name: string };
const headsOf = new WeakMap<Brackets, readonly Head[]>();

/** The heads of all functions of a Python file: it is asked for each value of the same file. */
function listHeads({ code, brackets }: Code): readonly Head[] {
  const known = headsOf.get(brackets);
  if (known !== undefined) return known;
  const found = code.matchAll(/^([ \t]*)(?:async )?def (\w+)/gm);
  const heads = [...found].map(({ index, 1: space = "", 2: name = "" }) => ({
    at: index,
    indent: space.length,
    name,
  }));
  headsOf.set(brackets, heads);

  return heads;
}

/** The end of a value's members and calls: `.a?.b(c)[d]`. */
export function findChainEnd(code: string, at: number, { partner }: Brackets): number {
  const member = /\s*!?\s*(?:\?\.|\.(?!\.))\s*#?[A-Za-z_$][\w$]*|\s*\?\.(?=[([])/y;
  let to = at;
  for (;;) {
    const letter = code[to] ?? "";
    if ((letter === "(" || letter === "[") && (partner[to] ?? -1) > to) {
      to = (partner[to] ?? to) + 1;
      continue;
    }

    member.lastIndex = to;
    if (!member.test(code)) return to;
    to = member.lastIndex;
  }
}

/** The start of what is called by the bracket at `open`. */
export function findChainStart(code: string, open: number, { partner }: Brackets): number {
  let from = open;
  for (;;) {
    const before = code.slice(Math.max(0, from - near), from);
    const word =
      /(?:\?\.|\.)?\s*#?[A-Za-z_$][\w$]*$/.exec(before)?.[0] ?? /\?\.$/.exec(before)?.[0] ?? "";
    if (
      word !== "" &&
      !/^(?:return|if|else|and|or|not|in|is|typeof|await|case|of|yield|elif|while|assert)$/.test(
        word,
      )
    ) {
      from -= word.length;
      if (!/^[.?]/.test(word)) return from;
      continue;
    }

    const last = code[from - 1] ?? "";
    const head = ")]".includes(last) && last !== "" ? (partner[from - 1] ?? -1) : -1;
    if (head === -1) return from;
    from = head;
  }
}
