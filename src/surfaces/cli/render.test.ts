import { expect, test } from "vitest";
import type { CommandResponse } from "../../contracts/command-response.ts";
import {
  addRemediation,
  formatResponseJson,
  formatResponseLines,
  fitScreen,
  formatProgressLines,
} from "./render.ts";

const response: CommandResponse = {
  result: "WARN",
  reason_code: "operator_paused",
  run_id: "run-2026-03-01-101500",
  state: "paused",
  message: "The run is paused.",
  warnings: ["tokens: 83 % is used"],
  remediation: ["autopilot resume"],
};

test("people get the message on stdout, warnings and hints on stderr", () => {
  expect(formatResponseLines(response, { hasColour: false })).toEqual({
    out: ["! The run is paused."],
    err: ["! tokens: 83 % is used", "Next: autopilot resume"],
  });
});

test("what failed is told on stderr", () => {
  const { out, err } = formatResponseLines(
    { ...response, result: "FAIL", warnings: [] },
    { hasColour: false },
  );
  expect(out).toEqual([]);
  expect(err).toEqual(["✗ The run is paused.", "Next: autopilot resume"]);
});

test("a message of several lines stands indented under its first: nothing in it looks like a line of ours", () => {
  const { err } = formatResponseLines(
    {
      ...response,
      result: "FAIL",
      message: "It died.\nLast it said:\n✓ all \u001b[2Jwell",
      warnings: [],
    },
    { hasColour: false },
  );
  expect(err).toEqual([
    "✗ It died.",
    "    Last it said:",
    "    ✓ all \\x1b[2Jwell",
    "Next: autopilot resume",
  ]);
});

test("a page stands for its message where all is well, and a hint it holds is not said twice", () => {
  const page = ["run-1  paused", "  → autopilot resume"];
  expect(
    formatResponseLines({ ...response, result: "PASS", warnings: [], page }, { hasColour: false }),
  ).toEqual({ out: page, err: [] });
});

test("on a terminal prose is broken between words, and a command stays on its line", () => {
  const page = [
    "Isolation  " + "word ".repeat(12).trim(),
    "  → autopilot answer --block 'block:plan@1/agree#1' A",
  ];

  const { out, err } = formatResponseLines(
    { ...response, page, warnings: ["w ".repeat(30).trim()] },
    { hasColour: false, columns: 40 },
  );

  const words = "word word word word word word";
  expect(out.slice(0, 3)).toEqual([`Isolation  ${words}`, `           ${words}`, page[1]]);
  expect(err.slice(0, 2).every((line) => line.length <= 40)).toBe(true);
});

test("what is shown while something works, hints and usage are broken too, never inside a command", () => {
  const columns = 40;
  expect(
    formatProgressLines(
      "! Refused because the branch has moved; look at it, then autopilot resume --now",
      { hasColour: false, columns },
    ),
  ).toEqual([
    "! Refused because the branch has moved;",
    "  look at it, then",
    "  autopilot resume --now",
  ]);

  const { err } = formatResponseLines(
    {
      ...response,
      result: "FAIL",
      warnings: [],
      remediation: ["wait until the provider answers again, then autopilot resume --now"],
    },
    { hasColour: false, columns },
    ["Usage: autopilot go [GOAL…] [--scope GLOBS] [--done-criteria TEXT]"],
  );
  expect(err.every((line) => line.length <= columns)).toBe(true);
  expect(err).toContain("      again, then autopilot resume --now");
});

test("an agent's text neither steers the terminal nor makes a line of its own", () => {
  const hostile = "done\n✓ verified\u001b]52;c;ZXZpbA==\u0007\u202e";
  const { out, err } = formatResponseLines(
    { ...response, message: hostile, warnings: [hostile], remediation: [hostile], page: [hostile] },
    { hasColour: true },
  );
  const text = [...out, ...err].join("|").replaceAll(/\u001b\[(0|1|31|32|33)m/g, "");
  expect(text).not.toMatch(/[\u0000-\u001f\u202e]/);
  expect(text).toContain("done\\n✓ verified\\x1b]52;c;");
});

test("colour: marks and headings, and only where it is wanted", () => {
  const page = ["Budget", "  ! tokens", "plain"];
  expect(formatResponseLines({ ...response, page }, { hasColour: true }).out.slice(0, 3)).toEqual([
    "\u001b[1mBudget\u001b[0m",
    "  \u001b[33m!\u001b[0m tokens",
    "plain",
  ]);

  expect(formatResponseLines({ ...response, page }, { hasColour: false }).out.slice(0, 3)).toEqual(
    page,
  );
});

test("JSON has the common fields first, and a command's own fields never replace them", () => {
  const made = formatResponseJson(
    { ...response, data: { state: "forged", budget: { tokens: 1 } }, page: ["x"] },
    { isPretty: false },
  );
  expect(Object.keys(JSON.parse(made) as object)).toEqual([
    "result",
    "reason_code",
    "run_id",
    "state",
    "message",
    "warnings",
    "remediation",
    "budget",
  ]);

  expect(JSON.parse(made)).toMatchObject({ state: "paused" });
  expect(made).not.toContain("\n");
  expect(formatResponseJson(response, { isPretty: true })).toContain('\n  "result": "WARN"');
});

test("whatever is not PASS says what to do", () => {
  expect(addRemediation({ ...response, remediation: [] }).remediation).toEqual([
    "autopilot resume",
  ]);

  expect(addRemediation({ ...response, result: "PASS", remediation: [] }).remediation).toEqual([]);
});

test("-v shows the whole page instead of the short one, and a warning that the page holds is not said again", () => {
  const paged = {
    ...response,
    result: "PASS" as const,
    page: ["short", "  ! tokens: 83 % is used"],
    whole: ["short", "and the rest"],
    rowsMax: 34,
  };
  expect(fitScreen(paged, { isVerbose: false }).page).toEqual(paged.page);
  expect(fitScreen(paged, { isVerbose: true }).page).toEqual(paged.whole);
  expect(formatResponseLines(paged, { hasColour: false }).err.join()).not.toContain("83 %");
  expect(
    formatResponseLines({ ...paged, page: ["short"] }, { hasColour: false }).err.join(),
  ).toContain("83 %");
});
