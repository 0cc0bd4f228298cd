// render: renders a command's response: one JSON object for programs, lines for people.
//
// Invariants:
//   R1. What people see has passed `visible()`, line by line: no text of an agent or a file steers
//       the terminal or begins a line.
//   R2. Colour is put on after that, only on a terminal, and only by us.
//   R3. Every response but PASS says what to do now.
//   R4. On a terminal long lines are broken between words, but never inside a command: that is
//       there to be copied. Only the further lines of a message stay as they are: they are a
//       program's output.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { type ResultWord, reasons } from "../../contracts/reason.ts";
import { fitted } from "../../kit/fitted.ts";
import { wrapTo } from "../../kit/columns.ts";
import { safeJson } from "../../kit/safe-json.ts";
import { visible } from "../../kit/visible.ts";

/** Adds the reason's own hint to a response that says nothing about what to do. R3 */
export function addRemediation(response: CommandResponse): CommandResponse {
  if (response.result === "PASS" || response.remediation.length > 0) return response;
  const { hint } = reasons[response.reason_code];
  return { ...response, remediation: [hint === "" ? "autopilot status" : hint] };
}

/** Where the output goes to no terminal. */
const usualColumns = 100;

type Screen = { readonly isVerbose: boolean; readonly columns?: number | undefined };

/**
 * Cuts the page to what fits a screen, unless the user asks for all of it. A line that wraps counts
 * as several rows.
 */
export function fitScreen(
  response: CommandResponse,
  { isVerbose, columns = usualColumns }: Screen,
): CommandResponse {
  const { page, rowsMax, whole } = response;
  if (page === undefined) return response;
  if (isVerbose) return { ...response, page: whole ?? page };
  if (rowsMax === undefined) return response;

  return {
    ...response,
    page: fitted(page, rowsMax, (line) => breakLine(visible(line), columns).length),
  };
}

/** The JSON object; a command's own fields never replace the common ones. */
export function formatResponseJson(
  response: CommandResponse,
  { isPretty }: { readonly isPretty: boolean },
): string {
  const { result, reason_code, run_id, state, message, warnings, remediation, data } = response;
  const common = { result, reason_code, run_id, state, message, warnings, remediation };
  return safeJson({ ...common, ...data, ...common }, isPretty ? 2 : undefined);
}

/** `columns` is set only if the output goes to a terminal. */
export type TerminalFormat = { readonly hasColour: boolean; readonly columns?: number };
/**
 * A command to copy, up to the end of its clause: `autopilot resume` in `look at the log, then
 * autopilot resume; or wait`.
 */
const commandPattern =
  /\b(?:autopilot ["a-z-]|git [a-z]|npm [a-z])(?:"[^"]*"|'[^']*'|(?![;,:)](?:\s|$)|\s\().)*/g;
/**
 * Stands in for the blanks of a command while a line is wrapped. A private-use character, which
 * texts do not contain.
 */
const commandSpace = "\ue000";

/** A line as it fits the terminal. R4 */
function breakLine(line: string, columns: number | undefined): readonly string[] {
  if (columns === undefined) return [line];
  const whole = line.replace(commandPattern, (wording) =>
    wording.replaceAll(" ", () => commandSpace),
  );
  return wrapTo(whole, columns).map((piece) => piece.replaceAll(commandSpace, " "));
}

/** The lines for stdout and stderr. */
export type Rendered = { readonly out: readonly string[]; readonly err: readonly string[] };

/**
 * The page on stdout; warnings and hints on stderr, and there too what went wrong, with how the
 * command is used.
 */
export function formatResponseLines(
  response: CommandResponse,
  { hasColour, columns }: TerminalFormat,
  usage: readonly string[] = [],
): Rendered {
  const paint = hasColour ? paintColour : paintNothing;
  const page = (response.page ?? []).map(visible); // R1
  const lines = page.flatMap((line) => breakLine(line, columns));
  const colourLines = (colour: ResultWord, line: string): readonly string[] =>
    breakLine(line, columns).map((piece) => paint(colour, piece));
  const [first = "", ...more] = response.message.split("\n");
  const message = [
    ...colourLines(response.result, `${marks[response.result]} ${visible(first)}`),
    ...more.map((line) => `    ${visible(line)}`), // R1: a program's output is set apart, and begins no line of ours
  ];

  const isOnPage = page.length > 0 && response.result === "PASS";
  const hints = response.remediation
    .map(visible)
    .filter((hint) => !page.some((line) => line.includes(hint)));

  return {
    out: [
      ...lines.map((line, index) => colourPageLine(line, lines[index + 1], paint)),
      ...(isOnPage || response.result === "FAIL" ? [] : message),
    ],
    err: [
      ...(response.result === "FAIL" ? message : []),
      ...usage.flatMap((line) => (columns === undefined ? [line] : wrapTo(line, columns))),
      ...response.warnings
        .filter((warning) => !page.some((line) => line.includes(visible(warning))))
        .flatMap((warning) => colourLines("WARN", `! ${visible(warning)}`)),
      ...hints.flatMap((hint, index) => {
        const [first = "", ...rest] = breakLine(
          hint,
          columns === undefined ? undefined : columns - nextColumns,
        );

        return [
          `${index === 0 ? paint("head", "Next:") : "     "} ${first}`,
          ...rest.map((piece) => `${" ".repeat(nextColumns)}${piece}`),
        ];
      }),
    ],
  };
}

const nextColumns = "Next: ".length;

/** A line for people while something works, as it fits the terminal. */
export const formatProgressLines = (
  line: string,
  { hasColour, columns }: TerminalFormat,
): readonly string[] =>
  breakLine(visible(line), columns).map((piece) =>
    colourPageLine(piece, undefined, hasColour ? paintColour : paintNothing),
  );

const marks: Readonly<Record<ResultWord, string>> = { PASS: "✓", WARN: "!", FAIL: "✗" };

type Colour = ResultWord | "head" | "ask" | "now" | "later";
type Paint = (colour: Colour, text: string) => string;
const paintNothing: Paint = (_colour, text) => text;
const ansiCodes: Readonly<Record<Colour, string>> = {
  PASS: "32",
  WARN: "33",
  FAIL: "31",
  head: "1",
  ask: "36",
  now: "34",
  later: "2",
};
const paintColour: Paint = (colour, text) => `\u001b[${ansiCodes[colour]}m${text}\u001b[0m`; // R2

const markColours: Readonly<Record<string, Colour>> = {
  "✓": "PASS",
  "!": "WARN",
  "✗": "FAIL",
  "?": "ask",
  "●": "now",
  "○": "later",
};

/**
 * A line that opens with a mark has the mark coloured; one that has indented lines under it, or
 * begins with an arrow, is a heading.
 */
function colourPageLine(line: string, next: string | undefined, paint: Paint): string {
  const match = /^(\s*)([✓!✗?●○])( .*)$/u.exec(line);
  if (match !== null) {
    const [, indent = "", mark = "", rest = ""] = match;
    return `${indent}${paint(markColours[mark] ?? "head", mark)}${rest}`;
  }

  if (line.startsWith("→ ")) return paint("head", line);
  const isHeading = /^\S/.test(line) && next?.startsWith("  ") === true;
  return isHeading ? paint("head", line) : line;
}
