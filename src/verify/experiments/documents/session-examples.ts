// session-examples: reads a session of Python (`>>> mean([1, 2])`): its calls, and what the lines
// below them say of their results.
// Invariants A1 and on: verify/experiments/documents/usage-examples.ts.

import { maskText } from "../../protected/mask-text.ts";
import type { ExampleStep, ExpectedResult } from "./example-block.ts";
import { sessionConstant } from "./usage-patterns.ts";
import { isPlainCall, isWrittenValue } from "./written-calls.ts";

export function parseSession(
  lines: readonly string[],
  names: ReadonlySet<string>,
): readonly ExampleStep[] {
  const steps: ExampleStep[] = [];
  const knownNames = new Set(names);

  for (const { code, output } of splitSession(lines)) {
    if (code === "" || /^(?:from|import)\s/.test(code)) continue;

    const [, constant = "", value = ""] = sessionConstant.exec(code) ?? [];
    if (constant !== "" && isWrittenValue(value)) {
      knownNames.add(constant);
      steps.push({ code: value, constant, expected: null });
      continue;
    }

    const printed = /^print\(([^]+)\)$/.exec(code)?.[1];
    const call = printed ?? code;
    if (!isPlainCall(call, knownNames)) return steps; // A2
    const expected = readOutput(output, printed !== undefined);
    steps.push({ code: call, constant: null, expected });
  }

  return steps;
}

type SessionStatement = { readonly code: string; readonly output: readonly string[] };
type OpenStatement = {
  readonly codeLines: string[];
  readonly output: string[];
  readonly indent: string;
  isEnded: boolean;
};

/** The statements of a session, without comments, with the lines below each. */
function splitSession(lines: readonly string[]): readonly SessionStatement[] {
  const statements: OpenStatement[] = [];

  for (const line of lines) {
    const [, indent = "", firstLine] = /^(\s*)>>> (.*)$/.exec(line) ?? [];
    if (firstLine !== undefined) {
      statements.push({ codeLines: [firstLine], output: [], indent, isEnded: false });
      continue;
    }

    const current = statements.at(-1);
    if (current !== undefined && !current.isEnded) addLine(current, line);
  }

  return statements.map(({ codeLines, output }) => {
    const withoutComments = maskText(codeLines.join("\n"), "py", "comments");
    return { code: withoutComments.replaceAll(/#\s*$/gm, "").trim(), output };
  });
}

/** Adds a line below `>>>` to its statement: more of its code, its output, or its end. */
function addLine(statement: OpenStatement, line: string): void {
  const isContinuation = /^\s*\.\.\.(?: |$)/.test(line);

  if (isContinuation && statement.output.length === 0) {
    statement.codeLines.push(line.replace(/^\s*\.\.\. ?/, ""));
  } else if (line.trim() === "" || /^\s*>>>/.test(line)) {
    statement.isEnded = true;
  } else {
    statement.output.push(line.slice(statement.indent.length));
  }
}

/** What the lines below a call say that it gives or prints; null if nothing, or not exactly. */
function readOutput(output: readonly string[], isPrinted: boolean): ExpectedResult | null {
  const text = output.join("\n").trim();
  const withoutFrames = text.replace(/^Traceback[^]*\n(?=\S)/, "");
  if (text === "" || /…|\.{3}/.test(withoutFrames)) return null;

  if (/^Traceback\b/.test(text)) {
    const lastLine = output.at(-1)?.trim() ?? "";
    const error = /^(?:\w+\.)*(\w+)/.exec(lastLine)?.[1];
    if (error !== undefined) return { error };
  }

  if (isPrinted) return { text };
  return isWrittenValue(text) ? { value: text } : null;
}
