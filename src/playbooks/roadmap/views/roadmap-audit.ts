// roadmap-audit: derives the self-audit's events from the journal: started, gap found, gap fixed, completed.

import type { Entry } from "../../../contracts/event.ts";
import type { RoadmapEventName } from "../../../contracts/roadmap-events.ts";
import { attemptParts, phaseOfEntry, taskOfCursor } from "../../../insight/places.ts";
import { selfAudit } from "./phase-history.ts";

export type AuditLine = { readonly event: RoadmapEventName; readonly details: Readonly<Record<string, unknown>> };
/** Reads an agent's return by its hash; undefined if it cannot be read. */
export type ReadClaim = (hash: string) => unknown;

type Gap = { requirement_id: string; phase_id: string; gap_description: string; fix_complexity: "small" | "large"; commit: string | null };

export type AuditLog = {
  linesOf(entry: Entry, context: { readonly completed: ReadonlySet<string>; readonly specPath: string }): readonly AuditLine[];
};

export function openAuditLog(readClaim: ReadClaim): AuditLog {
  const openGaps = new Map<string, Gap>();
  const claims = new Map<string, string>();
  let foundCount = 0;
  let fixedCount = 0;
  let auditCount = 0;
  let hasReturn = false;
  let hasStarted = false;
  let checkedCount = 0;
  let passedCount = 0;

  /** A new visit of the phase is a new audit. */
  const reset = (): readonly AuditLine[] => {
    openGaps.clear();
    [foundCount, fixedCount, auditCount, checkedCount, passedCount] = [0, 0, 0, 0, 0];
    [hasReturn, hasStarted] = [false, false];
    return [];
  };

  const addGap = (gap: Gap): readonly AuditLine[] => {
    if (openGaps.has(gap.requirement_id)) return [];
    openGaps.set(gap.requirement_id, gap);
    foundCount++;
    const { commit: _commit, ...details } = gap;
    return [{ event: "self_audit_gap_found", details }];
  };
  /** Closes the gaps that a later audit no longer names. */
  const closeGaps = (remaining: ReadonlySet<string>): readonly AuditLine[] =>
    [...openGaps.values()]
      .filter(({ requirement_id }) => !remaining.has(requirement_id))
      .map(({ requirement_id, phase_id, commit }) => {
        openGaps.delete(requirement_id);
        fixedCount++;
        return { event: "self_audit_gap_fixed", details: { requirement_id, phase_id, fix_commit: commit, re_verified: true } };
      });

  const endAudit = (entry: Extract<Entry, { event: "step_completed" | "step_failed" }>): readonly AuditLine[] => {
    const hash = claims.get(entry.attempt);
    const report = hash === undefined ? null : parseAudit(readClaim(hash));
    const gapCount = entry.facts["gaps"];
    if (entry.event === "step_failed") return [];
    auditCount++;
    hasReturn = report !== null;
    if (report === null) return gapCount === 0 ? closeGaps(new Set()) : [];
    if (auditCount === 1) {
      checkedCount = report.checked;
      passedCount = report.checked - report.gaps.length;
    }
    const lines = closeGaps(new Set(report.gaps.map(({ requirement_id }) => requirement_id)));
    return [...lines, ...report.gaps.flatMap(addGap)];
  };

  return {
    linesOf(entry, { completed, specPath }) {
      if (phaseOfEntry(entry) !== selfAudit.phase) return [];
      switch (entry.event) {
        case "phase_started":
        case "phase_reopened":
          return reset();
        case "step_started":
          if (entry.step !== selfAudit.audit || hasStarted) return [];
          hasStarted = true;
          return [{ event: "self_audit_started", details: { phases_to_audit: [...completed], spec_path: specPath } }];
        case "turn_ended":
          if (entry.claim !== undefined) claims.set(entry.attempt, entry.claim);
          return [];
        case "tasks_read": {
          // If the auditor's return is missing, the tasks that close gaps stand for them.
          if (hasReturn) return [];
          const tasks = entry.waves.flat();
          const lines = closeGaps(new Set([...tasks.map(({ id }) => id), ...entry.left]));
          return [...lines, ...tasks.flatMap(({ id, title, files }) => addGap(gapFromTask(id, title, files)))];
        }
        case "changes_applied": {
          const task = taskOfCursor(attemptParts(entry.attempt)?.cursor ?? "");
          const gap = [...openGaps.values()].find(({ requirement_id }) => taskIdFor(requirement_id) === task);
          if (gap !== undefined) gap.commit = entry.commit;
          return [];
        }
        case "step_completed":
        case "step_failed":
          return attemptParts(entry.attempt)?.step === selfAudit.audit ? endAudit(entry) : [];
        case "phase_completed":
        case "phase_failed": {
          if (!hasStarted) return []; // nothing was there to audit
          const total = Math.max(checkedCount, foundCount);
          return [
            {
              event: "self_audit_completed",
              details: {
                total_requirements_checked: total,
                passed_on_first_check: checkedCount === 0 ? 0 : passedCount,
                gaps_found: foundCount,
                gaps_fixed: fixedCount,
                gaps_remaining: openGaps.size,
                audit_cycles: Math.max(0, auditCount - 1),
              },
            },
          ];
        }
        default:
          return [];
      }
    },
  };
}

/** The task id for a requirement: characters that a task id may not have become dashes. */
const taskIdFor = (requirement: string): string =>
  requirement
    .replaceAll(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 64);

const gapFromTask = (id: string, title: string | undefined, files: readonly string[]): Gap => ({
  requirement_id: id,
  phase_id: "unknown",
  gap_description: title ?? id,
  fix_complexity: files.length > 1 ? "large" : "small",
  commit: null,
});

/** The valid parts of an audit's return; null if there are none. */
function parseAudit(claim: unknown): { readonly checked: number; readonly gaps: readonly Gap[] } | null {
  const results = listOrEmpty(fieldOf(claim, "audit_results"));
  if (results.length === 0) return null;
  const checks = results.flatMap((result) =>
    listOrEmpty(fieldOf(result, "requirements_checked")).map((check) => ({ check, phase: textOrEmpty(fieldOf(result, "phase_id")) })),
  );
  const gaps = checks
    .filter(({ check }) => fieldOf(check, "status") !== "pass" || textOrEmpty(fieldOf(check, "file_line_evidence")).trim() === "")
    .map(({ check, phase }): Gap => ({
      requirement_id: textOrEmpty(fieldOf(check, "requirement_id")),
      phase_id: phase,
      gap_description: textOrEmpty(fieldOf(check, "gap_description")) || "it is said to pass, and nothing shows it",
      fix_complexity: fieldOf(check, "fix_complexity") === "large" ? "large" : "small",
      commit: null,
    }))
    .filter(({ requirement_id }) => requirement_id !== "");
  return { checked: checks.length, gaps };
}

export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
export const listOrEmpty = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOrEmpty = (value: unknown): string => (typeof value === "string" ? value : "");
