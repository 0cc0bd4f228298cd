// signatures: finds what functions, methods and constructors of JavaScript, TypeScript and Python
// take. Pure.
//
// Invariants:
//   T1. There is no parser: a header is recognised by its form, what it takes by brackets.
//   T2. A name that a file defines twice is left out, and so is a function that a decorator may
//       change: which one is meant is unknown.

import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket, findOutsideBrackets, splitAtCommas } from "../source-text/brackets.ts";

export type Parameter = {
  readonly name: string;
  /** As it is written, without its name; empty if it has none. */
  readonly fallback: string;
  readonly isOptional: boolean;
  readonly kind: "plain" | "keyword" | "rest" | "keywords";
  /** Of `{ now = Date.now }` the names, each with whether it has a default. */
  readonly fields: ReadonlyMap<string, boolean> | null;
};
export type Signature = {
  /** What is called: a function, or a class for its constructor. */
  readonly name: string;
  /** The class whose method it is. */
  readonly owner: string | null;
  readonly parameters: readonly Parameter[];
  /** The code that uses what it takes; of a constructor that of its class. */
  readonly body: string;
};

const textCharsMax = 400_000;

export function findSignatures(text: string, language: "js" | "py"): readonly Signature[] {
  if (text.length > textCharsMax) return [];
  const code = maskCode(text, language);
  const found = language === "js" ? findJsSignatures(code) : findPythonSignatures(code);
  const key = ({ name, owner }: Signature): string => `${owner ?? ""}.${name}`;
  const counts = new Map<string, number>();
  for (const one of found) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1);

  return found.filter((one) => counts.get(key(one)) === 1); // T2
}

/** Code without what is in its strings, and without comments. */
export const maskCode = (text: string, language: "js" | "py"): string =>
  maskText(text, language).replaceAll(
    language === "py" ? /#(?=[ \t]*$)/gm : /\/\/(?=[ \t]*$)|\/\*\s*\*\//gm,
    (mark) => mark.replaceAll(/[^\n]/g, " "),
  );

const jsFunctions = [
  /(?<![\w$.])function\s*\*?\s*([\w$]+)\s*(?:<[^>(]*>)?\(/g,
  /(?<![\w$.])(?:const|let|var)\s+([\w$]+)\s*(?::[^=;\n]+)?=\s*(?:async\s*)?(?:function\b\s*\*?\s*[\w$]*\s*)?(?:<[^>(]*>)?\(/g,
  /(?<![\w$])(?:module\.)?exports\.([\w$]+)\s*=\s*(?:async\s*)?(?:function\b\s*\*?\s*[\w$]*\s*)?\(/g,
];
const jsMethod =
  /(?<=[;{}]\s*)(?:(?:static|async|public|private|protected|override)\s+|\*\s*)*(?!(?:if|for|while|switch|catch|return|function|else|new|with)\b)(#?[\w$]+)\s*(?:<[^>(]*>)?\(/g;

function findJsSignatures(code: string): readonly Signature[] {
  const functions = jsFunctions.flatMap((header) =>
    [...code.matchAll(header)].flatMap(({ 0: head, 1: name = "", index }) =>
      readJsFunction(code, name, null, index + head.length - 1),
    ),
  );
  const methods = [...code.matchAll(/(?<![\w$.])class\s+([\w$]+)[^{}()]*\{/g)].flatMap(
    ({ 0: head, 1: owner = "", index }) => {
      const from = index + head.length - 1;
      const to = findClosingBracket(code, from) ?? code.length;
      const body = code.slice(from, to);
      return [...body.matchAll(jsMethod)].flatMap(({ 0: all, 1: name = "", index: at }) => {
        const isConstructor = name === "constructor";
        const open = from + at + all.length - 1;
        return readJsFunction(
          code,
          isConstructor ? owner : name,
          isConstructor ? null : owner,
          open,
        ).map((one) => (isConstructor ? { ...one, body } : one));
      });
    },
  );

  return [...functions, ...methods];
}

/** `open`: where the bracket of its parameters is. Nothing, if no function follows them. */
function readJsFunction(
  code: string,
  name: string,
  owner: string | null,
  open: number,
): readonly Signature[] {
  const close = findClosingBracket(code, open);
  if (close === null) return [];
  const rest = code.slice(close, close + 400);
  const start = /^\s*(?::[^;=]*?)?(?:=>\s*)?(?=\{)/.exec(rest)?.[0].length;
  const arrow = /^\s*(?::[^;=]*?)?=>/.exec(rest)?.[0].length;
  if (start === undefined && arrow === undefined) return [];
  const from = close + (start ?? arrow ?? 0);
  const to =
    start === undefined
      ? findOutsideBrackets(code, from, code.length, (letter) => letter === ";")
      : (findClosingBracket(code, from) ?? code.length);

  const parameters = splitAtCommas(code, open + 1, close - 1)
    .map((part) => readJsParameter(code.slice(part.from, part.to).trim()))
    .filter(({ name: own }) => own !== "" && own !== "this");
  return [{ name, owner, parameters, body: code.slice(from, to) }];
}

function readJsParameter(text: string): Parameter {
  const isRest = text.startsWith("...");
  const plain = text
    .replace(/^\.\.\./, "")
    .replace(/^(?:@\w+(?:\([^)]*\))?\s*|(?:public|private|protected|readonly|override)\s+)+/, "");
  const equals = findOutsideBrackets(
    plain,
    0,
    plain.length,
    (letter, at) => letter === "=" && !/[=>]/.test(plain[at + 1] ?? "") && plain[at - 1] !== "=",
  );
  const fallback = plain.slice(equals + 1).trim();
  const isPattern = plain.startsWith("{");
  const end = isPattern ? (findClosingBracket(plain, 0) ?? plain.length) : 0;
  const fields = isPattern
    ? new Map(
        splitAtCommas(plain, 1, end - 1).map((part): [string, boolean] => {
          const field = plain.slice(part.from, part.to);
          return [/[\w$]+/.exec(field)?.[0] ?? "", field.includes("=") || field.includes("...")];
        }),
      )
    : null;
  const name = isPattern ? "{}" : (/^[\w$]+/.exec(plain)?.[0] ?? "");

  return {
    name,
    fallback,
    isOptional: isRest || fallback !== "" || /^[\w$]+\s*\?/.test(plain),
    kind: isRest ? "rest" : "plain",
    fields,
  };
}

/** Decorators that leave alone what a function takes. */
const keepsParameters =
  /^@(?:staticmethod|classmethod|abstractmethod|abc\.abstractmethod|(?:functools\.)?(?:lru_cache|cache)|override|typing\.override)\b/;

function findPythonSignatures(code: string): readonly Signature[] {
  return [...code.matchAll(/^([ \t]*)(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(/gm)].flatMap(
    ({ 0: head, 1: indent = "", 2: own = "", index }): readonly Signature[] => {
      const open = index + head.length - 1;
      const close = findClosingBracket(code, open);
      if (close === null) return [];
      const decorators: string[] = [];
      for (const line of code.slice(0, index).split("\n").slice(0, -1).toReversed()) {
        if (!line.trim().startsWith("@")) break;
        decorators.push(line.trim());
      }

      if (!decorators.every((one) => keepsParameters.test(one))) return []; // T2
      const outer = [
        ...code.slice(0, index).matchAll(/^([ \t]*)(class|def|async def)[ \t]+(\w+)/gm),
      ]
        .toReversed()
        .find(({ 1: space = "" }) => space.length < indent.length);
      const owner = indent !== "" && outer?.[2] === "class" ? (outer[3] ?? null) : null;
      if (indent !== "" && owner === null) return []; // a function in a function

      const rest = code.slice(close);
      const end = new RegExp(`^[ \\t]{0,${indent.length}}[^\\s#)]`, "m").exec(rest.slice(1));
      const body = rest.slice(0, end === null ? rest.length : end.index + 1);
      const parameters = readPythonParameters(code.slice(open + 1, close - 1));
      const isStatic = decorators.some((one) => one.startsWith("@staticmethod"));
      const callableParameters = owner === null || isStatic ? parameters : parameters.slice(1);
      return own === "__init__" && owner !== null
        ? [{ name: owner, owner: null, parameters: callableParameters, body }]
        : [{ name: own, owner, parameters: callableParameters, body }];
    },
  );
}

function readPythonParameters(list: string): readonly Parameter[] {
  const parameters: Parameter[] = [];
  let kind: Parameter["kind"] = "plain";
  for (const part of splitAtCommas(list, 0, list.length)) {
    const text = list.slice(part.from, part.to).trim();
    const name = /^\*{0,2}(\w*)/.exec(text)?.[1] ?? "";
    const fallback = /^\w+\s*(?::[^=]*)?=\s*([\s\S]*)$/.exec(text)?.[1] ?? "";
    if (text.startsWith("**")) {
      parameters.push({ name, fallback, isOptional: true, kind: "keywords", fields: null });
    } else if (text.startsWith("*")) {
      if (name !== "")
        parameters.push({ name, fallback, isOptional: true, kind: "rest", fields: null });
      kind = "keyword";
    } else if (name !== "") {
      parameters.push({ name, fallback, isOptional: fallback !== "", kind, fields: null });
    }
  }

  return parameters;
}
