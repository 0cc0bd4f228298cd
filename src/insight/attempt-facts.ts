// attempt-facts: collects what the journal says of one attempt of a step, with the checks right
// after it, and compares two attempts.

import type { Entry, EventOf } from "../contracts/event.ts";

export type AttemptFacts = {
  readonly outcome: "passed" | "failed" | "interrupted" | "unfinished";
  readonly reason: string | null;
  readonly detail: string | null;
  readonly agent: string | null;
  readonly said: string | null;
  readonly tokens: number;
  readonly calls: number;
  readonly minutes: number;
  readonly usd: number;
  readonly paths: readonly string[];
  /** The tree it left; null if it changed nothing. */
  readonly tree: string | null;
  readonly checks: readonly { readonly command: string; readonly status: string }[];
};

/**
 * `entries`: from the one on that began the attempt. Other attempts may have worked at the same
 * time; only lines of this cursor count.
 */
export function buildAttemptFacts(entries: readonly Entry[], attempt: string): AttemptFacts {
  const cursor = parseCursor(attempt);
  const facts = { tokens: 0, calls: 0, minutes: 0, usd: 0 };
  const checks = new Map<string, string>();
  let turn: EventOf<"turn_ended"> | null = null;
  let changesApplied: EventOf<"changes_applied"> | null = null;
  let outcome: Pick<AttemptFacts, "outcome" | "reason" | "detail"> | null = null;
  let checkAttempt: string | null = null;

  for (const entry of entries) {
    if (outcome !== null) {
      // Checks that judge the work come right after it: the first step of the cursor that is no
      // check ends the search.
      if (entry.event === "step_started" && entry.walk === cursor) {
        if (entry.kind !== "check") break;
        checkAttempt = entry.attempt;
      }

      if (checkAttempt !== null && isOutcome(entry) && entry.attempt === checkAttempt) {
        addChecks(entry.checks);
      }

      continue;
    }

    if (!("attempt" in entry) || entry.attempt !== attempt) continue;
    if ("usage" in entry && entry.usage !== undefined) {
      facts.tokens += entry.usage.tokens;
      facts.calls += entry.usage.calls;
      facts.minutes += entry.usage.minutes;
      facts.usd += entry.usage.usd ?? 0;
    }

    if (entry.event === "turn_ended") turn = entry;
    if (entry.event === "changes_applied") changesApplied = entry;
    if (isOutcome(entry)) {
      addChecks(entry.checks);
      outcome = {
        outcome: entry.event === "step_completed" ? "passed" : "failed",
        reason: entry.reason_code,
        detail: entry.detail ?? null,
      };
    }

    if (entry.event === "step_interrupted") {
      outcome = { outcome: "interrupted", reason: entry.reason_code, detail: entry.detail ?? null };
    }
  }

  return {
    ...(outcome ?? { outcome: "unfinished", reason: null, detail: null }),
    ...facts,
    agent: turn?.agent ?? null,
    said: turn?.said ?? null,
    paths: changesApplied?.paths ?? [],
    tree: changesApplied?.tree ?? null,
    checks: [...checks].map(([command, status]) => ({ command, status })),
  };

  function addChecks(results: EventOf<"step_completed">["checks"]): void {
    for (const { check, status } of results ?? []) checks.set(check.command, status);
  }
}

const isOutcome = (
  entry: Entry,
): entry is Extract<Entry, { event: "step_completed" | "step_failed" }> =>
  entry.event === "step_completed" || entry.event === "step_failed";

/** `1@2/execute#3` belongs to the cursor `1`; a task's to `1@2/tasks#1/03-01`. */
const parseCursor = (attempt: string): string => attempt.slice(0, attempt.lastIndexOf("@"));

/**
 * Whether the second attempt is better, worse or the same as far as proof goes; `none` if neither
 * was judged by a check. A step that didn't pass proves less than one that did; between two of a
 * kind the checks decide, if both were judged by the same ones. `unclear` if they were not, or if
 * each passes what the other fails.
 */
export function compareProof(
  before: AttemptFacts,
  after: AttemptFacts,
): "better" | "worse" | "same" | "none" | "unclear" {
  const [passedBefore, passedAfter] = [before.outcome === "passed", after.outcome === "passed"];
  if (passedBefore !== passedAfter) return passedAfter ? "better" : "worse";
  if (before.checks.length === 0 && after.checks.length === 0) return "none";
  const passesByCommand = ({ checks }: AttemptFacts) =>
    new Map(checks.map(({ command, status }) => [command, status === "passed"]));
  const [passesBefore, passesAfter] = [passesByCommand(before), passesByCommand(after)];
  if (
    passesBefore.size !== passesAfter.size ||
    [...passesBefore.keys()].some((command) => !passesAfter.has(command))
  ) {
    return "unclear";
  }

  const hasGained = [...passesAfter].some(
    ([command, isPassing]) => isPassing && passesBefore.get(command) === false,
  );

  const hasLost = [...passesAfter].some(
    ([command, isPassing]) => !isPassing && passesBefore.get(command) === true,
  );
  if (hasGained && hasLost) return "unclear";
  if (hasGained) return "better";

  return hasLost ? "worse" : "same";
}
