// waterfall: lays out what a run did over time: phases, their steps, the tasks in them, and idle
// times.

import { ownValue } from "../../core/own-values.ts";
import type { RunView } from "../../core/state.ts";
import { parseAttempt, taskOfCursor } from "../../insight/attempt-path.ts";
import { parseIsoTime } from "../../kit/iso-time.ts";
import { listPhaseRows, type PhaseRow } from "../phase-rows.ts";
import { formatAmount, formatDuration, formatNumber, formatMoney, plural } from "../wording.ts";
import { groupBy } from "./group-by.ts";
import type { RunIndex, Span } from "./run-index.ts";
import { describeReasonCode } from "./run-card.ts";
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

/** `from`: when the run began. `nowMs`: how long ago that is, or -1 if the run is over. */
export type Waterfall = {
  readonly startsAt: string;
  readonly spanMs: number;
  readonly nowMs: number;
  readonly rows: readonly WaterfallRow[];
};

/** The newest are shown. */
const rowsPerPhaseMax = 200;
const pausesMax = 50;
/** A run with no more phases than this shows all their steps. */
const fewPhases = 3;

type WaterfallOptions = {
  readonly now: string;
  /**
   * Phases whose steps are listed; without it, those that are at work or failed, or all of a run
   * with few.
   */
  readonly expanded?: ReadonlySet<string> | undefined;
  /** The steps of every phase are listed. */
  readonly isAll?: boolean;
};

export function buildWaterfall(
  view: RunView,
  index: RunIndex,
  options: WaterfallOptions,
): Waterfall {
  const from = index.spans[0]?.started ?? view.startedAt ?? view.updatedAt;
  const isOver = view.status === "completed" || view.status === "stopped";
  const nowMs = Math.max(
    0,
    msBetween(from, isOver ? (index.ended ?? view.updatedAt) : options.now),
  );

  const byPhase = groupBy(index.spans, ({ phase }) => phase);
  const phaseRowsById = new Map(listPhaseRows(view).map((row) => [row.id, row]));
  const hasFewPhases = view.phases.length <= fewPhases;

  const rows = view.phases.flatMap((phase): readonly WaterfallRow[] => {
    const spans = byPhase.get(phase.id) ?? [];
    const isExpandedByDefault =
      hasFewPhases || phase.status === "open" || phase.status === "failed";
    const isExpanded =
      options.isAll === true || (options.expanded?.has(phase.id) ?? isExpandedByDefault);

    const head = phaseHead(view, {
      phase,
      row: phaseRowsById.get(phase.id),
      spans,
      isExpanded,
      startsAt: from,
      nowMs,
    });
    return isExpanded
      ? [head, ...spans.slice(-rowsPerPhaseMax).map((span) => spanRow(span, from, nowMs))]
      : [head];
  });

  const pauses = (byPhase.get("") ?? [])
    .slice(-pausesMax)
    .map((span) => pauseRow(span, from, nowMs));

  return {
    startsAt: from,
    spanMs: Math.max(1, nowMs),
    nowMs: isOver ? -1 : nowMs,
    rows: [...rows, ...pauses],
  };
}

type PhaseHeadInput = {
  readonly phase: RunView["phases"][number];
  /** Undefined for what a flow does before and after its phases. */
  readonly row: PhaseRow | undefined;
  readonly spans: readonly Span[];
  readonly isExpanded: boolean;
  readonly startsAt: string;
  readonly nowMs: number;
};

/** The row of a phase itself; the rows of its steps follow it. */
function phaseHead(
  view: RunView,
  { phase, row, spans, isExpanded, startsAt: from, nowMs }: PhaseHeadInput,
): WaterfallRow {
  const spent = ownValue(view.ledger.phase, phase.id);
  const isIdle = phase.status === "open" && view.status !== "running";
  const ownStatus = isIdle ? "idle" : phase.status;
  const status = row?.status === "needs_human_verification" ? "asks" : ownStatus;
  const [firstStart, last] = [spans[0]?.started, lastEnd(spans)];
  const startMs = firstStart === undefined ? null : msBetween(from, firstStart);
  const endMs = last === null ? nowMs : msBetween(from, last);

  return {
    id: phase.id,
    depth: 0,
    name: phaseTitle(phase),
    ...(phaseLabels[status] ?? notBegun),
    ...(row !== undefined && row.waits_for.length > 0
      ? { word: `waits for ${row.waits_for.join(", ")}` }
      : {}),
    bar: startMs === null ? null : { kind: "phase", from: startMs, to: endMs },
    took: startMs === null ? "–" : formatDuration(endMs - startMs),
    kids: spans.length,
    isExpanded: isExpanded && spans.length > 0,
    facts: [
      ["Tokens", formatNumber(spent?.tokens ?? 0)],
      ["Money", formatMoney(spent?.usd ?? 0)],
      ...(row === undefined || row.score === null
        ? []
        : [["Score", formatNumber(row.score)] as const]),
      ...(phase.because === null ? [] : [["Why", phase.because.replaceAll("_", " ")] as const]),
    ],
    said: null,
  };
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

function phaseTitle({ id, name, group }: RunView["phases"][number]): string {
  const short = id.replace(/^(before|after)\./, "");
  const longTitle = group === "phases" ? `${short}  ${name}` : name;
  const title = name === "" || name === short ? short : longTitle;
  if (group === "before") return `Before: ${title}`;

  return group === "after" ? `After: ${title}` : title;
}

function spanRow(span: Span, from: string, nowMs: number): WaterfallRow {
  const parts = parseAttempt(span.id);
  const task = taskOfCursor(span.walk);
  const begin = msBetween(from, span.started);
  const end = span.ended === null ? nowMs : msBetween(from, span.ended);
  const ordinal = parts === null || parts.ordinal === 1 ? "" : ` #${parts.ordinal}`;

  return {
    id: span.id,
    depth: task === null ? 1 : 2,
    name: task === null ? `${span.step}${ordinal}` : `${task}  ${span.step}${ordinal}`,
    ...spanLabel(span),
    bar: { kind: spanBar(span), from: begin, to: end },
    took: formatDuration(end - begin),
    kids: 0,
    isExpanded: false,
    facts: [
      ["Attempt", span.id],
      ["By", span.agent ?? describeActor(span.kind)],
      ...(span.tokens === 0 ? [] : [["Spent", describeSpending(span)] as const]),
      ...(span.paths === 0 ? [] : [["Changed", plural(span.paths, "path")] as const]),
      ...(span.reason === null || span.reason === "ok"
        ? []
        : [["Reason", span.reason] as const, ["Means", describeReasonCode(span.reason)] as const]),
    ],
    said: span.said,
  };
}

function describeActor(kind: Span["kind"]): string {
  if (kind === "human") return "a person";
  return kind === "agent" ? "an agent" : "the runner";
}

const describeSpending = ({ tokens, usd }: Span): string =>
  usd === 0
    ? formatAmount("tokens", tokens)
    : `${formatAmount("tokens", tokens)}, ${formatMoney(usd)}`;

function spanLabel({ outcome, kind }: Span): { readonly shape: Shape; readonly word: string } {
  if (outcome === "passed") return { shape: "ok", word: kind === "human" ? "answered" : "passed" };
  if (outcome === "failed") return { shape: "bad", word: "failed" };
  if (outcome === "set aside") return { shape: "again", word: "set aside" };

  return kind === "human"
    ? { shape: "you", word: "waits for you" }
    : { shape: "run", word: "at work" };
}

function spanBar({ kind, outcome, ended }: Span): BarKind {
  if (kind === "human") return "you";
  if (outcome === "failed" || outcome === "set aside") return "bad";
  if (ended === null) return "open";

  return kind === "agent" ? "agent" : "runner";
}

function pauseRow(span: Span, from: string, nowMs: number): WaterfallRow {
  const begin = msBetween(from, span.started);
  const end = span.ended === null ? nowMs : msBetween(from, span.ended);
  return {
    id: span.id,
    depth: 0,
    name: span.kind === "parked" ? "Parked, provider limit" : "Paused",
    shape: span.kind === "parked" ? "parked" : "paused",
    word: span.ended === null ? "now" : "over",
    bar: { kind: "parked", from: begin, to: end },
    took: formatDuration(end - begin),
    kids: 0,
    isExpanded: false,
    facts: [
      ["Reason", span.step],
      ["Means", describeReasonCode(span.step)],
    ],
    said: null,
  };
}

/** Null while one of them is still under way. */
function lastEnd(spans: readonly Span[]): string | null {
  let latestEnd = "";
  for (const { ended } of spans) {
    if (ended === null) return null;
    if (ended > latestEnd) latestEnd = ended;
  }

  return latestEnd === "" ? null : latestEnd;
}

const msBetween = (from: string, to: string): number =>
  Math.max(0, (parseIsoTime(to) ?? 0) - (parseIsoTime(from) ?? 0));
