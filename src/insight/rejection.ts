// rejection: finds the decisions that sent a phase's work back or ended it although no step failed:
// the verifier's, the judge's, a person's.
//
// Invariants:
//   R1. Whether a decision is a rejection follows from its consequence, not its text: the route
//       leads back, or the phase is reverted.
//   R2. A rejection holds until the same step decides otherwise.
//   R3. Its text is quoted under the name of the judge.

import type { Entry } from "../contracts/event.ts";
import { parseAttempt } from "./attempt-path.ts";

export type RejectedBy = "verifier" | "judge" | "person";
export type PhaseRejection = {
  readonly rejectedBy: RejectedBy;
  readonly step: string;
  /** When it was decided. */
  readonly decidedAt: string;
  /** The entry that holds the decision. */
  readonly seq: number;
  /** Who decided what and why, in the middle of a sentence. */
  readonly message: string;
};
/** An agent's return, by its blob; undefined if it cannot be read. */
export type ReadClaim = (hash: string) => unknown;

/** The rejection that holds, and the first of its step since that last decided otherwise. */
type OpenRejection = { readonly last: PhaseRejection; readonly first: PhaseRejection };

const deciders: Readonly<Record<string, RejectedBy>> = {
  verify: "verifier",
  judge: "judge",
  human_check: "person",
};
/** The steps to which rejected work is sent: back, or to be reverted (R1). */
const rejectionTargets: ReadonlySet<string> = new Set(["debug", "research", "undo"]);
const messageCharsMax = 400;

/** In the order of the journal. `ownEntries`: the entries of one visit of the phase. */
export function findRejections(
  ownEntries: readonly Entry[],
  readClaim: ReadClaim,
): readonly PhaseRejection[] {
  return ownEntries.flatMap((entry, index) => {
    if (entry.event !== "route_taken" || !rejectionTargets.has(entry.to)) return [];

    const { step } = entry;
    const rejectedBy = Object.hasOwn(deciders, step) ? deciders[step] : undefined;
    if (rejectedBy === undefined) return [];

    const decision = ownEntries.slice(0, index).findLast((other) => isDecisionOf(other, step));
    if (decision === undefined) return [];

    const message =
      rejectedBy === "person"
        ? describePersonFeedback(decision)
        : describeAgentFeedback(decision, ownEntries, readClaim);
    if (message === null) return [];
    return [
      { rejectedBy, step, decidedAt: decision.ts, seq: decision.seq, message: truncate(message) },
    ];
  });
}

/**
 * The rejections that still hold, each with the first of its step since it last decided otherwise
 * (R2).
 */
export function listOpenRejections(
  ownEntries: readonly Entry[],
  rejections: readonly PhaseRejection[],
): readonly OpenRejection[] {
  const open = new Map<string, OpenRejection>();

  for (const entry of ownEntries) {
    const step = Object.keys(deciders).find((name) => isDecisionOf(entry, name));
    if (step === undefined) continue;

    const last = rejections.find(({ seq }) => seq === entry.seq);
    if (last === undefined) open.delete(step);
    else open.set(step, { last, first: open.get(step)?.first ?? last });
  }

  return [...open.values()].toSorted((a, b) => a.first.seq - b.first.seq);
}

/**
 * Verifier and judge decide by ending their step, a person by answering. A step that failed decided
 * nothing.
 */
function isDecisionOf(entry: Entry, step: string): boolean {
  if (entry.event === "step_completed") return parseAttempt(entry.attempt)?.step === step;
  return entry.event === "block_answered" && new RegExp(`/${step}#\\d+$`).test(entry.block);
}

function describePersonFeedback(decision: Entry): string | null {
  if (decision.event !== "block_answered") return null; // a person's step has no words of its own
  const issues = (decision.issues ?? []).filter((issue) => issue.trim() !== "");
  const text = issues.length === 0 ? "without naming an issue" : quote(issues);

  return `a person (${decision.actor}) answered ${decision.answer}: ${text}`;
}

function describeAgentFeedback(
  decision: Entry,
  ownEntries: readonly Entry[],
  readClaim: ReadClaim,
): string | null {
  if (decision.event !== "step_completed") return null;

  const turn = findTurn(ownEntries, decision.attempt);
  if (turn === null) return null;

  const claim = readTurnClaim(turn, readClaim);
  if (parseAttempt(decision.attempt)?.step === "verify") {
    return withReasons("the verifier did not pass it", listTexts(claim, "failures"));
  }

  const score = describeField(turn, claim, "alignment_score");
  const recommendation = describeField(turn, claim, "recommendation");
  const missing = listTexts(claim, "missing_requirements").map((text) => `missing: ${text}`);
  const head = `the judge gave it ${score} of 10 and recommended ${recommendation}`;
  return withReasons(head, [...listTexts(claim, "concerns"), ...missing]);
}

type EndedTurn = Extract<Entry, { readonly event: "turn_ended" }>;

/** The last turn of an attempt; null if it had none. */
function findTurn(ownEntries: readonly Entry[], attempt: string): EndedTurn | null {
  const turn = ownEntries.findLast(
    (entry) => entry.event === "turn_ended" && entry.attempt === attempt,
  );
  return turn?.event === "turn_ended" ? turn : null;
}

const readTurnClaim = ({ claim }: EndedTurn, readClaim: ReadClaim): unknown =>
  claim === undefined ? undefined : readClaim(claim);

/** What the agent said of a field, in its text or in what it returned; `?` if nothing. */
function describeField({ says }: EndedTurn, claim: unknown, name: string): string {
  const value = says[name] ?? getField(claim, name);
  return typeof value === "string" || typeof value === "number" ? String(value) : "?";
}

const withReasons = (head: string, reasons: readonly string[]): string =>
  reasons.length === 0 ? head : `${head}: ${quote(reasons)}`;
const quote = (texts: readonly string[]): string =>
  `“${texts.map((text) => text.replaceAll(/\s+/g, " ").trim()).join("; ")}”`; // R3

const getField = (claim: unknown, name: string): unknown =>
  typeof claim === "object" && claim !== null && Object.hasOwn(claim, name)
    ? (claim as Readonly<Record<string, unknown>>)[name]
    : undefined;

function listTexts(claim: unknown, name: string): readonly string[] {
  const list = getField(claim, name);
  return Array.isArray(list)
    ? list.filter((text): text is string => typeof text === "string" && text.trim() !== "")
    : [];
}

/** A long message ends in a quotation, which is closed again. */
const truncate = (message: string): string =>
  message.length <= messageCharsMax ? message : `${message.slice(0, messageCharsMax - 2)}…”`;

/** The first category the verifier named for what it found; null if it named none. */
export function findNamedCategory(
  { seq }: PhaseRejection,
  ownEntries: readonly Entry[],
  readClaim: ReadClaim,
): string | null {
  const decision = ownEntries.find((entry) => entry.seq === seq);
  if (decision?.event !== "step_completed") return null;

  const turn = findTurn(ownEntries, decision.attempt);
  const claim = turn === null ? undefined : readTurnClaim(turn, readClaim);
  const [first] = [getField(claim, "failure_categories")].flat();
  const category = typeof first === "string" ? first : getField(first, "category");
  return typeof category === "string" ? category : null;
}
