// render: an answer as it goes out: one JSON object for programs, lines for people.
//
// Invariants:
//   R1. What people see has passed `visible()`, line by line: no text of an agent or a file steers the terminal or makes a line of its own.
//   R2. Colour is put on after that, only on a terminal, and only by us.
//   R3. Every answer but PASS says what to do now.

import type { Answer } from "../../contracts/answer.ts";
import { type ResultWord, reasons } from "../../contracts/reason.ts";
import { visible } from "../../kit/visible.ts";

/** R3, whoever made the answer. */
export function completed(answer: Answer): Answer {
  if (answer.result === "PASS" || answer.remediation.length > 0) return answer;
  const { hint } = reasons[answer.reason_code];
  return { ...answer, remediation: [hint === "" ? "autopilot status" : hint] };
}

/** The JSON object; a command's own fields never replace the common ones. */
export function jsonOf(answer: Answer, { isPretty }: { readonly isPretty: boolean }): string {
  const { result, reason_code, run_id, state, message, warnings, remediation, data } = answer;
  const common = { result, reason_code, run_id, state, message, warnings, remediation };
  return JSON.stringify({ ...common, ...data, ...common }, null, isPretty ? 2 : undefined);
}

export type Rendered = { readonly out: readonly string[]; readonly err: readonly string[] };

/** The page on stdout; warnings and hints on stderr, and there too what went wrong. */
export function linesOf(answer: Answer, { hasColour }: { readonly hasColour: boolean }): Rendered {
  const paint = hasColour ? painted : plain;
  const page = (answer.page ?? []).map(visible); // R1
  const message = paint(answer.result, `${marks[answer.result]} ${visible(answer.message)}`);
  const isSaid = page.length > 0 && answer.result === "PASS";
  const hints = answer.remediation.map(visible).filter((hint) => !page.some((line) => line.includes(hint)));
  return {
    out: [...page.map((line, at) => pageLine(line, page[at + 1], paint)), ...(isSaid || answer.result === "FAIL" ? [] : [message])],
    err: [
      ...(answer.result === "FAIL" ? [message] : []),
      ...answer.warnings.map((warning) => paint("WARN", `! ${visible(warning)}`)),
      ...hints.map((hint, at) => `${at === 0 ? paint("head", "Next:") : "     "} ${hint}`),
    ],
  };
}

/** A line for people while something works. */
export const progressLine = (line: string, { hasColour }: { readonly hasColour: boolean }): string =>
  pageLine(visible(line), undefined, hasColour ? painted : plain);

const marks: Readonly<Record<ResultWord, string>> = { PASS: "✓", WARN: "!", FAIL: "✗" };

type Paint = (as: ResultWord | "head", text: string) => string;
const plain: Paint = (_as, text) => text;
const codes: Readonly<Record<ResultWord | "head", string>> = { PASS: "32", WARN: "33", FAIL: "31", head: "1" };
const painted: Paint = (as, text) => `\u001b[${codes[as]}m${text}\u001b[0m`; // R2

/** A line that opens with a mark has the mark coloured; one that has indented lines under it is a heading. */
function pageLine(line: string, next: string | undefined, paint: Paint): string {
  const found = /^(\s*)([✓!✗])( .*)$/u.exec(line);
  if (found !== null) {
    const [, indent = "", mark = "", rest = ""] = found;
    return `${indent}${paint(mark === "✓" ? "PASS" : mark === "!" ? "WARN" : "FAIL", mark)}${rest}`;
  }
  const isHeading = /^\S/.test(line) && next?.startsWith("  ") === true;
  return isHeading ? paint("head", line) : line;
}
