// examples: finds and breaks the documentation examples that are run as tests: Python's doctests, Rust's documentation tests. Pure.
//
// Invariants:
//   O1. An example is broken like any other test: its expected output becomes the nearest one. One that accepts any output (`...`) cannot
//       be broken, and is reported.
//   O2. Examples from before the work judge it too: those that it changed or removed are run again beside its own.
//   O3. Line numbers stay, except for restored examples, which are inserted where they are read.

import { languageOf, findRow } from "../../protected/kinds.ts";
import { maskText } from "../../protected/masked.ts";
import type { TestCase } from "../source/test-cases.ts";
import { assertionFlips } from "./assertion-flips.ts";
import type { Flip } from "./literal-flips.ts";
import { createDraw, nearValue } from "./near-values.ts";

type Example = {
  /** As a person reads it: the call, and the expected output. */
  readonly call: string;
  readonly output: readonly string[];
  /** Lines, from 0. */
  readonly from: number;
  readonly outputFrom: number;
  readonly to: number;
};
/** The examples of one docstring or comment. */
type Group = { readonly owner: string; readonly examples: readonly Example[] };

const exampleScore = 4;
const textCharsMax = 400_000;

/** Each docstring or comment with examples as a test. */
export function exampleCases(path: string, text: string): readonly TestCase[] {
  if (!mayHaveExamples(path, text)) return [];
  const lines = text.split("\n");
  if (languageOf(path) === "rust")
    return parseRustBlocks(lines).map(({ from, to }) => ({
      path,
      name: `the example in line ${from}`,
      title: new RegExp(`${escaped(path)} - (?:.* )?\\(line ${from}\\)`),
      from,
      to,
      text: lines.slice(from - 1, to).join("\n"),
      isSkipped: false,
    }));
  return parseDoctests(path, text).map(({ owner, examples }) => {
    const [from, to] = [examples[0]?.from ?? 0, examples.at(-1)?.to ?? 0];
    const title = new RegExp(`(?:^|::|[\\s.])${owner}(?:$|[\\s([/])`);
    return { path, name: `the example of ${owner}`, title, from: from + 1, to, text: lines.slice(from, to).join("\n"), isSkipped: false };
  });
}

/** Their expectations, each broken (O1). */
export function exampleFlips(path: string, text: string, nonce: string): readonly Flip[] {
  if (!mayHaveExamples(path, text)) return [];
  const lines = text.split("\n");
  if (languageOf(path) === "rust") {
    const inside = new Map(
      parseRustBlocks(lines).flatMap(({ from, to }) => range(from, to - 1).map((position) => [position, lines[position] ?? ""] as const)),
    );
    const code = lines.map((line, index) => (inside.has(index) ? line.replace(/\/\/[/!]/, "   ") : "")).join("\n");
    return assertionFlips(path, code, nonce).flatMap(({ line, was, broken, score: worth }) => {
      const many = was.split("\n").length;
      const own = lines.slice(line - 1, line - 1 + many);
      const put = broken.split("\n").map((one, index) => commentMark(own[index] ?? "") + one.slice(commentMark(own[index] ?? "").length));
      return [{ path, line, was: own.join("\n"), broken: put.join("\n"), score: worth }];
    });
  }
  return parseDoctests(path, text).flatMap(({ examples }) =>
    examples.flatMap(({ output, outputFrom }) => {
      const put = otherOutput(output);
      return put === null ? [] : [{ path, line: outputFrom + 1, was: output.join("\n"), broken: put.join("\n"), score: exampleScore }];
    }),
  );
}

/** The file with the base's examples that the work changed or removed, beside its own; null if it did neither (O2). */
export function restoreExamples(path: string, was: string, is: string): string | null {
  if (!mayHaveExamples(path, was)) return null;
  if (languageOf(path) === "rust") {
    const textOf = (lines: readonly string[], { from, to }: Block): string =>
      lines
        .slice(from - 1, to)
        .map((line) => line.trim().replace(/^\/\/[/!] ?/, ""))
        .join("\n");
    const [before, now] = [was.split("\n"), is.split("\n")];
    const kept = new Set(parseRustBlocks(now).map((block) => textOf(now, block)));
    const lost = parseRustBlocks(before)
      .map((block) => textOf(before, block))
      .filter((one) => !kept.has(one));
    if (lost.length === 0) return null;
    const all = lost.map(
      (one, index) =>
        `${one
          .split("\n")
          .map((line) => `/// ${line}`)
          .join("\n")}\n#[allow(dead_code)]\nfn as_before_${index}() {}\n`,
    );
    return `${is}\n${all.join("\n")}`;
  }
  const keyOf = ({ call, output }: Example): string => `${call}\n${output.map((line) => line.trim()).join("\n")}`;
  const kept = new Set(parseDoctests(path, is).flatMap(({ examples }) => examples.map(keyOf)));
  const lost = parseDoctests(path, was).filter(({ examples }) => examples.some((one) => !kept.has(keyOf(one))));
  if (lost.length === 0) return null;
  const texts = lost.map(({ owner, examples }) => `${JSON.stringify(`${owner} as before`)}: ${JSON.stringify(doctestText(examples))}`);
  const put = `__test__ = {**globals().get("__test__", {}), ${texts.join(", ")}}\n`;
  const main = /^if __name__\b/m.exec(maskText(is, "py"))?.index;
  return main === undefined ? `${is}\n\n${put}` : `${is.slice(0, main)}${put}\n\n${is.slice(main)}`;
}

/** Whether a check runs a file's examples: by its command, or by the names of what it ran. */
export const areExamplesRun = (path: string, used: readonly string[], reportedNames: readonly string[]): boolean =>
  languageOf(path) === "rust" ||
  (path.endsWith(".py") && (used.some((text) => /\bdoctest\b/.test(text)) || reportedNames.some((name) => name.startsWith(`${path}::`))));

export const describeChangedExamples = (paths: readonly string[]): string =>
  `examples in the documentation of ${paths.join(", ")} were changed, and it fails with those as they were, so a person has to look at that`;

/** Test files may contain text that looks like an example, which no runner runs. */
const mayHaveExamples = (path: string, text: string): boolean =>
  text.length <= textCharsMax &&
  (languageOf(path) === "rust" ? text.includes("```") : path.endsWith(".py") && findRow(path) === null && text.includes(">>>"));
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
const range = (from: number, to: number): readonly number[] => Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);

function parseDoctests(path: string, text: string): readonly Group[] {
  const [lines, code] = [text.split("\n"), maskText(text, "py").split("\n")];
  const groups = new Map<string, { readonly owner: string; readonly examples: Example[] }>();
  for (let index = 0; index < lines.length; index += 1) {
    const indent = /^(\s*)>>>(?: |$)/.exec(lines[index] ?? "")?.[1];
    if (indent === undefined || code[index]?.trim() !== "") continue; // code, not documentation
    const from = index;
    while (new RegExp(`^${indent}\\.\\.\\.(?: |$)`).test(lines[index + 1] ?? "")) index += 1;
    const asked = lines
      .slice(from, index + 1)
      .map((line) => line.slice(indent.length))
      .join("\n");
    const wantFrom = index + 1;
    while (isOutputLine(lines[index + 1])) index += 1;
    const want = lines.slice(wantFrom, index + 1);
    if (/#\s*doctest:.*\+SKIP\b/.test(asked)) continue;
    const definition = findOwner(code, from, indent.length);
    const owner = definition?.name ?? (path.split("/").at(-1) ?? path).replace(/\.py$/, "");
    const group = groups.get(`${definition?.line ?? -1}`) ?? { owner, examples: [] };
    group.examples.push({ call: asked, output: want, from, outputFrom: wantFrom, to: index + 1 });
    groups.set(`${definition?.line ?? -1}`, group);
  }
  return [...groups.values()].filter(({ examples }) => examples.some(({ output }) => output.length > 0));
}

const isOutputLine = (line: string | undefined): boolean => line !== undefined && line.trim() !== "" && !/^\s*>>>|"""|'''/.test(line);

function findOwner(code: readonly string[], position: number, indent: number): { readonly name: string; readonly line: number } | null {
  for (let line = position; line >= 0; line -= 1) {
    const [, own = "", name] = /^(\s*)(?:async\s+)?(?:def|class)\s+(\w+)/.exec(code[line] ?? "") ?? [];
    if (name !== undefined && own.length < indent) return { name, line };
  }
  return null;
}

/** Another output; null if any would do. */
function otherOutput(want: readonly string[]): readonly string[] | null {
  const last = want.at(-1);
  if (last === undefined) return null;
  const indent = /^\s*/.exec(last)?.[0] ?? "";
  const text = last.slice(indent.length);
  const raised = /^Traceback\b/.test(want[0]?.trim() ?? "") ? /^[\w.]+/.exec(text)?.[0] : undefined;
  if (raised !== undefined) return [...want.slice(0, -1), `${indent}${raised}x${text.slice(raised.length)}`];
  const near = want.length === 1 ? nearValue(text, createDraw(text), true) : null;
  if (near !== null) return [`${indent}${near}`];
  const index = want.findLastIndex((line) => /[A-Za-z0-9]/.test(line.replaceAll("...", "")));
  const line = want[index];
  if (line === undefined) return null; // O1
  const position = /[A-Za-z0-9](?=[^A-Za-z0-9]*$)/.exec(line)?.index ?? 0;
  const letter = line[position] ?? "";
  const replacement = letter === "9" ? "8" : letter === "z" || letter === "Z" ? "a" : String.fromCharCode(letter.charCodeAt(0) + 1);
  return want.with(index, line.slice(0, position) + replacement + line.slice(position + 1));
}

const doctestText = (examples: readonly Example[]): string =>
  `${examples.map(({ call, output }) => [call, ...output.map((line) => line.trim())].join("\n")).join("\n")}\n`;

/** Lines of a code block in documentation, from 1, including its fences. */
type Block = { readonly from: number; readonly to: number };

const commentMark = (line: string): string => /^\s*\/\/[/!]/.exec(line)?.[0] ?? "";

function parseRustBlocks(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  let open: { readonly from: number; readonly isRun: boolean } | null = null;
  for (const [index, line] of lines.entries()) {
    const fence = /^\s*\/\/[/!]\s*```(.*)$/.exec(line)?.[1];
    if (commentMark(line) === "") open = null;
    else if (fence !== undefined && open === null) open = { from: index + 1, isRun: /^\s*(?:rust\b.*|edition\w*)?\s*$/.test(fence) };
    else if (fence !== undefined && open !== null) {
      if (open.isRun) blocks.push({ from: open.from, to: index + 1 });
      open = null;
    }
  }
  return blocks;
}
