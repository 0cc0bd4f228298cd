// calls: finds where a project's files call a function of one of them, by what they import. Pure.

import { basename, dirname } from "node:path/posix";
import { findClosingBracket, splitAtCommas, trimSpan } from "../source-text/brackets.ts";
import type { TextFile } from "../questions/question-context.ts";
import { maskCode } from "./signatures.ts";

export type Callee = {
  readonly path: string;
  readonly name: string;
  readonly owner: string | null;
};
export type Call = {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** As it is written. */
  readonly text: string;
  /** What it is given, one by one. */
  readonly given: readonly string[];
};

/** The calls in a file, but for those that spread a list. */
export function findCalls(
  { path, text }: TextFile,
  callee: Callee,
  language: "js" | "py",
): readonly Call[] {
  const word = callee.owner ?? callee.name;
  if (!text.includes(callee.name) || !text.includes(word)) return [];
  const code = showInterpolations(maskCode(text, language), text, language);
  const names = findNames(text, code, path, { ...callee, name: word }, language);
  if (names.length === 0) return [];
  const heads = callee.owner === null ? names : findReceivers(code, names, path, callee, language);

  return heads.flatMap((head) => {
    const call = new RegExp(`(?<![\\w$.#])(?:new\\s+)?${head}\\s*\\(`, "g");
    return [...code.matchAll(call)].flatMap(({ 0: all, index }): readonly Call[] => {
      const open = index + all.length - 1;
      const close = findClosingBracket(code, open);
      const before = code.slice(Math.max(0, index - 30), index);
      if (close === null || /(?:\bfunction\*?|\bdef|\bclass|\bget|\bset|@)\s*$/.test(before))
        return [];
      if (/^\s*(?:\{|:[^;,)\n]*\{)/.test(code.slice(close, close + 80))) return []; // a method
      const given = splitAtCommas(code, open + 1, close - 1)
        .map((part) => trimSpan(code, part))
        .filter(({ from, to }) => to > from)
        .map(({ from, to }) => text.slice(from, to));
      if (given.some((one) => /^(?:\.{3}|\*)/.test(one))) return [];
      const line = text.slice(0, index).split("\n").length;
      return [{ path, line, text: text.slice(index, close).trim(), given }];
    });
  });
}

/** The code inside of `${…}` and of Python's `f"{…}"`, which the mask takes for text. */
const showInterpolations = (code: string, text: string, language: "js" | "py"): string =>
  code.replaceAll(
    language === "js" ? /`[\s$]*`/g : /(?<!\w)(?:[fF][rR]?|[rR][fF])("""|'''|"|')\s*\1/g,
    (all, ...rest: readonly unknown[]) => {
      const index = rest.find((one): one is number => typeof one === "number") ?? 0;
      const inside = text.slice(index, index + all.length);
      const shown = inside.replaceAll(
        /(\$?\{)([^{}"'`\n]*)\}|[^\n]/g,
        (part: string, open?: string, value?: string) =>
          value === undefined
            ? " "
            : `${" ".repeat(open?.length ?? 0)}${value} `.padEnd(part.length),
      );
      return shown;
    },
  );

/** By which names a file knows what a module has, as patterns: `Cache`, `cache\.Cache`. */
function findNames(
  text: string,
  code: string,
  path: string,
  { path: module, name }: Callee,
  language: "js" | "py",
): readonly string[] {
  if (path === module) return [escape(name)];
  const isMeant = (from: string): boolean => mayMean(from, module, language);
  const names: string[] = [];
  const imports =
    language === "js"
      ? [
          /\bimport\s+([^;"'`]{1,400}?)\s+from\s*["']([^"'\n]+)["']/g,
          /\b(?:const|let|var)\s+([^;=]{1,400}?)\s*=\s*(?:await\s+)?(?:require|import)\(\s*["']([^"'\n]+)["']\s*\)(?!\s*[.(])/g,
        ]
      : [/^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n;#]+)/gm];

  for (const [, first = "", second = ""] of imports.flatMap((form) => [...text.matchAll(form)])) {
    const [list, from] = language === "js" ? [first, second] : [second, first];
    const importedAs = new RegExp(
      `(?<![\\w$])${escape(name)}(?![\\w$])(?:\\s*(?:\\bas\\b|:)\\s*([\\w$]+))?`,
    );
    const named = importedAs.exec(language === "js" ? (/\{[\s\S]*\}/.exec(list)?.[0] ?? "") : list);
    if (named !== null && isLocal(from, language)) names.push(named[1] ?? escape(name));
    const whole = language === "js" ? /^(?:\*\s*as\s+)?([\w$]+)/.exec(list.trim())?.[1] : undefined;
    if (whole !== undefined && isMeant(from)) {
      names.push(`${whole}\\.${escape(name)}`);
      if (whole === name) names.push(whole);
    }

    for (const [, inner = "", alias] of language === "py"
      ? list.matchAll(/(\w+)(?:\s+as\s+(\w+))?/g)
      : [])
      if (isMeant(`${from}.${inner}`)) names.push(`${alias ?? inner}\\.${escape(name)}`);
  }

  for (const [, from = "", alias] of language === "py"
    ? code.matchAll(/^[ \t]*import[ \t]+([\w.]+)(?:[ \t]+as[ \t]+(\w+))?/gm)
    : [])
    if (isMeant(from)) names.push(`${escape(alias ?? from)}\\.${escape(name)}`);

  return [...new Set(names)];
}

/** The values that a file makes of a class, and inside it the object itself. */
function findReceivers(
  code: string,
  names: readonly string[],
  path: string,
  { path: module, name }: Callee,
  language: "js" | "py",
): readonly string[] {
  const instanceReceivers = names.flatMap((one) =>
    [
      ...code.matchAll(
        new RegExp(
          `([\\w$.#]+)\\s*(?::[^=\\n]+)?=\\s*${language === "js" ? "new\\s+" : ""}${one}\\s*\\(`,
          "g",
        ),
      ),
    ].map(([, receiver = ""]) => escape(receiver)),
  );
  const selfReceivers = path === module ? [language === "js" ? "this" : "self"] : [];
  return [...new Set([...instanceReceivers, ...selfReceivers])].map(
    (receiver) => `${receiver}\\.${escape(name)}`,
  );
}

const escape = (name: string): string => name.replaceAll(/[.$]/g, String.raw`\$&`);

/** Whether a module of the project may be meant: a package of Python has no dot in front of it. */
const isLocal = (from: string, language: "js" | "py"): boolean =>
  language === "py" || /^(?:\.|[@~#]?\/|#)/.test(from);

/** Whether what is imported by this name may be the module at a path: by its last part. */
function mayMean(from: string, path: string, language: "js" | "py"): boolean {
  const stem = basename(path).replace(/\.[^.]*$/, "");
  const moduleName = /^(?:index|__init__)$/.test(stem) ? basename(dirname(path)) : stem;
  const last =
    language === "py"
      ? from.split(".").at(-1)
      : basename(from)
          .replace(/\.[cm]?[jt]sx?$/, "")
          .replace(/^index$/, () => basename(dirname(from)));
  return isLocal(from, language) && last === moduleName;
}
