// waterfall: lays out what a run did over time: phases, their steps, the tasks in them, and idle times.

import { own } from "../../core/record.ts";
import type { RunView } from "../../core/state.ts";
import { attemptParts, taskOfCursor } from "../../insight/places.ts";
import { parseIsoTime } from "../../kit/iso-time.ts";
import { phaseRows } from "../phase-rows.ts";
import { amount, duration, figure, money, plural } from "../wording.ts";
import { grouped } from "./grouped.ts";
import type { RunIndex, Span } from "./run-index.ts";
import { meaningOf } from "./run-card.ts";
import type { Shape } from "./shape.ts";

export type BarKind = "phase" | "agent" | "runner" | "bad" | "open" | "you" | "parked";

export type WaterfallRow = {
  readonly id: string;
  readonly depth: 0 | 1 | 2;
  readonly name: string;
  readonly shape: Shape;
  readonly word: string;
  /** From and to, in milliseconds since the run began. */
  readonly bar: { readonly kind: BarKind; readonly from: number; readonly to: number } | null;
  readonly took: string;
  /** How many rows are under this one; they are listed if it is expanded. */
  readonly kids: number;
  readonly isExpanded: boolean;
  readonly facts: readonly (readonly [string, string])[];
  readonly said: string | null;
};

export type Waterfall = { readonly from: string; readonly spanMs: number; readonly nowMs: number; readonly rows: readonly WaterfallRow[] };

const rowsPerPhaseMax = 200;
const pausesMax = 50;

type WaterfallOptions = {
  readonly now: string;
  /** Phases whose steps are listed; without it, those that are at work or failed, or all of a run with few. */
  readonly expanded?: ReadonlySet<string> | undefined;
  readonly isAll?: boolean;
};

export function viewWaterfall(view: RunView, index: RunIndex, options: WaterfallOptions): Waterfall {
  const from = index.spans[0]?.started ?? view.startedAt ?? view.updatedAt;
  const isOver = view.status === "completed" || view.status === "stopped";
  const nowMs = Math.max(0, since(from, isOver ? (index.ended ?? view.updatedAt) : options.now));
  const byPhase = grouped(index.spans, ({ phase }) => phase);
  const states = new Map(phaseRows(view).map((row) => [row.id, row]));
  const hasFewPhases = view.phases.length <= 3;
  const rows = view.phases.flatMap((phase): readonly WaterfallRow[] => {
    const spans = byPhase.get(phase.id) ?? [];
    const row = states.get(phase.id);
    const isIdle = phase.status === "open" && view.status !== "running";
    const shownStatus = isIdle ? "idle" : phase.status;
    const status = row?.status === "needs_human_verification" ? "asks" : shownStatus;
    const isExpanded =
      options.isAll === true || (options.expanded?.has(phase.id) ?? (hasFewPhases || phase.status === "open" || phase.status === "failed"));
    const [first, last] = [spans[0]?.started, lastEnd(spans)];
    const endMs = last === null ? nowMs : since(from, last);
    const tokens = own(view.ledger.phase, phase.id)?.tokens ?? 0;
    const head: WaterfallRow = {
      id: phase.id,
      depth: 0,
      name: titleOf(phase),
      ...(phaseLabels[status] ?? notBegun),
      ...(row !== undefined && row.waits_for.length > 0 ? { word: `waits for ${row.waits_for.join(", ")}` } : {}),
      bar: first === undefined ? null : { kind: "phase", from: since(from, first), to: endMs },
      took: first === undefined ? "–" : duration(endMs - since(from, first)),
      kids: spans.length,
      isExpanded: isExpanded && spans.length > 0,
      facts: [
        ["Tokens", figure(tokens)],
        ["Money", money(own(view.ledger.phase, phase.id)?.usd ?? 0)],
        ...(row?.score === null || row === undefined ? [] : [["Score", figure(row.score)] as const]),
        ...(phase.because === null ? [] : [["Why", phase.because.replaceAll("_", " ")] as const]),
      ],
      said: null,
    };
    return isExpanded ? [head, ...spans.slice(-rowsPerPhaseMax).map((span) => spanRow(span, from, nowMs))] : [head];
  });
  const pauses = (byPhase.get("") ?? []).slice(-pausesMax).map((span) => pauseRow(span, from, nowMs));
  return { from, spanMs: Math.max(1, nowMs), nowMs: isOver ? -1 : nowMs, rows: [...rows, ...pauses] };
}

const notBegun = { shape: "waits", word: "to come" } as const;
const phaseLabels: Readonly<Record<string, { readonly shape: Shape; readonly word: string }>> = {
  waiting: notBegun,
  open: { shape: "run", word: "under way" },
  asks: { shape: "you", word: "needs your verdict" },
  idle: { shape: "paused", word: "begun, not at work" },
  completed: { shape: "ok", word: "completed" },
  failed: { shape: "bad", word: "failed" },
  skipped: { shape: "skipped", word: "skipped" },
  again: { shape: "again", word: "to be done again" },
};

function titleOf({ id, name, group }: RunView["phases"][number]): string {
  const short = id.replace(/^(before|after)\./, "");
  const longTitle = group === "phases" ? `${short}  ${name}` : name;
  const title = name === "" || name === short ? short : longTitle;
  if (group === "before") return `Before: ${title}`;
  return group === "after" ? `After: ${title}` : title;
}

function spanRow(span: Span, from: string, nowMs: number): WaterfallRow {
  const parts = attemptParts(span.id);
  const task = taskOfCursor(span.walk);
  const begin = since(from, span.started);
  const end = span.ended === null ? nowMs : since(from, span.ended);
  const ordinal = parts === null || parts.ordinal === 1 ? "" : ` #${parts.ordinal}`;
  return {
    id: span.id,
    depth: task === null ? 1 : 2,
    name: task === null ? `${span.step}${ordinal}` : `${task}  ${span.step}${ordinal}`,
    ...spanLabel(span),
    bar: { kind: spanBar(span), from: begin, to: end },
    took: duration(end - begin),
    kids: 0,
    isExpanded: false,
    facts: [
      ["Attempt", span.id],
      ["By", span.agent ?? actorOf(span.kind)],
      ...(span.tokens === 0 ? [] : [["Spent", spending(span)] as const]),
      ...(span.paths === 0 ? [] : [["Changed", plural(span.paths, "path")] as const]),
      ...(span.reason === null || span.reason === "ok"
        ? []
        : [["Reason", span.reason] as const, ["Means", meaningOf(span.reason)] as const]),
    ],
    said: span.said,
  };
}

function actorOf(kind: Span["kind"]): string {
  if (kind === "human") return "a person";
  return kind === "agent" ? "an agent" : "the runner";
}

const spending = ({ tokens, usd }: Span): string => (usd === 0 ? amount("tokens", tokens) : `${amount("tokens", tokens)}, ${money(usd)}`);

function spanLabel({ outcome, kind }: Span): { readonly shape: Shape; readonly word: string } {
  if (outcome === "passed") return { shape: "ok", word: kind === "human" ? "answered" : "passed" };
  if (outcome === "failed") return { shape: "bad", word: "failed" };
  if (outcome === "set aside") return { shape: "again", word: "set aside" };
  return kind === "human" ? { shape: "you", word: "waits for you" } : { shape: "run", word: "at work" };
}

function spanBar({ kind, outcome, ended }: Span): BarKind {
  if (kind === "human") return "you";
  if (outcome === "failed" || outcome === "set aside") return "bad";
  if (ended === null) return "open";
  return kind === "agent" ? "agent" : "runner";
}

function pauseRow(span: Span, from: string, nowMs: number): WaterfallRow {
  const begin = since(from, span.started);
  const end = span.ended === null ? nowMs : since(from, span.ended);
  return {
    id: span.id,
    depth: 0,
    name: span.kind === "parked" ? "Parked, provider limit" : "Paused",
    shape: span.kind === "parked" ? "parked" : "paused",
    word: span.ended === null ? "now" : "over",
    bar: { kind: "parked", from: begin, to: end },
    took: duration(end - begin),
    kids: 0,
    isExpanded: false,
    facts: [
      ["Reason", span.step],
      ["Means", meaningOf(span.step)],
    ],
    said: null,
  };
}

/** Null while one of them is still under way. */
function lastEnd(spans: readonly Span[]): string | null {
  let last = "";
  for (const { ended } of spans) {
    if (ended === null) return null;
    if (ended > last) last = ended;
  }
  return last === "" ? null : last;
}

const since = (from: string, to: string): number => Math.max(0, (parseIsoTime(to) ?? 0) - (parseIsoTime(from) ?? 0));
