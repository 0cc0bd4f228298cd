// invariants: the numbered invariants in the heads of files, and the comments that cite them.

import { isProduct, isTest, isTypeScript, type SourceFile } from "./source.ts";

const definition = /^\/\/\s+([A-Z]{1,2}\d{1,2})\. /;
/**
 * The head of a file may leave a letter to another file: `Invariants J1 and on:
 * journal/journal.ts.`
 */
const elsewhere = /^\/\/ Invariants ([A-Z]{1,2})1 and on: (\S+\.ts)\.$/;
const citation = /(?<![\w`\-./"#:])([A-Z]{1,2}[1-9]\d?)(?=[.,;:)\s]|$)/g;
/** Percentiles look like invariants and are none. */
const percentile = /^P[5-9]\d$/;

/**
 * Invariants that are numbered out of order, or cited in a comment and defined neither in that file
 * nor in the one its head names.
 */
export function strayInvariantsIn(files: readonly SourceFile[]): string[] {
  const sources = files.filter(
    (file) =>
      file.path.startsWith("src/") && isTypeScript(file) && isProduct(file) && !isTest(file),
  );
  const defined = new Map(sources.map(({ path, text }) => [path, definedIn(text)]));
  return sources.flatMap(({ path, text }) => {
    const own = defined.get(path) ?? [];
    const numbers = own.map((name) => Number(/\d+/.exec(name)?.[0]));
    const first = numbers[0] ?? 1;
    const isOrdered = first <= 1 && numbers.every((number, at) => number === first + at);

    const known = new Set([
      ...own,
      ...headOf(text).flatMap((line) => {
        const [, letter = "", place = ""] = elsewhere.exec(line) ?? [];
        return (defined.get(`src/${place}`) ?? []).filter(
          (name) => name.replace(/\d+$/, "") === letter,
        );
      }),
    ]);
    const stray = citedIn(text).filter((name) => !known.has(name) && !percentile.test(name));
    return [
      ...(isOrdered ? [] : [`${path}: ${own.join(", ")} are out of order`]),
      ...[...new Set(stray)].map((name) => `${path}: ${name} is cited and not defined`),
    ];
  });
}

function headOf(text: string): readonly string[] {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return end === -1 ? lines : lines.slice(0, end);
}

const definedIn = (text: string): readonly string[] =>
  headOf(text).flatMap((line) => definition.exec(line)?.[1] ?? []);

function citedIn(text: string): readonly string[] {
  return text
    .split("\n")
    .slice(headOf(text).length)
    .map((line) => (/^\s*(?:\/\/|\/?\*)/.test(line) ? line : (/ \/\/ (.*)$/.exec(line)?.[1] ?? "")))
    .flatMap((comment) => [...comment.matchAll(citation)].map(([, name = ""]) => name));
}
