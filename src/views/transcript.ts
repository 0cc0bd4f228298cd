// transcript: reads what an agent said and did from the lines that its turns left, and renders it
// turn by turn.

import type {
  TranscriptLine,
  TurnCall,
  TurnText,
  TurnTranscript,
} from "../contracts/transcript.ts";
import { parseIsoTime } from "../kit/iso-time.ts";
import { visible } from "../kit/visible.ts";
import { describeAttempt, formatDuration, oneLine, plural } from "./wording.ts";

/** The turns in a file's lines. A turn that began again after a crash counts as two. */
export function parseTurns(lines: readonly TranscriptLine[]): readonly TurnTranscript[] {
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
      if (turn !== undefined) {
        turns.push({ ...turn, to: line.at, how: line.how, left_out: line.left_out });
      }
    } else {
      addLine(entries, line);
    }
  }

  return turns;
}

type EventLine = Exclude<TranscriptLine, { kind: "turn" | "end" }>;

function addLine(entries: (TurnCall | TurnText)[], line: EventLine): void {
  if (line.kind === "said" || line.kind === "thought") {
    const lastEntry = entries.at(-1);
    if (lastEntry?.kind === line.kind) {
      entries[entries.length - 1] = { ...lastEntry, text: lastEntry.text + line.text };
    } else {
      entries.push({ kind: line.kind, at: line.at, text: line.text });
    }

    return;
  }

  const index = entries.findLastIndex(
    (entry) => entry.kind === "tool" && entry.call === line.call && entry.status === "open",
  );
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

/** Of the last turn on one screen: all rows, those of one text, and those of one output. */
const rowsMax = 28;
const saidRows = 6;
const outputRows = 3;

export type TranscriptPageInput = {
  readonly turns: readonly TurnTranscript[];
  /** Which of them, counted from 1; null: the last, in short. */
  readonly turn: number | "all" | null;
  /** The arguments that name this run on the command line, after `autopilot transcript`. */
  readonly named: string;
};

/**
 * Without a choice: the last turn, on one screen. A turn by its number, or all of them, in full.
 */
export function transcriptPage({ turns, turn, named }: TranscriptPageInput): readonly string[] {
  const command = `autopilot transcript${named}`;
  if (turn === "all") {
    return turns.flatMap((item, index) => [
      ...turnHead(item, index, turns.length),
      ...promptLines(item),
      ...turnBody(item, fullDetail),
      "",
    ]);
  }

  const position = (turn ?? turns.length) - 1;
  const chosen = turns[position];
  if (chosen === undefined) return [];
  if (turn !== null) {
    return [
      ...turnHead(chosen, position, turns.length),
      ...promptLines(chosen),
      ...turnBody(chosen, fullDetail),
    ];
  }

  const body = turnBody(chosen, briefDetail);
  const shownLines = body.slice(-rowsMax);
  const isCut = body.length > shownLines.length || chosen.entries.some(isLong);

  return [
    ...turnHead(chosen, position, turns.length),
    ...(body.length > shownLines.length
      ? [`  … ${plural(body.length - shownLines.length, "earlier row")}`]
      : []),
    ...shownLines,
    "",
    ...(isCut || chosen.prompt !== null
      ? [`→ ${command} --turn ${position + 1}   this turn in full, with its prompt`]
      : []),
    ...(turns.length > 1 ? [`→ ${command} --all   all ${turns.length} turns`] : []),
  ];
}

/** What the agent was asked, set apart from what it said. */
const promptLines = ({ prompt }: TurnTranscript): readonly string[] =>
  prompt === null ? [] : ["  Prompt", ...textLines(prompt).map((line) => `  │ ${line}`), ""];

function turnHead(turn: TurnTranscript, index: number, count: number): readonly string[] {
  const { attempt, agent, from, to, how, left_out } = turn;
  const calls = turn.entries.filter(({ kind }) => kind === "tool").length;
  const took =
    to === null
      ? "not ended"
      : `${formatDuration((parseIsoTime(to) ?? 0) - (parseIsoTime(from) ?? 0))}, ${oneLine(how ?? "")}`;

  return [
    `Turn ${index + 1} of ${count}: ${oneLine(agent)}, ${describeAttempt(attempt)}, ${from.slice(11, 19)}, ${took}, ${plural(calls, "tool call")}`,
    ...(left_out === 0
      ? []
      : [`! ${plural(left_out, "line")} not kept: the transcript of a turn is limited in size`]),
    "",
  ];
}

/** How much of a turn is shown: which lines of texts and outputs, and whether thoughts are. */
type DetailLevel = {
  readonly text: (text: string) => readonly string[];
  readonly output: (text: string) => readonly string[];
  readonly showsThoughts: boolean;
};

const textLines = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => visible(line.trimEnd()));

const fullDetail: DetailLevel = { text: textLines, output: textLines, showsThoughts: true };
const briefDetail: DetailLevel = {
  showsThoughts: false,
  text: (text) => cutLines(nonBlankLines(text), saidRows, "first"),
  output: (text) => cutLines(nonBlankLines(text), outputRows, "last"),
};

const lineCharsMax = 160;
const nonBlankLines = (text: string): readonly string[] =>
  textLines(text)
    .filter((line) => line.trim() !== "")
    .map((line) => (line.length > lineCharsMax ? `${line.slice(0, lineCharsMax)}…` : line));

/**
 * Cuts to `linesMax` lines, one of which counts the rest. Of a command's output the last lines say
 * most, so those are kept.
 */
function cutLines(
  lines: readonly string[],
  linesMax: number,
  which: "first" | "last",
): readonly string[] {
  if (lines.length <= linesMax) return lines;
  const countLine = `… ${plural(lines.length - linesMax + 1, "more line")}`;
  return which === "first"
    ? [...lines.slice(0, linesMax - 1), countLine]
    : [countLine, ...lines.slice(-(linesMax - 1))];
}

function isLong(entry: TurnCall | TurnText): boolean {
  const [text, rows] =
    entry.kind === "tool" ? [entry.output ?? "", outputRows] : [entry.text, saidRows];
  return (
    entry.kind === "thought" ||
    nonBlankLines(text).length > rows ||
    text.split("\n").some((line) => line.length > lineCharsMax)
  );
}

function turnBody(turn: TurnTranscript, detail: DetailLevel): readonly string[] {
  if (turn.entries.length === 0) return ["  The agent said and did nothing."];
  return turn.entries.flatMap((entry) => {
    if (entry.kind === "tool") return callLines(entry, detail);
    if (entry.text.trim() === "" || (entry.kind === "thought" && !detail.showsThoughts)) return [];
    const mark = entry.kind === "said" ? "“ " : "(thinks) ";
    const indent = " ".repeat(mark.length);

    return detail.text(entry.text).map((line, index) => `  ${index === 0 ? mark : indent}${line}`);
  });
}

const marks: Readonly<Record<string, string>> = {
  completed: "✓",
  failed: "✗",
  cancelled: "✗",
  open: "●",
};

function callLines(
  { title, tool, input, status, output }: TurnCall,
  detail: DetailLevel,
): readonly string[] {
  const isCommand = tool === "execute" && input?.startsWith("{") !== true;
  const toolName = title === "" ? (tool ?? "a tool") : title;
  const name = isCommand ? `$ ${input ?? title}` : toolName;
  const [first = "", ...more] = detail.text(name);
  const isUnusual = status !== "completed" && status !== "open";
  const inputLines = !isCommand && detail.showsThoughts && input !== null ? textLines(input) : [];

  return [
    `  ${marks[status] ?? "✓"} ${first}${isUnusual ? ` (${oneLine(status)})` : ""}`,
    ...more.map((line) => `      ${line}`),
    ...inputLines.map((line) => `    > ${line}`),
    ...(output === null ? [] : detail.output(output).map((line) => `    │ ${line}`)),
  ];
}
