// post-mortem: builds the post-mortem of a failed phase: cause, timeline, evidence, fixes, a rule.
//
// Invariant:
//   M1. It reports what the runner saw. An agent's text is in it only as what the agent said it changed.

import type { Entry } from "../contracts/event.ts";
import type { CheckResult } from "../contracts/evidence.ts";
import type { PostMortem } from "../contracts/roadmap-reports.ts";
import { attemptParts, phaseOfEntry, taskOfCursor } from "./places.ts";
import { preventionRule } from "./prevention.ts";
import { type ClaimRead, type Rejection, findRejections } from "./rejection.ts";
import { findRootCause } from "./root-cause.ts";

const timelineMax = 20;
const listMax = 50;
const textCharsMax = 200;

/** `at`: when it is made; `claimOf` reads agents' returns. Null if the phase has not failed. */
export function findPostMortem(
  entries: readonly Entry[],
  {
    phase,
    name,
    at,
    claimOf = () => undefined,
  }: { readonly phase: string; readonly name: string; readonly at: string; readonly claimOf?: ClaimRead },
): PostMortem | null {
  const root = findRootCause(entries, phase, claimOf);
  if (root === null) return null;
  const ownEntries = entries.filter((entry) => phaseOfEntry(entry) === phase);
  const rejections = new Map(findRejections(ownEntries, claimOf).map((rejection) => [rejection.seq, rejection]));
  const red = root.cause.endsWith("_rejected") ? [] : failingCommands(ownEntries); // a decision is its own reason
  return {
    phase_id: phase,
    phase_name: name,
    timestamp: at,
    status: "failed",
    root_cause: { category: root.category, description: root.description, first_observed_at: root.at, step: root.step },
    timeline: cut(
      ownEntries.flatMap((entry) => entryTimeline(entry, rejections.get(entry.seq))),
      root.at,
    ),
    evidence: {
      commands_run: [...new Set(ownEntries.flatMap(entryCommands))].slice(-listMax),
      files_checked: [...new Set(ownEntries.flatMap(entryFiles))].slice(-listMax),
    },
    attempted_fixes: fixesOf(ownEntries),
    prevention_rule: preventionRule(root, { name, red }),
  };
}

/** What was red last and failed a step by it: a step that passes over red commands only measured what is still to be done. */
function failingCommands(ownEntries: readonly Entry[]): readonly string[] {
  const red = new Set<string>();
  for (const entry of ownEntries)
    for (const { check, status } of entryChecks(entry)) {
      if (status === "passed") red.delete(check.command);
      else if (entry.event === "step_failed") red.add(check.command);
    }
  return [...red];
}

const entryChecks = (entry: Entry): readonly CheckResult[] =>
  entry.event === "step_completed" || entry.event === "step_failed" ? (entry.checks ?? []) : [];

type Moment = PostMortem["timeline"][number];

function entryTimeline(entry: Entry, rejection: Rejection | undefined): readonly Moment[] {
  const moment = (step: string, event: string, status: Moment["status"]): readonly Moment[] => [
    { timestamp: entry.ts, step, event: event.slice(0, textCharsMax), status },
  ];
  if (rejection !== undefined) return moment(rejection.step, `Rejected: ${rejection.words}`, "failure");
  switch (entry.event) {
    case "phase_started":
    case "phase_reopened":
      return moment("phase_runner", entry.event === "phase_started" ? "Phase started" : `Phase started again: ${entry.because}`, "success");
    case "task_completed":
    case "task_failed": {
      const isDone = entry.event === "task_completed";
      return moment(
        "execute",
        `Task ${taskOfCursor(entry.walk) ?? entry.walk} ${isDone ? "completed" : "failed"}`,
        isDone ? "success" : "failure",
      );
    }
    case "step_skipped":
      return taskOfCursor(entry.walk) === null ? moment(entry.step, `${entry.step} skipped`, "skipped") : [];
    case "step_completed":
    case "step_failed":
      return stepMoment(entry, moment);
    case "step_interrupted":
      return moment(
        attemptParts(entry.attempt)?.step ?? "",
        `interrupted: ${entry.by}${entry.detail === undefined ? "" : `, ${entry.detail}`}`,
        "failure",
      );
    case "block_answered":
      return moment("human_check", `${entry.actor} answered ${entry.answer}`, "success");
    case "route_taken":
      return entry.count === undefined ? [] : moment(entry.step, `back to ${entry.to} (${entry.count})`, "partial");
    case "phase_failed":
    case "closing_failed":
      return moment("phase_runner", `Phase failed: ${entry.because ?? entry.reason_code}`, "failure");
    default:
      return [];
  }
}

function stepMoment(
  entry: Extract<Entry, { event: "step_completed" | "step_failed" }>,
  moment: (step: string, event: string, status: Moment["status"]) => readonly Moment[],
): readonly Moment[] {
  const parts = attemptParts(entry.attempt);
  if (parts === null || taskOfCursor(parts.cursor) !== null) return []; // A task's steps are reported under the task.
  const red = entryChecks(entry).filter(({ status }) => status !== "passed").length;
  const nth = parts.ordinal === 1 ? "" : ` (attempt ${parts.ordinal})`;
  if (entry.event === "step_completed") return moment(parts.step, `${parts.step} passed${nth}`, "success");
  const why = red > 0 ? `${red} of ${entryChecks(entry).length} checks failed` : (entry.detail ?? entry.reason_code);
  return moment(parts.step, `${parts.step} failed${nth}: ${why}`, "failure");
}

/** The first moment, the one of the cause, and as many of the last as there is room for. */
function cut(moments: readonly Moment[], causeAt: string): Moment[] {
  if (moments.length <= timelineMax) return [...moments];
  const cause = moments.findIndex(({ timestamp, status }) => timestamp === causeAt && status === "failure");
  const tail = moments.length - (timelineMax - 2);
  return moments.filter((_, index) => index === 0 || index >= tail || (index === cause && cause < tail));
}

function entryCommands(entry: Entry): readonly string[] {
  return entryChecks(entry).map(({ check, status, exit_code }) => {
    const exit = exit_code === null ? "" : ` (exit ${exit_code})`;
    return `${check.command} -> ${status}${exit}${status === "passed" ? "" : " (FAIL)"}`.slice(0, textCharsMax);
  });
}

/** Places that agents named and the runner looked up. M1 */
function entryFiles(entry: Entry): readonly string[] {
  if (entry.event !== "claims_checked") return [];
  return entry.claims
    .filter(({ kind }) => kind === "file_line" || kind === "file_changed")
    .map(({ text, why, verdict }) => `${text} -- ${verdict}: ${why}`.slice(0, textCharsMax));
}

/** One per debug attempt: what it changed, and which checks it turned. */
function fixesOf(ownEntries: readonly Entry[]): PostMortem["attempted_fixes"] {
  const fixes: PostMortem["attempted_fixes"] = [];
  let red: ReadonlySet<string> = new Set();
  for (const [at, entry] of ownEntries.entries()) {
    if ((entry.event !== "step_completed" && entry.event !== "step_failed") || entryChecks(entry).length > 0) red = redAfter(red, entry);
    if (entry.event !== "step_completed" && entry.event !== "step_failed") continue;
    if (attemptParts(entry.attempt)?.step !== "debug") continue;
    const turn = ownEntries.find((other) => other.event === "turn_ended" && other.attempt === entry.attempt);
    const applied = ownEntries.findLast((other) => other.event === "changes_applied" && other.attempt === entry.attempt);
    const nextEntry = ownEntries.slice(at + 1).find((other) => entryChecks(other).length > 0);
    const after = nextEntry === undefined ? red : redAfter(red, nextEntry);
    const text = turn?.event === "turn_ended" ? changeSaid(turn.said) : "";
    const paths = applied?.event === "changes_applied" ? applied.paths : [];
    const seen = `Debug attempt ${fixes.length + 1}${paths.length === 0 ? ", which changed nothing" : `, which changed ${paths.join(", ")}`}`;
    fixes.push({
      attempt: fixes.length + 1,
      description: (text === "" ? seen : text).slice(0, textCharsMax),
      commit_sha: applied?.event === "changes_applied" ? applied.commit : null,
      resolved: [...red].filter((command) => !after.has(command)),
      remaining: [...after],
    });
  }
  return fixes;
}

/** The agent's list of changes if it returned one, else its text without parts meant for programs. M1 */
function changeSaid(text: string): string {
  const [message = "", block] = text.split(/```(?:json)?\s*\n(?=\s*\{)/, 2);
  const listed = block === undefined ? text : block.replace(/```[\s\S]*$/, "");
  return (changesIn(listed) || (block === undefined && text.trim().startsWith("{") ? "" : message)).replaceAll(/\s+/g, " ").trim();
}

function changesIn(text: string): string {
  try {
    const { changes } = JSON.parse(text) as { readonly changes?: unknown };
    return Array.isArray(changes) ? changes.filter((change) => typeof change === "string").join("; ") : "";
  } catch {
    return ""; // words, or a list that was cut off
  }
}

function redAfter(before: ReadonlySet<string>, entry: Entry): ReadonlySet<string> {
  const red = new Set(before);
  for (const { check, status } of entryChecks(entry)) {
    if (status === "passed") red.delete(check.command);
    else red.add(check.command);
  }
  return red;
}
