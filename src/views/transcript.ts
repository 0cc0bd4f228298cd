// transcript: what an agent said and did, put together from the lines its turns left, and shown turn by turn.

import type { TranscriptLine, TurnCall, TurnText, TurnTranscript } from "../contracts/transcript.ts";
import { parseIsoTime } from "../kit/iso-time.ts";
import { visible } from "../kit/visible.ts";
import { describeAttempt, duration, oneLine, plural } from "./wording.ts";

/** The turns in a file's lines. A turn that began twice (a crash in between) is two. */
export function findTurns(lines: readonly TranscriptLine[]): readonly TurnTranscript[] {
  const turns: TurnTranscript[] = [];
  let entries: (TurnCall | TurnText)[] = [];
  for (const line of lines) {
    if (line.kind === "turn") {
      entries = [];
      turns.push({
        attempt: line.attempt,
        agent: line.agent,
        from: line.at,
        to: null,
        how: null,
        left_out: 0,
        prompt: line.prompt ?? null,
        entries,
      });
    } else if (line.kind === "end") {
      const turn = turns.pop();
      if (turn !== undefined) turns.push({ ...turn, to: line.at, how: line.how, left_out: line.left_out });
    } else add(entries, line);
  }
  return turns;
}

type Happening = Exclude<TranscriptLine, { kind: "turn" | "end" }>;

function add(entries: (TurnCall | TurnText)[], line: Happening): void {
  if (line.kind === "said" || line.kind === "thought") {
    const last = entries.at(-1);
    if (last?.kind === line.kind) entries[entries.length - 1] = { ...last, text: last.text + line.text };
    else entries.push({ kind: line.kind, at: line.at, text: line.text });
    return;
  }
  const index = entries.findLastIndex((entry) => entry.kind === "tool" && entry.call === line.call && entry.status === "open");
  const openEntry = entries[index];
  const openCall = openEntry?.kind === "tool" ? openEntry : null;
  const call: TurnCall = {
    kind: "tool",
    at: openCall?.at ?? line.at,
    call: line.call,
    title: line.kind === "tool" ? line.title : (openCall?.title ?? ""),
    tool: (line.kind === "tool" ? line.tool : null) ?? openCall?.tool ?? null,
    path: (line.kind === "tool" ? line.path : null) ?? openCall?.path ?? null,
    input: (line.kind === "tool" ? line.input : null) ?? openCall?.input ?? null,
    ended_at: line.kind === "result" ? line.at : null,
    status: line.kind === "result" ? line.status : "open",
    output: line.kind === "result" ? (line.output ?? null) : null,
  };
  if (openCall === null) entries.push(call);
  else entries[index] = call;
}

const rowsMax = 28;
const saidRows = 6;
const outputRows = 3;

export type TranscriptShown = {
  readonly turns: readonly TurnTranscript[];
  /** Which of them, counted from 1; null: the last, in short. */
  readonly turn: number | "all" | null;
  /** The words that name this run on the command line, behind `autopilot transcript`. */
  readonly named: string;
};

/** Without a choice: the last turn, on one screen. A turn by its number, or all of them, in full. */
export function transcriptPage({ turns, turn, named }: TranscriptShown): readonly string[] {
  const command = `autopilot transcript${named}`;
  if (turn === "all")
    return turns.flatMap((item, index) => [...turnHead(item, index, turns.length), ...promptLines(item), ...turnBody(item, wholly), ""]);
  const position = (turn ?? turns.length) - 1;
  const chosen = turns[position];
  if (chosen === undefined) return [];
  if (turn !== null) return [...turnHead(chosen, position, turns.length), ...promptLines(chosen), ...turnBody(chosen, wholly)];
  const body = turnBody(chosen, briefly);
  const shownLines = body.slice(-rowsMax);
  const isCut = body.length > shownLines.length || chosen.entries.some(isLong);
  return [
    ...turnHead(chosen, position, turns.length),
    ...(body.length > shownLines.length ? [`  … ${plural(body.length - shownLines.length, "earlier row")}`] : []),
    ...shownLines,
    "",
    ...(isCut || chosen.prompt !== null ? [`→ ${command} --turn ${position + 1}   this turn in full, with its prompt`] : []),
    ...(turns.length > 1 ? [`→ ${command} --all   all ${turns.length} turns`] : []),
  ];
}

/** What the agent was asked, set apart from what it said. */
const promptLines = ({ prompt }: TurnTranscript): readonly string[] =>
  prompt === null ? [] : ["  Prompt", ...textLines(prompt).map((line) => `  │ ${line}`), ""];

function turnHead(turn: TurnTranscript, at: number, of: number): readonly string[] {
  const { attempt, agent, from, to, how, left_out } = turn;
  const calls = turn.entries.filter(({ kind }) => kind === "tool").length;
  const took = to === null ? "not ended" : `${duration((parseIsoTime(to) ?? 0) - (parseIsoTime(from) ?? 0))}, ${oneLine(how ?? "")}`;
  return [
    `Turn ${at + 1} of ${of}: ${oneLine(agent)}, ${describeAttempt(attempt)}, ${from.slice(11, 19)}, ${took}, ${plural(calls, "tool call")}`,
    ...(left_out === 0 ? [] : [`! ${plural(left_out, "line")} not kept: the transcript of a turn is limited in size`]),
    "",
  ];
}

type Manner = {
  readonly text: (text: string) => readonly string[];
  readonly output: (text: string) => readonly string[];
  readonly thinks: boolean;
};

const textLines = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => visible(line.trimEnd()));

const wholly: Manner = { text: textLines, output: textLines, thinks: true };
const briefly: Manner = {
  thinks: false,
  text: (text) => cutAt(blankless(text), saidRows, "first"),
  output: (text) => cutAt(blankless(text), outputRows, "last"),
};

const lineCharsMax = 160;
const blankless = (text: string): readonly string[] =>
  textLines(text)
    .filter((line) => line.trim() !== "")
    .map((line) => (line.length > lineCharsMax ? `${line.slice(0, lineCharsMax)}…` : line));

/** Of a command's output the last lines say most. */
function cutAt(lines: readonly string[], linesMax: number, which: "first" | "last"): readonly string[] {
  if (lines.length <= linesMax) return lines;
  const more = `… ${plural(lines.length - linesMax + 1, "more line")}`;
  return which === "first" ? [...lines.slice(0, linesMax - 1), more] : [more, ...lines.slice(-(linesMax - 1))];
}

function isLong(entry: TurnCall | TurnText): boolean {
  const [text, rows] = entry.kind === "tool" ? [entry.output ?? "", outputRows] : [entry.text, saidRows];
  return entry.kind === "thought" || blankless(text).length > rows || text.split("\n").some((line) => line.length > lineCharsMax);
}

function turnBody(turn: TurnTranscript, manner: Manner): readonly string[] {
  if (turn.entries.length === 0) return ["  The agent said and did nothing."];
  return turn.entries.flatMap((entry) => {
    if (entry.kind === "tool") return callLines(entry, manner);
    if (entry.text.trim() === "" || (entry.kind === "thought" && !manner.thinks)) return [];
    const [mark, rest] = entry.kind === "said" ? ["“ ", "  "] : ["(thinks) ", "         "];
    return manner.text(entry.text).map((line, index) => `  ${index === 0 ? mark : rest}${line}`);
  });
}

const marks: Readonly<Record<string, string>> = { completed: "✓", failed: "✗", cancelled: "✗", open: "●" };

function callLines({ title, tool, input, status, output }: TurnCall, manner: Manner): readonly string[] {
  const isCommand = tool === "execute" && input?.startsWith("{") !== true;
  const toolName = title === "" ? (tool ?? "a tool") : title;
  const name = isCommand ? `$ ${input ?? title}` : toolName;
  const [first = "", ...more] = manner.text(name);
  const isOdd = status !== "completed" && status !== "open";
  const inputLines = !isCommand && manner.thinks && input !== null ? textLines(input) : [];
  return [
    `  ${marks[status] ?? "✓"} ${first}${isOdd ? ` (${oneLine(status)})` : ""}`,
    ...more.map((line) => `      ${line}`),
    ...inputLines.map((line) => `    > ${line}`),
    ...(output === null ? [] : manner.output(output).map((line) => `    │ ${line}`)),
  ];
}
