// post-mortem: builds the post-mortem of a failed phase: cause, timeline, evidence, fixes, a rule.
//
// Invariant:
//   M1. It reports what the runner saw. An agent's text is quoted only for what it said it changed,
//       for files it named, with what the runner found there, and for why a verifier or judge
//       rejected the work, under the judge's name (rejection.ts).

import type { Entry } from "../contracts/event.ts";
import type { CheckResult } from "../contracts/evidence.ts";
import type { PostMortem } from "../contracts/roadmap-reports.ts";
import { parseAttempt, phaseOfEntry, taskOfCursor } from "./attempt-path.ts";
import { writePreventionRule } from "./prevention.ts";
import { type ReadClaim, type PhaseRejection, findRejections } from "./rejection.ts";
import { findRootCause } from "./root-cause.ts";

const timelineMax = 20;
const listMax = 50;
const textCharsMax = 200;

/**
 * `at`: when it is built. `claimOf`: reads what an agent returned. Null if the phase has not
 * failed.
 */
export function buildPostMortem(
  entries: readonly Entry[],
  { phase, name, at, claimOf = () => undefined }: PostMortemRequest,
): PostMortem | null {
  const root = findRootCause(entries, phase, claimOf);
  if (root === null) return null;

  const phaseEntries = entries.filter((entry) => phaseOfEntry(entry) === phase);
  const moments = listMoments(phaseEntries, claimOf);
  const commands = new Set(phaseEntries.flatMap(listCommands));
  const files = new Set(phaseEntries.flatMap(listFiles));
  const isRejected = root.cause.endsWith("_rejected"); // a decision is its own reason
  const failing = isRejected ? [] : listFailingCommands(phaseEntries);

  return {
    phase_id: phase,
    phase_name: name,
    timestamp: at,
    status: "failed",
    root_cause: {
      category: root.category,
      description: root.description,
      first_observed_at: root.at,
      step: root.step,
    },
    timeline: shortenTimeline(moments, root.at),
    evidence: {
      commands_run: [...commands].slice(-listMax),
      files_checked: [...files].slice(-listMax),
    },
    attempted_fixes: listAttemptedFixes(phaseEntries),
    prevention_rule: writePreventionRule(root, { name, red: failing }),
  };
}

type PostMortemRequest = {
  readonly phase: string;
  readonly name: string;
  readonly at: string;
  readonly claimOf?: ReadClaim;
};

function listMoments(phaseEntries: readonly Entry[], claimOf: ReadClaim): readonly Moment[] {
  const rejections = findRejections(phaseEntries, claimOf);

  return phaseEntries.flatMap((entry) => {
    const rejection = rejections.findLast(({ seq }) => seq === entry.seq);
    return toMoment(entry, rejection) ?? [];
  });
}

/**
 * Commands that failed a step and have not passed since. (A step that passes although commands fail
 * only measures what is left to do.)
 */
function listFailingCommands(ownEntries: readonly Entry[]): readonly string[] {
  const failing = new Set<string>();
  for (const entry of ownEntries) {
    for (const { check, status } of entryChecks(entry)) {
      if (status === "passed") failing.delete(check.command);
      else if (entry.event === "step_failed") failing.add(check.command);
    }
  }

  return [...failing];
}

const entryChecks = (entry: Entry): readonly CheckResult[] =>
  entry.event === "step_completed" || entry.event === "step_failed" ? (entry.checks ?? []) : [];

type Moment = PostMortem["timeline"][number];

/** Null for an entry that tells a person nothing. */
function toMoment(entry: Entry, rejection: PhaseRejection | undefined): Moment | null {
  const described =
    rejection === undefined
      ? describeEntry(entry)
      : describeAs(rejection.step, `Rejected: ${rejection.message}`, "failure"); // M1
  if (described === null) return null;

  const { step, event, status } = described;
  return { timestamp: entry.ts, step, event: event.slice(0, textCharsMax), status };
}

type DescribedEntry = Pick<Moment, "step" | "event" | "status">;

const describeAs = (step: string, event: string, status: Moment["status"]): DescribedEntry => ({
  step,
  event,
  status,
});

function describeEntry(entry: Entry): DescribedEntry | null {
  switch (entry.event) {
    case "phase_started":
      return describeAs("phase_runner", "Phase started", "success");
    case "phase_reopened":
      return describeAs("phase_runner", `Phase started again: ${entry.because}`, "success");
    case "task_completed":
      return describeAs("execute", `${describeTask(entry.walk)} completed`, "success");
    case "task_failed":
      return describeAs("execute", `${describeTask(entry.walk)} failed`, "failure");
    case "step_skipped":
      if (taskOfCursor(entry.walk) !== null) return null;
      return describeAs(entry.step, `${entry.step} skipped`, "skipped");
    case "step_completed":
    case "step_failed":
      return describeStep(entry);
    case "step_interrupted": {
      const step = parseAttempt(entry.attempt)?.step ?? "";
      const detail = entry.detail === undefined ? "" : `, ${entry.detail}`;
      return describeAs(step, `interrupted: ${entry.by}${detail}`, "failure");
    }
    case "block_answered":
      return describeAs("human_check", `${entry.actor} answered ${entry.answer}`, "success");
    case "route_taken":
      if (entry.count === undefined) return null;
      return describeAs(entry.step, `back to ${entry.to} (${entry.count})`, "partial");
    case "phase_failed":
    case "closing_failed": {
      const why = entry.because ?? entry.reason_code;
      return describeAs("phase_runner", `Phase failed: ${why}`, "failure");
    }
    default:
      return null;
  }
}

const describeTask = (cursor: string): string => `Task ${taskOfCursor(cursor) ?? cursor}`;

function describeStep(
  entry: Extract<Entry, { event: "step_completed" | "step_failed" }>,
): DescribedEntry | null {
  const parts = parseAttempt(entry.attempt);
  if (parts === null || taskOfCursor(parts.cursor) !== null) return null; // A task's steps are reported under the task.

  const { step, ordinal } = parts;
  const ordinalNote = ordinal === 1 ? "" : ` (attempt ${ordinal})`;
  if (entry.event === "step_completed") {
    return describeAs(step, `${step} passed${ordinalNote}`, "success");
  }

  const checks = entryChecks(entry);
  const failedCount = checks.filter(({ status }) => status !== "passed").length;
  const why =
    failedCount > 0
      ? `${failedCount} of ${checks.length} checks failed`
      : (entry.detail ?? entry.reason_code);
  return describeAs(step, `${step} failed${ordinalNote}: ${why}`, "failure");
}

/** The first moment, that of the cause, and as many of the last as fit. */
function shortenTimeline(moments: readonly Moment[], causeAt: string): Moment[] {
  if (moments.length <= timelineMax) return [...moments];

  const tail = moments.length - (timelineMax - 2);
  const cause = moments.findIndex(
    ({ timestamp, status }) => timestamp === causeAt && status === "failure",
  );
  return moments.filter((_, index) => index === 0 || index === cause || index >= tail);
}

function listCommands(entry: Entry): readonly string[] {
  return entryChecks(entry).map(({ check, status, exit_code }) => {
    const exit = exit_code === null ? "" : ` (exit ${exit_code})`;
    const mark = status === "passed" ? "" : " (FAIL)";
    return `${check.command} -> ${status}${exit}${mark}`.slice(0, textCharsMax);
  });
}

/** Files that agents named, with what the runner found when it looked them up (M1). */
function listFiles(entry: Entry): readonly string[] {
  if (entry.event !== "claims_checked") return [];
  return entry.claims
    .filter(({ kind }) => kind === "file_line" || kind === "file_changed")
    .map(({ text, why, verdict }) => `${text} -- ${verdict}: ${why}`.slice(0, textCharsMax));
}

/** One for each debug attempt: what it changed, and which checks pass since. */
function listAttemptedFixes(ownEntries: readonly Entry[]): PostMortem["attempted_fixes"] {
  const fixes: PostMortem["attempted_fixes"] = [];
  let failing: ReadonlySet<string> = new Set();

  for (const [index, entry] of ownEntries.entries()) {
    failing = updateFailing(failing, entry);
    if (entry.event !== "step_completed" && entry.event !== "step_failed") continue;
    if (parseAttempt(entry.attempt)?.step !== "debug") continue;

    const nextChecked = ownEntries.slice(index + 1).find((later) => entryChecks(later).length > 0);
    const after = nextChecked === undefined ? failing : updateFailing(failing, nextChecked);
    const attempt = fixes.length + 1;
    fixes.push({
      attempt,
      ...describeFix(ownEntries, entry.attempt, attempt),
      resolved: [...failing].filter((command) => !after.has(command)),
      remaining: [...after],
    });
  }

  return fixes;
}

type Fix = PostMortem["attempted_fixes"][number];

/** What a debug attempt says that it changed; or else what it did change. */
function describeFix(
  ownEntries: readonly Entry[],
  attempt: string,
  number: number,
): Pick<Fix, "description" | "commit_sha"> {
  const turn = ownEntries.find(
    (entry) => entry.event === "turn_ended" && entry.attempt === attempt,
  );
  const applied = ownEntries.findLast(
    (entry) => entry.event === "changes_applied" && entry.attempt === attempt,
  );
  const { paths, commit } =
    applied?.event === "changes_applied" ? applied : { paths: [], commit: null };

  const said = turn?.event === "turn_ended" ? describeChange(turn.said) : "";
  const changed = paths.length === 0 ? "nothing" : paths.join(", ");
  const description = said === "" ? `Debug attempt ${number}, which changed ${changed}` : said;
  return { description: description.slice(0, textCharsMax), commit_sha: commit };
}

/** The agent's list of changes if it returned one, else its text without JSON (M1). */
function describeChange(text: string): string {
  const [message = "", block] = text.split(/```(?:json)?\s*\n(?=\s*\{)/, 2);
  const json = block === undefined ? text : block.replace(/```[\s\S]*$/, "");
  const isOnlyJson = block === undefined && text.trim().startsWith("{");
  const description = parseChanges(json) || (isOnlyJson ? "" : message);

  return description.replaceAll(/\s+/g, " ").trim();
}

function parseChanges(text: string): string {
  try {
    const { changes } = JSON.parse(text) as { readonly changes?: unknown };
    return Array.isArray(changes)
      ? changes.filter((change) => typeof change === "string").join("; ")
      : "";
  } catch {
    return ""; // words, or a list that was cut off
  }
}

function updateFailing(before: ReadonlySet<string>, entry: Entry): ReadonlySet<string> {
  const failing = new Set(before);
  for (const { check, status } of entryChecks(entry)) {
    if (status === "passed") failing.delete(check.command);
    else failing.add(check.command);
  }

  return failing;
}
