// run-index: collects what pages show of a run's history and its state does not keep: attempts and
// spending over time, questions and answers, counts by day. It grows entry by entry, so that a page
// that follows a run reads each line once.

import type { Entry } from "../../contracts/event.ts";
import type { Usage } from "../../contracts/budget.ts";
import { phaseOfPath } from "../../insight/attempt-path.ts";

/** One attempt of a step, or a time without work. */
export type Span = {
  readonly id: string;
  /** The path of its cursor, as the journal's `walk` has it. */
  readonly walk: string;
  readonly phase: string;
  readonly step: string;
  readonly kind: "agent" | "run" | "check" | "tasks" | "flow" | "human" | "parked" | "pause";
  readonly started: string;
  ended: string | null;
  outcome: "passed" | "failed" | "set aside" | null;
  reason: string | null;
  agent: string | null;
  tokens: number;
  usd: number;
  paths: number;
  said: string | null;
};

/** What was spent up to the end of a turn. */
export type SpendingPoint = {
  readonly at: string;
  readonly tokens: number;
  readonly usd: number;
  readonly minutes: number;
};

/** Usage by day, role, agent and source of the count. */
export type UsageRow = {
  readonly day: string;
  readonly role: string;
  readonly agent: string;
  readonly source: Usage["source"];
  tokens: number;
  usd: number;
};

export type DayCounts = {
  checks: number;
  claims: number;
  refuted: number;
  set_aside: number;
  openings: number;
};
export type AnswerRecord = {
  readonly at: string;
  readonly question: string;
  readonly answer: string;
  readonly actor: string;
};

export type RunIndex = {
  readonly spans: readonly Span[];
  readonly points: readonly SpendingPoint[];
  readonly usage: readonly UsageRow[];
  /** When each question was asked. */
  readonly asked: Readonly<Record<string, string>>;
  readonly answers: readonly AnswerRecord[];
  readonly days: Readonly<Record<string, DayCounts>>;
  readonly ended: string | null;
};

/** When there are more, every second one is dropped. */
const pointsMax = 2_000;
/** The newest. */
const answersMax = 50;
const saidCharsMax = 600;

/** The index while it grows, and what is needed to apply the next entry. */
type GrowingIndex = {
  readonly index: RunIndex & {
    readonly spans: Span[];
    readonly points: SpendingPoint[];
    readonly usage: UsageRow[];
    readonly asked: Record<string, string>;
    readonly answers: AnswerRecord[];
    readonly days: Record<string, DayCounts>;
    ended: string | null;
  };
  readonly openSpans: Map<string, Span>;
  readonly usageRows: Map<string, UsageRow>;
  readonly questions: Map<string, string>;
  /** The sums so far. */
  readonly spent: { tokens: number; usd: number; minutes: number };
  /** The role that works at each step. */
  roles: ReadonlyMap<string, string>;
  pause: Span | null;
};

export function openRunIndex(): {
  readonly index: RunIndex;
  readonly apply: (entry: Entry) => void;
} {
  const growing: GrowingIndex = {
    index: { spans: [], points: [], usage: [], asked: {}, answers: [], days: {}, ended: null },
    openSpans: new Map(),
    usageRows: new Map(),
    questions: new Map(),
    spent: { tokens: 0, usd: 0, minutes: 0 },
    roles: new Map(),
    pause: null,
  };

  return {
    index: growing.index,
    apply: (entry) => {
      applyToRun(growing, entry);
      applyToStep(growing, entry);
    },
  };
}

/** Events of the run itself: its start and end, pauses and questions. */
function applyToRun(growing: GrowingIndex, entry: Entry): void {
  const { index, questions } = growing;
  switch (entry.event) {
    case "run_drafted":
      growing.roles = findRoles(entry.flow);
      return;
    case "run_forked": // the lines before this one were copied from another run, which counts them; their usage is zero already
      for (const day of Object.keys(index.days)) delete index.days[day];
      index.answers.splice(0);
      return;
    case "run_opened":
      countsOfDay(growing, entry).openings++;
      return;
    case "block_opened":
      index.asked[entry.block] = entry.ts;
      questions.set(entry.block, entry.question);
      beginSpan(growing, {
        id: entry.block,
        walk: entry.walk,
        step: entry.step,
        kind: "human",
        started: entry.ts,
      });
      return;
    case "block_answered":
      index.answers.push({
        at: entry.ts,
        question: questions.get(entry.block) ?? entry.block,
        answer: entry.answer,
        actor: entry.actor,
      });
      if (index.answers.length > answersMax) index.answers.shift();
      endSpan(growing, entry.block, {
        ended: entry.ts,
        outcome: "passed",
        reason: entry.reason_code,
      });
      return;
    case "run_paused": {
      const kind = entry.reason_code.startsWith("provider") ? "parked" : "pause";
      growing.pause ??= beginSpan(growing, {
        id: `pause:${entry.seq}`,
        walk: "",
        step: entry.reason_code,
        kind,
        started: entry.ts,
      });

      return;
    }
    case "run_resumed":
      endPause(growing, entry.ts);
      return;
    case "run_completed":
    case "run_stopped":
      endPause(growing, entry.ts);
      index.ended = entry.ts;
      return;
    default:
  }
}

/** Events of a step's attempt. */
function applyToStep(growing: GrowingIndex, entry: Entry): void {
  switch (entry.event) {
    case "step_started":
      beginSpan(growing, {
        id: entry.attempt,
        walk: entry.walk,
        step: entry.step,
        kind: entry.kind,
        started: entry.ts,
      });
      return;
    case "turn_ended": {
      const span = growing.openSpans.get(entry.attempt);
      if (span !== undefined) {
        span.agent = entry.agent;
        span.said = entry.said.slice(0, saidCharsMax);
      }

      charge(growing, entry, entry.agent);
      return;
    }
    case "changes_applied": {
      const span = growing.openSpans.get(entry.attempt);
      if (span !== undefined) span.paths += entry.paths.length;
      return;
    }
    case "step_completed":
    case "step_failed": {
      charge(growing, entry, "a child run"); // only a step that ran another flow has usage here
      countsOfDay(growing, entry).checks += (entry.checks ?? []).filter(
        ({ cached }) => cached !== true,
      ).length;

      const outcome = entry.event === "step_completed" ? "passed" : "failed";
      endSpan(growing, entry.attempt, { ended: entry.ts, outcome, reason: entry.reason_code });
      return;
    }
    case "step_interrupted":
      charge(growing, entry, growing.openSpans.get(entry.attempt)?.agent ?? "interrupted");
      if (entry.by === "scope" || entry.by === "secret") countsOfDay(growing, entry).set_aside++;
      endSpan(growing, entry.attempt, {
        ended: entry.ts,
        outcome: "set aside",
        reason: entry.reason_code,
      });
      return;
    case "claims_checked":
      countsOfDay(growing, entry).claims += entry.claims.length;
      countsOfDay(growing, entry).refuted += entry.claims.filter(
        ({ verdict }) => verdict === "false",
      ).length;
      return;
    default:
  }
}

const toDay = ({ ts }: Entry): string => ts.slice(0, 10);
const countsOfDay = ({ index }: GrowingIndex, entry: Entry): DayCounts =>
  (index.days[toDay(entry)] ??= { checks: 0, claims: 0, refuted: 0, set_aside: 0, openings: 0 });

function beginSpan(
  { index, openSpans }: GrowingIndex,
  start: Pick<Span, "id" | "walk" | "step" | "kind" | "started">,
): Span {
  const span: Span = {
    ...start,
    phase: phaseOfPath(start.walk),
    ended: null,
    outcome: null,
    reason: null,
    agent: null,
    tokens: 0,
    usd: 0,
    paths: 0,
    said: null,
  };
  index.spans.push(span);
  openSpans.set(span.id, span);

  return span;
}

function endSpan(
  { openSpans }: GrowingIndex,
  id: string,
  end: Pick<Span, "ended" | "outcome" | "reason">,
): void {
  const span = openSpans.get(id);
  if (span === undefined) return;
  openSpans.delete(id);
  Object.assign(span, end);
}

function endPause(growing: GrowingIndex, at: string): void {
  if (growing.pause !== null) {
    endSpan(growing, growing.pause.id, { ended: at, outcome: null, reason: "resumed" });
  }

  growing.pause = null;
}

/** Adds an entry's usage to the sums, its attempt, the curve and the day's row. */
function charge(
  { index, openSpans, usageRows, spent, roles }: GrowingIndex,
  entry: Entry & { readonly attempt: string; readonly usage?: Usage | undefined },
  agent: string,
): void {
  const { usage, attempt } = entry;
  if (usage === undefined) return;
  const usd = usage.usd ?? 0;
  spent.tokens += usage.tokens;
  spent.usd += usd;
  spent.minutes += usage.minutes;
  const span = openSpans.get(attempt);
  if (span !== undefined) {
    span.tokens += usage.tokens;
    span.usd += usd;
  }

  if (index.points.length >= pointsMax) dropEverySecond(index.points);
  index.points.push({ at: entry.ts, ...spent });
  const role = roles.get(span?.step ?? "") ?? "other";
  const key = `${toDay(entry)}\0${role}\0${agent}\0${usage.source}`;
  let row = usageRows.get(key);
  if (row === undefined) {
    row = { day: toDay(entry), role, agent, source: usage.source, tokens: 0, usd: 0 };
    usageRows.set(key, row);
    index.usage.push(row);
  }

  row.tokens += usage.tokens;
  row.usd += usd;
}

/** Halves the number of points; a very long run keeps the shape of its curve. */
function dropEverySecond(points: SpendingPoint[]): void {
  const everySecond = points.filter((_, index) => index % 2 === 0);
  points.splice(0, points.length, ...everySecond);
}

/** Which role works at which step, anywhere in a flow. */
function findRoles(flow: unknown): ReadonlyMap<string, string> {
  const roleByStep = new Map<string, string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null) return;
    const { id, agent } = value as { readonly id?: unknown; readonly agent?: unknown };
    if (typeof id === "string" && typeof agent === "string") roleByStep.set(id, agent);
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(flow);

  return roleByStep;
}
