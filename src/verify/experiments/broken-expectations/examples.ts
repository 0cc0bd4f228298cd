// examples: finds and breaks the documentation examples that are run as tests: Python's doctests,
// Rust's documentation tests. Pure.
//
// Invariants:
//   O1. An example is made wrong like any other test: its expected output becomes the nearest one.
//       An example that accepts any output (`...`) cannot be made wrong, and is reported.
//   O2. Examples from before the work judge it too: those that it changed or removed are run again
//       beside its own.
//   O3. Line numbers stay, except for restored examples, which are inserted where they are read.

import { detectLanguage, findProtectionRow } from "../../protected/kinds.ts";
import { maskText } from "../../protected/mask-text.ts";
import type { TestCase } from "../changed-source/test-cases.ts";
import { createAssertionFlips } from "./assertion-flips.ts";
import type { Flip } from "./flip.ts";
import { createDraw, toNearValue } from "./near-values.ts";

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
export function findExampleCases(path: string, text: string): readonly TestCase[] {
  if (!mayHaveExamples(path, text)) return [];
  const lines = text.split("\n");

  if (detectLanguage(path) === "rust") {
    return parseRustBlocks(lines).map(({ from, to }) => ({
      path,
      name: `the example in line ${from}`,
      title: new RegExp(`${escaped(path)} - (?:.* )?\\(line ${from}\\)`),
      from,
      to,
      text: lines.slice(from - 1, to).join("\n"),
      isSkipped: false,
    }));
  }

  return parseDoctests(path, text).map(({ owner, examples }) => {
    const [from, to] = [examples[0]?.from ?? 0, examples.at(-1)?.to ?? 0];
    const title = new RegExp(`(?:^|::|[\\s.])${owner}(?:$|[\\s([/])`);
    return {
      path,
      name: `the example of ${owner}`,
      title,
      from: from + 1,
      to,
      text: lines.slice(from, to).join("\n"),
      isSkipped: false,
    };
  });
}

/** Their expectations, each broken (O1). */
export function createExampleFlips(path: string, text: string, nonce: string): readonly Flip[] {
  if (!mayHaveExamples(path, text)) return [];
  const lines = text.split("\n");

  if (detectLanguage(path) === "rust") {
    const inside = new Map(
      parseRustBlocks(lines).flatMap(({ from, to }) =>
        range(from, to - 1).map((position) => [position, lines[position] ?? ""] as const),
      ),
    );
    const code = lines
      .map((line, index) => (inside.has(index) ? line.replace(/\/\/[/!]/, "   ") : ""))
      .join("\n");
    return createAssertionFlips(path, code, nonce).map(({ line, was, broken, score }) => {
      const originals = lines.slice(line - 1, line - 1 + was.split("\n").length);
      const brokenLines = broken.split("\n").map((brokenLine, index) => {
        const mark = readCommentMark(originals[index] ?? "");
        return mark + brokenLine.slice(mark.length);
      });

      return { path, line, was: originals.join("\n"), broken: brokenLines.join("\n"), score };
    });
  }

  return parseDoctests(path, text).flatMap(({ examples }) =>
    examples.flatMap(({ output, outputFrom }) => {
      const broken = changeOutput(output)?.join("\n");
      return broken === undefined
        ? []
        : [{ path, line: outputFrom + 1, was: output.join("\n"), broken, score: exampleScore }];
    }),
  );
}

/**
 * An example of a document or docstring: the document with another expected output, and with
 * another call, which cannot have that output.
 */
export type DoctestExample = {
  readonly line: number;
  readonly otherOutput: (lines: readonly string[]) => readonly string[];
  readonly otherCall: (lines: readonly string[]) => readonly string[];
};

/**
 * The examples whose output can be changed. As many lines stay, so that several can be changed one
 * after the other.
 */
export function findDoctestExamples(
  path: string,
  text: string,
  nonce: string,
): readonly DoctestExample[] {
  if (text.length > textCharsMax || !text.includes(">>>")) return [];
  const examples = parseDoctests(path, text).flatMap((group) => group.examples);
  return examples.flatMap(({ output, from, outputFrom, to }) => {
    const broken = changeOutput(output);
    if (broken === null) return [];

    const put = (
      lines: readonly string[],
      start: number,
      end: number,
      parts: readonly string[],
    ): readonly string[] => [...lines.slice(0, start), ...parts, ...lines.slice(end)];

    return [
      {
        line: from + 1,
        otherOutput: (lines) => put(lines, outputFrom, to, broken),
        otherCall: (lines) => {
          const indent = /^\s*/.exec(lines[from] ?? "")?.[0] ?? "";
          const rest = Array.from({ length: outputFrom - from - 1 }, () => `${indent}...`);
          return put(lines, from, outputFrom, [`${indent}>>> "${nonce}"`, ...rest]);
        },
      },
    ];
  });
}

/**
 * The file with the base's examples that the work changed or removed, beside its own; null if it
 * did neither (O2).
 */
export function restoreExamples(path: string, was: string, is: string): string | null {
  if (!mayHaveExamples(path, was)) return null;
  return detectLanguage(path) === "rust"
    ? restoreRustExamples(was, is)
    : restoreDoctests(path, was, is);
}

/** Each lost example becomes the documentation of an empty function at the end of the file. */
function restoreRustExamples(was: string, is: string): string | null {
  const listExamples = (text: string): readonly string[] => {
    const lines = text.split("\n").map((line) => line.trim().replace(/^\/\/[/!] ?/, ""));
    return parseRustBlocks(text.split("\n")).map(({ from, to }) =>
      lines.slice(from - 1, to).join("\n"),
    );
  };
  const kept = new Set(listExamples(is));
  const lost = listExamples(was).filter((example) => !kept.has(example));
  if (lost.length === 0) return null;
  const restored = lost.map((example, index) => {
    const comment = example.split("\n").map((line) => `/// ${line}`);
    return `${comment.join("\n")}\n#[allow(dead_code)]\nfn as_before_${index}() {}\n`;
  });

  return `${is}\n${restored.join("\n")}`;
}

/**
 * The docstrings with lost examples are added to `__test__`, which doctest runs too; before `if
 * __name__`, which may end the module.
 */
function restoreDoctests(path: string, was: string, is: string): string | null {
  const keyOf = ({ call, output }: Example): string =>
    `${call}\n${output.map((line) => line.trim()).join("\n")}`;
  const kept = new Set(parseDoctests(path, is).flatMap(({ examples }) => examples.map(keyOf)));
  const lost = parseDoctests(path, was).filter(({ examples }) =>
    examples.some((example) => !kept.has(keyOf(example))),
  );
  if (lost.length === 0) return null;
  const entries = lost.map(
    ({ owner, examples }) =>
      `${JSON.stringify(`${owner} as before`)}: ${JSON.stringify(formatDoctest(examples))}`,
  );

  const assignment = `__test__ = {**globals().get("__test__", {}), ${entries.join(", ")}}\n`;
  const main = /^if __name__\b/m.exec(maskText(is, "py"))?.index;
  return main === undefined
    ? `${is}\n\n${assignment}`
    : `${is.slice(0, main)}${assignment}\n\n${is.slice(main)}`;
}

/** Whether a check runs a file's examples: by its command, or by the names of what it ran. */
export const areExamplesRun = (
  path: string,
  used: readonly string[],
  reportedNames: readonly string[],
): boolean =>
  (detectLanguage(path) === "rust" &&
    !used.every((text) =>
      /^\s*cargo\s+(?:\+\S+\s+)?(?:check|clippy|build|c|b|doc|fmt)\b[^&|;]*$/.test(text),
    )) ||
  (path.endsWith(".py") &&
    (used.some((text) => /\bdoctest\b/.test(text)) ||
      reportedNames.some((name) => name.startsWith(`${path}::`))));

export const describeChangedExamples = (paths: readonly string[]): string =>
  `examples in the documentation of ${paths.join(", ")} were changed, and it fails with those as they were, so a person has to look at that`;

/** Test files may contain text that looks like an example, which no runner runs. */
const mayHaveExamples = (path: string, text: string): boolean =>
  text.length <= textCharsMax &&
  (detectLanguage(path) === "rust"
    ? text.includes("```")
    : path.endsWith(".py") && findProtectionRow(path) === null && text.includes(">>>"));
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);

function parseDoctests(path: string, text: string): readonly Group[] {
  const lines = text.split("\n");
  const code = path.endsWith(".py") ? maskText(text, "py").split("\n") : lines.map(() => ""); // a document has no code around them
  const groups = new Map<string, { readonly owner: string; readonly examples: Example[] }>();

  for (let index = 0; index < lines.length; index += 1) {
    const indent = /^(\s*)>>>(?: |$)/.exec(lines[index] ?? "")?.[1];
    if (indent === undefined || code[index]?.trim() !== "") continue; // code, not documentation
    const from = index;
    while (new RegExp(`^${indent}\\.\\.\\.(?: |$)`).test(lines[index + 1] ?? "")) index += 1; // the call goes on
    const call = lines
      .slice(from, index + 1)
      .map((line) => line.slice(indent.length))
      .join("\n");

    const outputFrom = index + 1;
    while (isOutputLine(lines[index + 1])) index += 1;
    const output = lines.slice(outputFrom, index + 1);
    if (/#\s*doctest:.*\+SKIP\b/.test(call)) continue;
    const definition = findOwner(code, from, indent.length);
    const owner = definition?.name ?? (path.split("/").at(-1) ?? path).replace(/\.py$/, "");
    const group = groups.get(`${definition?.line ?? -1}`) ?? { owner, examples: [] };
    group.examples.push({ call, output, from, outputFrom, to: index + 1 });
    groups.set(`${definition?.line ?? -1}`, group);
  }

  return [...groups.values()].filter(({ examples }) =>
    examples.some(({ output }) => output.length > 0),
  );
}

const isOutputLine = (line: string | undefined): boolean =>
  line !== undefined && line.trim() !== "" && !/^\s*(?:>>>|```|~~~)|"""|'''/.test(line);

/**
 * The function or class whose docstring an example is in: the next above it with less indentation.
 */
function findOwner(
  code: readonly string[],
  position: number,
  indent: number,
): { readonly name: string; readonly line: number } | null {
  for (let line = position; line >= 0; line -= 1) {
    const [, definitionIndent = "", name] =
      /^(\s*)(?:async\s+)?(?:def|class)\s+(\w+)/.exec(code[line] ?? "") ?? [];
    if (name !== undefined && definitionIndent.length < indent) return { name, line };
  }

  return null;
}

/**
 * A wrong output: another exception, the nearest value, or another last letter. Null if any output
 * would do (O1).
 */
function changeOutput(output: readonly string[]): readonly string[] | null {
  const last = output.at(-1);
  if (last === undefined) return null;
  const indent = /^\s*/.exec(last)?.[0] ?? "";
  const text = last.slice(indent.length);
  const exception = /^Traceback\b/.test(output[0]?.trim() ?? "")
    ? /^[\w.]+/.exec(text)?.[0]
    : undefined;
  if (exception !== undefined) {
    return [...output.slice(0, -1), `${indent}${exception}x${text.slice(exception.length)}`];
  }

  const near = output.length === 1 ? toNearValue(text, createDraw(text), true) : null;
  if (near !== null) return [`${indent}${near}`];
  const index = output.findLastIndex((line) => /[A-Za-z0-9]/.test(line.replaceAll("...", "")));
  const line = output[index];
  if (line === undefined) return null; // O1
  const position = /[A-Za-z0-9](?=[^A-Za-z0-9]*$)/.exec(line)?.index ?? 0;

  return output.with(
    index,
    line.slice(0, position) + toNextLetter(line[position] ?? "") + line.slice(position + 1),
  );
}

/** Another letter or digit: the next one; 8 for 9, a for z. */
function toNextLetter(letter: string): string {
  if (letter === "9") return "8";
  return letter === "z" || letter === "Z" ? "a" : String.fromCharCode(letter.charCodeAt(0) + 1);
}

const formatDoctest = (examples: readonly Example[]): string =>
  `${examples.map(({ call, output }) => [call, ...output.map((line) => line.trim())].join("\n")).join("\n")}\n`;

/** Lines of a code block in documentation, from 1, including its fences. */
type Block = { readonly from: number; readonly to: number };

const readCommentMark = (line: string): string => /^\s*\/\/[/!]/.exec(line)?.[0] ?? "";

function parseRustBlocks(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  let open: { readonly from: number; readonly isRun: boolean } | null = null;

  for (const [index, line] of lines.entries()) {
    const fence = /^\s*\/\/[/!]\s*```(.*)$/.exec(line)?.[1];
    if (readCommentMark(line) === "") {
      open = null;
    } else if (fence !== undefined && open === null) {
      open = { from: index + 1, isRun: /^\s*(?:rust\b.*|edition\w*)?\s*$/.test(fence) };
    } else if (fence !== undefined && open !== null) {
      if (open.isRun) blocks.push({ from: open.from, to: index + 1 });
      open = null;
    }
  }

  return blocks;
}
