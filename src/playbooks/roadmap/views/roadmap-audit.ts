// roadmap-audit: derives the self-audit's events from the journal: started, gap found, gap fixed,
// completed.

import type { Entry } from "../../../contracts/event.ts";
import type { RoadmapEventName } from "../../../contracts/roadmap-events.ts";
import { parseAttempt, phaseOfEntry, taskOfCursor } from "../../../insight/attempt-path.ts";
import { toTaskId } from "../insight/self-audit.ts";
import { readField } from "../../contract/agent-return.ts";
import { selfAudit } from "./phase-history.ts";

/** An event of the state.json format, without its time. */
export type AuditLine = {
  readonly event: RoadmapEventName;
  readonly details: Readonly<Record<string, unknown>>;
};
/** Reads an agent's return by its hash; undefined if it cannot be read. */
export type ReadClaim = (hash: string) => unknown;

type Gap = {
  requirement_id: string;
  phase_id: string;
  gap_description: string;
  fix_complexity: "small" | "large";
  commit: string | null;
};

/**
 * What an audit's events need to know of the run: the phases completed so far, and the
 * specification.
 */
type AuditContext = { readonly completed: ReadonlySet<string>; readonly specPath: string };

const noCounts = { found: 0, fixed: 0, audits: 0, checked: 0, passed: 0 };

export class AuditLog {
  readonly #readClaim: ReadClaim;
  readonly #openGaps = new Map<string, Gap>();
  /** The hash of each turn's return, by attempt. */
  readonly #claimHashes = new Map<string, string>();
  #counts = { ...noCounts };
  /** Whether the last audit's return could be read. */
  #hasReturn = false;
  #hasStarted = false;

  constructor(readClaim: ReadClaim) {
    this.#readClaim = readClaim;
  }

  /** The events that an entry adds. */
  linesOf(entry: Entry, { completed, specPath }: AuditContext): readonly AuditLine[] {
    if (phaseOfEntry(entry) !== selfAudit.phase) return [];
    switch (entry.event) {
      case "phase_started":
      case "phase_reopened":
        return this.#reset();
      case "step_started":
        if (entry.step !== selfAudit.audit || this.#hasStarted) return [];
        this.#hasStarted = true;
        return [
          {
            event: "self_audit_started",
            details: { phases_to_audit: [...completed], spec_path: specPath },
          },
        ];
      case "turn_ended":
        if (entry.claim !== undefined) this.#claimHashes.set(entry.attempt, entry.claim);
        return [];
      case "tasks_read":
        return this.#hasReturn ? [] : this.#readTasks(entry);
      case "changes_applied":
        return this.#recordFix(entry);
      case "step_completed":
      case "step_failed":
        return parseAttempt(entry.attempt)?.step === selfAudit.audit ? this.#endAudit(entry) : [];
      case "phase_completed":
      case "phase_failed":
        return this.#hasStarted ? [this.#summarize()] : []; // else nothing was there to audit
      default:
        return [];
    }
  }

  /** A new visit of the phase is a new audit. */
  #reset(): readonly AuditLine[] {
    this.#openGaps.clear();
    this.#counts = { ...noCounts };
    [this.#hasReturn, this.#hasStarted] = [false, false];

    return [];
  }

  #addGap(gap: Gap): readonly AuditLine[] {
    if (this.#openGaps.has(gap.requirement_id)) return [];
    this.#openGaps.set(gap.requirement_id, gap);
    this.#counts.found++;
    const { commit: _commit, ...details } = gap;

    return [{ event: "self_audit_gap_found", details }];
  }

  /** Closes the gaps that a later audit no longer names. */
  #closeGaps(remainingIds: ReadonlySet<string>): readonly AuditLine[] {
    const closedGaps = [...this.#openGaps.values()].filter(
      ({ requirement_id }) => !remainingIds.has(requirement_id),
    );

    for (const { requirement_id } of closedGaps) this.#openGaps.delete(requirement_id);
    this.#counts.fixed += closedGaps.length;
    return closedGaps.map(({ requirement_id, phase_id, commit }) => ({
      event: "self_audit_gap_fixed",
      details: { requirement_id, phase_id, fix_commit: commit, re_verified: true },
    }));
  }

  /** If the auditor's return is missing, the tasks that close gaps stand for them. */
  #readTasks({
    waves,
    left: personTasks,
  }: Extract<Entry, { event: "tasks_read" }>): readonly AuditLine[] {
    const tasks = waves.flat();
    const lines = this.#closeGaps(new Set([...tasks.map(({ id }) => id), ...personTasks]));
    return [
      ...lines,
      ...tasks.flatMap(({ id, title, files }) => this.#addGap(gapFromTask(id, title, files))),
    ];
  }

  /** Remembers the commit that was made to close a gap. */
  #recordFix({
    attempt,
    commit,
  }: Extract<Entry, { event: "changes_applied" }>): readonly AuditLine[] {
    const taskId = taskOfCursor(parseAttempt(attempt)?.cursor ?? "");
    const gap = [...this.#openGaps.values()].find(
      ({ requirement_id }) => toTaskId(requirement_id) === taskId,
    );
    if (gap !== undefined) gap.commit = commit;

    return [];
  }

  #endAudit(
    entry: Extract<Entry, { event: "step_completed" | "step_failed" }>,
  ): readonly AuditLine[] {
    if (entry.event === "step_failed") return [];
    const hash = this.#claimHashes.get(entry.attempt);
    const report = hash === undefined ? null : parseAudit(this.#readClaim(hash));
    this.#counts.audits++;
    this.#hasReturn = report !== null;
    if (report === null) return entry.facts["gaps"] === 0 ? this.#closeGaps(new Set()) : [];
    if (this.#counts.audits === 1) {
      this.#counts.checked = report.checked;
      this.#counts.passed = report.checked - report.gaps.length;
    }

    const lines = this.#closeGaps(new Set(report.gaps.map(({ requirement_id }) => requirement_id)));
    return [...lines, ...report.gaps.flatMap((gap) => this.#addGap(gap))];
  }

  #summarize(): AuditLine {
    const { found, fixed, audits, checked, passed } = this.#counts;
    return {
      event: "self_audit_completed",
      details: {
        total_requirements_checked: Math.max(checked, found),
        passed_on_first_check: checked === 0 ? 0 : passed,
        gaps_found: found,
        gaps_fixed: fixed,
        gaps_remaining: this.#openGaps.size,
        audit_cycles: Math.max(0, audits - 1), // the first audit is not a cycle
      },
    };
  }
}

const gapFromTask = (id: string, title: string | undefined, files: readonly string[]): Gap => ({
  requirement_id: id,
  phase_id: "unknown",
  gap_description: title ?? id,
  fix_complexity: files.length > 1 ? "large" : "small",
  commit: null,
});

/** The valid parts of an audit's return; null if there are none. */
function parseAudit(
  claim: unknown,
): { readonly checked: number; readonly gaps: readonly Gap[] } | null {
  const results = listOrEmpty(readField(claim, "audit_results"));
  if (results.length === 0) return null;

  const checks = results.flatMap((result) => {
    const phase = textOrEmpty(readField(result, "phase_id"));
    return listOrEmpty(readField(result, "requirements_checked")).map((check) => ({
      check,
      phase,
    }));
  });

  const isPass = (check: unknown): boolean =>
    readField(check, "status") === "pass" &&
    textOrEmpty(readField(check, "file_line_evidence")).trim() !== "";

  const gaps = checks
    .filter(({ check }) => !isPass(check))
    .map(({ check, phase }): Gap => ({
      requirement_id: textOrEmpty(readField(check, "requirement_id")),
      phase_id: phase,
      gap_description:
        textOrEmpty(readField(check, "gap_description")) ||
        "it is said to pass, and nothing shows it",
      fix_complexity: readField(check, "fix_complexity") === "large" ? "large" : "small",
      commit: null,
    }))
    .filter(({ requirement_id }) => requirement_id !== "");

  return { checked: checks.length, gaps };
}

export const listOrEmpty = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : [];
const textOrEmpty = (value: unknown): string => (typeof value === "string" ? value : "");
