// run-index: what pages show of a run's history and its state does not keep: attempts in time, spending in time, questions and answers,
// what was looked up on which day. Grows entry by entry, so that a page that follows a run reads each line once.

import type { Entry, EventOf } from "../../contracts/event.ts";
import type { Usage } from "../../contracts/budget.ts";
import { phaseOfPath } from "../../insight/places.ts";

/** One attempt of a step, or a time without work. */
export type Span = {
  readonly id: string;
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

/** Where spending stood after a turn. */
export type SpendingPoint = { readonly at: string; readonly tokens: number; readonly usd: number; readonly minutes: number };

/** Usage by day, role, agent and source of the count. */
export type UsageRow = {
  readonly day: string;
  readonly role: string;
  readonly agent: string;
  readonly source: Usage["source"];
  tokens: number;
  usd: number;
};

export type DayCounts = { checks: number; claims: number; refuted: number; set_aside: number; openings: number };
export type AnswerGiven = { readonly at: string; readonly question: string; readonly answer: string; readonly actor: string };

export type RunIndex = {
  readonly spans: readonly Span[];
  readonly points: readonly SpendingPoint[];
  readonly usage: readonly UsageRow[];
  /** When each question was asked. */
  readonly asked: Readonly<Record<string, string>>;
  readonly answers: readonly AnswerGiven[];
  readonly days: Readonly<Record<string, DayCounts>>;
  readonly ended: string | null;
};

const pointsMax = 2_000;
const answersMax = 50;
const saidCharsMax = 600;

export function openRunIndex(): { readonly index: RunIndex; readonly apply: (entry: Entry) => void } {
  const spans: Span[] = [];
  const open = new Map<string, Span>();
  const points: SpendingPoint[] = [];
  const usage = new Map<string, UsageRow>();
  const rows: UsageRow[] = [];
  const asked: Record<string, string> = {};
  const questions = new Map<string, string>();
  const answers: AnswerGiven[] = [];
  const days: Record<string, DayCounts> = {};
  const sum = { tokens: 0, usd: 0, minutes: 0 };
  const index = { spans, points, usage: rows, asked, answers, days, ended: null as string | null };
  let roles: ReadonlyMap<string, string> = new Map();
  let stopped: Span | null = null;

  const day = (entry: Entry): DayCounts =>
    (days[entry.ts.slice(0, 10)] ??= { checks: 0, claims: 0, refuted: 0, set_aside: 0, openings: 0 });
  const begin = (span: Pick<Span, "id" | "walk" | "step" | "kind" | "started">): Span => {
    const newSpan: Span = {
      ...span,
      phase: phaseOfPath(span.walk),
      ended: null,
      outcome: null,
      reason: null,
      agent: null,
      tokens: 0,
      usd: 0,
      paths: 0,
      said: null,
    };
    spans.push(newSpan);
    open.set(newSpan.id, newSpan);
    return newSpan;
  };
  const end = (id: string, at: string, outcome: Span["outcome"], reason: string): void => {
    const span = open.get(id);
    if (span === undefined) return;
    open.delete(id);
    span.ended = at;
    span.outcome = outcome;
    span.reason = reason;
  };
  const charge = (entry: Entry & { readonly attempt: string }, used: Usage | undefined, agent: string): void => {
    if (used === undefined) return;
    sum.tokens += used.tokens;
    sum.usd += used.usd ?? 0;
    sum.minutes += used.minutes;
    const span = open.get(entry.attempt);
    if (span !== undefined) {
      span.tokens += used.tokens;
      span.usd += used.usd ?? 0;
    }
    if (points.length >= pointsMax) thin(points);
    points.push({ at: entry.ts, ...sum });
    const role = roles.get(span?.step ?? "") ?? "other";
    const key = `${entry.ts.slice(0, 10)}\0${role}\0${agent}\0${used.source}`;
    let row = usage.get(key);
    if (row === undefined) {
      row = { day: entry.ts.slice(0, 10), role, agent, source: used.source, tokens: 0, usd: 0 };
      usage.set(key, row);
      rows.push(row);
    }
    row.tokens += used.tokens;
    row.usd += used.usd ?? 0;
  };
  const turned = (entry: EventOf<"turn_ended"> & Entry): void => {
    const span = open.get(entry.attempt);
    if (span !== undefined) {
      span.agent = entry.agent;
      span.said = entry.said.slice(0, saidCharsMax);
    }
    charge(entry, entry.usage, entry.agent);
  };
  const goOn = (at: string): void => {
    if (stopped !== null) end(stopped.id, at, null, "resumed");
    stopped = null;
  };

  const apply = (entry: Entry): void => {
    switch (entry.event) {
      case "run_drafted":
        roles = findRoles(entry.flow);
        break;
      case "run_forked": // what was taken over is counted where it happened
        for (const name of Object.keys(days)) delete days[name];
        break;
      case "run_opened":
        day(entry).openings++;
        break;
      case "step_started":
        begin({ id: entry.attempt, walk: entry.walk, step: entry.step, kind: entry.kind, started: entry.ts });
        break;
      case "turn_ended":
        turned(entry);
        break;
      case "changes_applied": {
        const span = open.get(entry.attempt);
        if (span !== undefined) span.paths += entry.paths.length;
        break;
      }
      case "step_completed":
      case "step_failed":
        charge(entry, entry.usage, "a child run");
        day(entry).checks += (entry.checks ?? []).filter(({ cached }) => cached !== true).length;
        end(entry.attempt, entry.ts, entry.event === "step_completed" ? "passed" : "failed", entry.reason_code);
        break;
      case "step_interrupted":
        charge(entry, entry.usage, open.get(entry.attempt)?.agent ?? "interrupted");
        if (entry.by === "scope" || entry.by === "secret") day(entry).set_aside++;
        end(entry.attempt, entry.ts, "set aside", entry.reason_code);
        break;
      case "claims_checked":
        day(entry).claims += entry.claims.length;
        day(entry).refuted += entry.claims.filter(({ verdict }) => verdict === "false").length;
        break;
      case "block_opened":
        asked[entry.block] = entry.ts;
        questions.set(entry.block, entry.question);
        begin({ id: entry.block, walk: entry.walk, step: entry.step, kind: "human", started: entry.ts });
        break;
      case "block_answered":
        answers.push({ at: entry.ts, question: questions.get(entry.block) ?? entry.block, answer: entry.answer, actor: entry.actor });
        if (answers.length > answersMax) answers.shift();
        end(entry.block, entry.ts, "passed", entry.reason_code);
        break;
      case "run_paused": {
        const kind = entry.reason_code.startsWith("provider") ? "parked" : "pause";
        stopped ??= begin({ id: `pause:${entry.seq}`, walk: "", step: entry.reason_code, kind, started: entry.ts });
        break;
      }
      case "run_resumed":
        goOn(entry.ts);
        break;
      case "run_completed":
      case "run_stopped":
        goOn(entry.ts);
        index.ended = entry.ts;
        break;
      default:
    }
  };
  return { index, apply };
}

/** Every second point is dropped, so that a very long run keeps the shape of its curve. */
function thin(points: SpendingPoint[]): void {
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
