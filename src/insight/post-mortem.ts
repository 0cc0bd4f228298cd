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
  {
    phase,
    name,
    at,
    claimOf = () => undefined,
  }: {
    readonly phase: string;
    readonly name: string;
    readonly at: string;
    readonly claimOf?: ReadClaim;
  },
): PostMortem | null {
  const root = findRootCause(entries, phase, claimOf);
  if (root === null) return null;
  const phaseEntries = entries.filter((entry) => phaseOfEntry(entry) === phase);
  const rejections = new Map(
    findRejections(phaseEntries, claimOf).map((rejection) => [rejection.seq, rejection]),
  );

  const failing = root.cause.endsWith("_rejected") ? [] : listFailingCommands(phaseEntries); // a decision is its own reason
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
    timeline: shortenTimeline(
      phaseEntries.flatMap((entry) => toMoments(entry, rejections.get(entry.seq))),
      root.at,
    ),
    evidence: {
      commands_run: [...new Set(phaseEntries.flatMap(listCommands))].slice(-listMax),
      files_checked: [...new Set(phaseEntries.flatMap(listFiles))].slice(-listMax),
    },
    attempted_fixes: listAttemptedFixes(phaseEntries),
    prevention_rule: writePreventionRule(root, { name, red: failing }),
  };
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

function toMoments(entry: Entry, rejection: PhaseRejection | undefined): readonly Moment[] {
  const buildMoment = (
    step: string,
    event: string,
    status: Moment["status"],
  ): readonly Moment[] => [
    { timestamp: entry.ts, step, event: event.slice(0, textCharsMax), status },
  ];

  if (rejection !== undefined) {
    return buildMoment(rejection.step, `Rejected: ${rejection.message}`, "failure");
  } // M1

  switch (entry.event) {
    case "phase_started":
    case "phase_reopened":
      return buildMoment(
        "phase_runner",
        entry.event === "phase_started" ? "Phase started" : `Phase started again: ${entry.because}`,
        "success",
      );
    case "task_completed":
    case "task_failed": {
      const isDone = entry.event === "task_completed";
      return buildMoment(
        "execute",
        `Task ${taskOfCursor(entry.walk) ?? entry.walk} ${isDone ? "completed" : "failed"}`,
        isDone ? "success" : "failure",
      );
    }
    case "step_skipped":
      return taskOfCursor(entry.walk) === null
        ? buildMoment(entry.step, `${entry.step} skipped`, "skipped")
        : [];
    case "step_completed":
    case "step_failed":
      return toStepMoments(entry, buildMoment);
    case "step_interrupted":
      return buildMoment(
        parseAttempt(entry.attempt)?.step ?? "",
        `interrupted: ${entry.by}${entry.detail === undefined ? "" : `, ${entry.detail}`}`,
        "failure",
      );
    case "block_answered":
      return buildMoment("human_check", `${entry.actor} answered ${entry.answer}`, "success");
    case "route_taken":
      return entry.count === undefined
        ? []
        : buildMoment(entry.step, `back to ${entry.to} (${entry.count})`, "partial");
    case "phase_failed":
    case "closing_failed":
      return buildMoment(
        "phase_runner",
        `Phase failed: ${entry.because ?? entry.reason_code}`,
        "failure",
      );
    default:
      return [];
  }
}

function toStepMoments(
  entry: Extract<Entry, { event: "step_completed" | "step_failed" }>,
  moment: (step: string, event: string, status: Moment["status"]) => readonly Moment[],
): readonly Moment[] {
  const parts = parseAttempt(entry.attempt);
  if (parts === null || taskOfCursor(parts.cursor) !== null) return []; // A task's steps are reported under the task.
  const failedCount = entryChecks(entry).filter(({ status }) => status !== "passed").length;
  const ordinalNote = parts.ordinal === 1 ? "" : ` (attempt ${parts.ordinal})`;

  if (entry.event === "step_completed") {
    return moment(parts.step, `${parts.step} passed${ordinalNote}`, "success");
  }

  const why =
    failedCount > 0
      ? `${failedCount} of ${entryChecks(entry).length} checks failed`
      : (entry.detail ?? entry.reason_code);

  return moment(parts.step, `${parts.step} failed${ordinalNote}: ${why}`, "failure");
}

/** The first moment, that of the cause, and as many of the last as fit. */
function shortenTimeline(moments: readonly Moment[], causeAt: string): Moment[] {
  if (moments.length <= timelineMax) return [...moments];
  const cause = moments.findIndex(
    ({ timestamp, status }) => timestamp === causeAt && status === "failure",
  );

  const tail = moments.length - (timelineMax - 2);
  return moments.filter(
    (_, index) => index === 0 || index >= tail || (index === cause && cause < tail),
  );
}

function listCommands(entry: Entry): readonly string[] {
  return entryChecks(entry).map(({ check, status, exit_code }) => {
    const exit = exit_code === null ? "" : ` (exit ${exit_code})`;
    return `${check.command} -> ${status}${exit}${status === "passed" ? "" : " (FAIL)"}`.slice(
      0,
      textCharsMax,
    );
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
    const turn = ownEntries.find(
      (candidate) => candidate.event === "turn_ended" && candidate.attempt === entry.attempt,
    );

    const applied = ownEntries.findLast(
      (candidate) => candidate.event === "changes_applied" && candidate.attempt === entry.attempt,
    );

    const nextChecked = ownEntries.slice(index + 1).find((later) => entryChecks(later).length > 0);
    const after = nextChecked === undefined ? failing : updateFailing(failing, nextChecked);
    const text = turn?.event === "turn_ended" ? describeChange(turn.said) : "";
    const paths = applied?.event === "changes_applied" ? applied.paths : [];
    const changed = paths.length === 0 ? "nothing" : paths.join(", ");
    const fallback = `Debug attempt ${fixes.length + 1}, which changed ${changed}`;
    fixes.push({
      attempt: fixes.length + 1,
      description: (text === "" ? fallback : text).slice(0, textCharsMax),
      commit_sha: applied?.event === "changes_applied" ? applied.commit : null,
      resolved: [...failing].filter((command) => !after.has(command)),
      remaining: [...after],
    });
  }

  return fixes;
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
