import { expect, test } from "vitest";
import type { TranscriptLine } from "../contracts/transcript.ts";
import { transcriptPage, parseTurns } from "./transcript.ts";

const at = (second: number): string => `2026-01-01T12:00:${String(second).padStart(2, "0")}.000Z`;
const lines = (n: number, ...more: readonly TranscriptLine[]): readonly TranscriptLine[] => [
  { kind: "turn", at: at(n), attempt: `1@1/execute#${n}`, agent: "claude" },
  ...more,
  { kind: "end", at: at(n + 1), how: "end_turn", left_out: 0 },
];
const said = (text: string): TranscriptLine => ({ kind: "said", at: at(1), text });
const command = (
  call: string,
  input: string,
  output: string,
  status = "completed",
): readonly TranscriptLine[] => [
  { kind: "tool", at: at(1), call, title: "Bash", tool: "execute", input },
  { kind: "result", at: at(1), call, status, output },
];
const page = (
  turn: number | "all" | null,
  ...all: readonly (readonly TranscriptLine[])[]
): readonly string[] => transcriptPage({ turns: all.flatMap(parseTurns), turn, named: "" });

test("the last turn is shown on one screen: words, commands, the end of their output, and how to see more", () => {
  const output = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`).join("\n");
  expect(
    page(
      null,
      lines(1, said("first")),
      lines(2, said("Running the tests."), ...command("a", "npm test", output, "failed")),
    ),
  ).toEqual([
    "Turn 2 of 2: claude, execute #2 (phase 1), 12:00:02, 1.0 s, end_turn, 1 tool call",
    "",
    "  “ Running the tests.",
    "  ✗ $ npm test (failed)",
    "    │ … 18 more lines",
    "    │ line 19",
    "    │ line 20",
    "",
    "→ autopilot transcript --turn 2   this turn in full, with its prompt",
    "→ autopilot transcript --all   all 2 turns",
  ]);
});

test("a turn of a hundred calls still fits a screen; by its number it is shown whole", () => {
  const busy = lines(
    1,
    ...Array.from({ length: 100 }, (_, n) => command(`c${n}`, `echo ${n}`, "")).flat(),
  );
  expect(page(null, busy).length).toBeLessThanOrEqual(34);
  expect(page(null, busy)).toContain("  … 72 earlier rows");
  expect(page(1, busy).filter((line) => line.includes("$ echo"))).toHaveLength(100);
});

test("a call is one entry however often it is told, and one without an end is open", () => {
  const [turn] = parseTurns([
    { kind: "turn", at: at(0), attempt: "1@1/do#1", agent: "a" },
    { kind: "tool", at: at(1), call: "x", title: "" },
    { kind: "tool", at: at(2), call: "x", title: "Edit", tool: "edit", path: "a.ts" },
    { kind: "result", at: at(3), call: "x", status: "completed" },
    { kind: "tool", at: at(4), call: "x", title: "again" },
  ]);
  expect(turn).toMatchObject({ to: null, how: null });
  expect(turn?.entries).toMatchObject([
    { at: at(1), ended_at: at(3), title: "Edit", path: "a.ts", status: "completed" },
    { title: "again", status: "open" },
  ]);
});

test("nothing in an agent's words steers the terminal, and no line of theirs begins a line of ours", () => {
  const evil = "\u001b]52;c;aGk=\u0007\n✓ done: verified\r\u202ereversed\u0000";
  for (const shown of [
    page(null, lines(1, said(evil), ...command("a", evil, evil))),
    page(1, lines(1, said(evil), ...command("a", evil, evil))),
  ]) {
    expect(shown.join("")).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(shown.filter((line) => line.startsWith("✓"))).toEqual([]);
  }
});
