// doctests: finds, breaks and restores the examples in Python docstrings and in documents (`>>>
// add(1, 2)` with its output below), which doctest runs. Pure.
// Invariants O1 and on: verify/experiments/broken-expectations/examples.ts.

import { maskText } from "../../protected/mask-text.ts";
import type { TestCase } from "../source-text/test-cases.ts";
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
/** The examples of one docstring; `owner`: whose it is. */
type Docstring = { readonly owner: string; readonly examples: readonly Example[] };

const exampleScore = 4;

/** Each docstring with examples as a test. */
export function findDoctestCases(path: string, text: string): readonly TestCase[] {
  const lines = text.split("\n");

  return parseDoctests(path, text).map(({ owner, examples }) => {
    const from = examples[0]?.from ?? 0;
    const to = examples.at(-1)?.to ?? 0;
    return {
      path,
      name: `the example of ${owner}`,
      title: new RegExp(`(?:^|::|[\\s.])${owner}(?:$|[\\s([/])`),
      from: from + 1,
      to,
      text: lines.slice(from, to).join("\n"),
      isSkipped: false,
    };
  });
}

/** The expected outputs, each broken (O1). */
export function createDoctestFlips(path: string, text: string): readonly Flip[] {
  const examples = parseDoctests(path, text).flatMap((docstring) => docstring.examples);

  return examples.flatMap(({ output, outputFrom }) => {
    const broken = changeOutput(output)?.join("\n");
    if (broken === undefined) return [];
    return [{ path, line: outputFrom + 1, was: output.join("\n"), broken, score: exampleScore }];
  });
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
export function listChangeableExamples(
  path: string,
  text: string,
  nonce: string,
): readonly DoctestExample[] {
  const examples = parseDoctests(path, text).flatMap((docstring) => docstring.examples);

  return examples.flatMap(({ output, from, outputFrom, to }) => {
    const broken = changeOutput(output);
    if (broken === null) return [];

    return [
      {
        line: from + 1,
        otherOutput: (lines) => lines.toSpliced(outputFrom, to - outputFrom, ...broken),
        otherCall: (lines) => {
          const [indent = ""] = /^\s*/.exec(lines[from] ?? "") ?? [];
          const furtherLines = Array.from({ length: outputFrom - from - 1 }, () => `${indent}...`);
          const call = [`${indent}>>> "${nonce}"`, ...furtherLines];
          return lines.toSpliced(from, outputFrom - from, ...call);
        },
      },
    ];
  });
}

/**
 * The docstrings with lost examples are added to `__test__`, which doctest runs too; before `if
 * __name__`, which may end the module. Null if none is lost (O2).
 */
export function restoreDoctests(path: string, was: string, is: string): string | null {
  const kept = new Set(
    parseDoctests(path, is).flatMap(({ examples }) => examples.map(formatExample)),
  );
  const lost = parseDoctests(path, was).filter(({ examples }) =>
    examples.some((example) => !kept.has(formatExample(example))),
  );
  if (lost.length === 0) return null;

  const entries = lost.map(({ owner, examples }) => {
    const text = `${examples.map(formatExample).join("\n")}\n`;
    return `${JSON.stringify(`${owner} as before`)}: ${JSON.stringify(text)}`;
  });
  const assignment = `__test__ = {**globals().get("__test__", {}), ${entries.join(", ")}}\n`;

  const main = /^if __name__\b/m.exec(maskText(is, "py"))?.index;
  if (main === undefined) return `${is}\n\n${assignment}`;
  return `${is.slice(0, main)}${assignment}\n\n${is.slice(main)}`;
}

/** The call with its output below, without indentation. */
const formatExample = ({ call, output }: Example): string =>
  [call, ...output.map((line) => line.trim())].join("\n");

function parseDoctests(path: string, text: string): readonly Docstring[] {
  const lines = text.split("\n");
  const code = path.endsWith(".py") ? maskText(text, "py").split("\n") : lines.map(() => ""); // a document has no code around them
  const moduleName = (path.split("/").at(-1) ?? path).replace(/\.py$/, "");
  const docstrings = new Map<number, { readonly owner: string; readonly examples: Example[] }>();

  for (let index = 0; index < lines.length; index += 1) {
    const indent = /^(\s*)>>>(?: |$)/.exec(lines[index] ?? "")?.[1];
    if (indent === undefined || code[index]?.trim() !== "") continue; // code, not documentation

    const example = readExample(lines, index, indent);
    index = example.to - 1;
    if (/#\s*doctest:.*\+SKIP\b/.test(example.call)) continue;

    const definition = findOwner(code, example.from, indent.length);
    const key = definition?.line ?? -1;
    const docstring = docstrings.get(key) ?? {
      owner: definition?.name ?? moduleName,
      examples: [],
    };
    docstring.examples.push(example);
    docstrings.set(key, docstring);
  }

  return [...docstrings.values()].filter(({ examples }) =>
    examples.some(({ output }) => output.length > 0),
  );
}

/** The example that begins in this line: the call with the lines that go on with it, its output. */
function readExample(lines: readonly string[], from: number, indent: string): Example {
  const continuation = new RegExp(`^${indent}\\.\\.\\.(?: |$)`);
  let outputFrom = from + 1;
  while (continuation.test(lines[outputFrom] ?? "")) outputFrom += 1;

  let to = outputFrom;
  while (isOutputLine(lines[to])) to += 1;

  const callLines = lines.slice(from, outputFrom).map((line) => line.slice(indent.length));
  return { call: callLines.join("\n"), output: lines.slice(outputFrom, to), from, outputFrom, to };
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

  const [indent = ""] = /^\s*/.exec(last) ?? [];
  const text = last.slice(indent.length);
  const isTraceback = /^Traceback\b/.test(output[0]?.trim() ?? "");
  const exception = isTraceback ? /^[\w.]+/.exec(text)?.[0] : undefined;
  if (exception !== undefined) {
    const otherException = `${indent}${exception}x${text.slice(exception.length)}`;
    return [...output.slice(0, -1), otherException];
  }

  const near = output.length === 1 ? toNearValue(text, createDraw(text), true) : null;
  if (near !== null) return [`${indent}${near}`];

  const index = output.findLastIndex((line) => /[A-Za-z0-9]/.test(line.replaceAll("...", "")));
  return index === -1 ? null : output.with(index, changeLastLetter(output[index] ?? "")); // O1
}

function changeLastLetter(line: string): string {
  const position = /[A-Za-z0-9](?=[^A-Za-z0-9]*$)/.exec(line)?.index ?? 0;
  return line.slice(0, position) + toNextLetter(line[position] ?? "") + line.slice(position + 1);
}

/** Another letter or digit: the next one; 8 for 9, a for z. */
function toNextLetter(letter: string): string {
  if (letter === "9") return "8";
  if (letter === "z" || letter === "Z") return "a";
  return String.fromCharCode(letter.charCodeAt(0) + 1);
}
