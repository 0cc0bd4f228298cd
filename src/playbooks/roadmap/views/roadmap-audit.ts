// roadmap-audit: the self-audit's events, from the cursor that audits: begun, each gap found, each gap closed and seen closed, ended.

import type { Entry } from "../../../contracts/event.ts";
import type { RoadmapEventName } from "../../../contracts/roadmap-events.ts";
import { attemptParts, phaseOfEntry, taskOfCursor } from "../../../insight/places.ts";
import { selfAudit } from "./phase-history.ts";

export type AuditLine = { readonly event: RoadmapEventName; readonly details: Readonly<Record<string, unknown>> };
/** An auditor's return by its hash; undefined if it can't be read. */
export type ClaimOf = (hash: string) => unknown;

type Gap = { requirement_id: string; phase_id: string; gap_description: string; fix_complexity: "small" | "large"; commit: string | null };

export type AuditBook = {
  linesOf(entry: Entry, about: { readonly completed: ReadonlySet<string>; readonly specPath: string }): readonly AuditLine[];
};

export function openAuditBook(claimOf: ClaimOf): AuditBook {
  const open = new Map<string, Gap>();
  const claims = new Map<string, string>();
  let found = 0;
  let fixed = 0;
  let audits = 0;
  let isReported = false;
  let isBegun = false;
  let checked = 0;
  let passed = 0;

  /** Another visit is another audit. */
  const beginAnew = (): readonly AuditLine[] => {
    open.clear();
    [found, fixed, audits, checked, passed] = [0, 0, 0, 0, 0];
    [isReported, isBegun] = [false, false];
    return [];
  };

  const find = (gap: Gap): readonly AuditLine[] => {
    if (open.has(gap.requirement_id)) return [];
    open.set(gap.requirement_id, gap);
    found++;
    const { commit: _none, ...details } = gap;
    return [{ event: "self_audit_gap_found", details }];
  };
  /** Those that a later audit does not name any more. */
  const close = (left: ReadonlySet<string>): readonly AuditLine[] =>
    [...open.values()]
      .filter(({ requirement_id }) => !left.has(requirement_id))
      .map(({ requirement_id, phase_id, commit }) => {
        open.delete(requirement_id);
        fixed++;
        return { event: "self_audit_gap_fixed", details: { requirement_id, phase_id, fix_commit: commit, re_verified: true } };
      });

  const audited = (entry: Extract<Entry, { event: "step_completed" | "step_failed" }>): readonly AuditLine[] => {
    const hash = claims.get(entry.attempt);
    const reported = hash === undefined ? null : auditReported(claimOf(hash));
    const counted = entry.facts["gaps"];
    if (entry.event === "step_failed") return [];
    audits++;
    isReported = reported !== null;
    if (reported === null) return counted === 0 ? close(new Set()) : [];
    if (audits === 1) {
      checked = reported.checked;
      passed = reported.checked - reported.gaps.length;
    }
    const lines = close(new Set(reported.gaps.map(({ requirement_id }) => requirement_id)));
    return [...lines, ...reported.gaps.flatMap(find)];
  };

  return {
    linesOf(entry, { completed, specPath }) {
      if (phaseOfEntry(entry) !== selfAudit.phase) return [];
      switch (entry.event) {
        case "phase_started":
        case "phase_reopened":
          return beginAnew();
        case "step_started":
          if (entry.step !== selfAudit.audit || isBegun) return [];
          isBegun = true;
          return [{ event: "self_audit_started", details: { phases_to_audit: [...completed], spec_path: specPath } }];
        case "turn_ended":
          if (entry.claim !== undefined) claims.set(entry.attempt, entry.claim);
          return [];
        case "tasks_read": {
          // Without the auditor's own text, the gaps are those with tasks to close them.
          if (isReported) return [];
          const tasks = entry.waves.flat();
          const lines = close(new Set([...tasks.map(({ id }) => id), ...entry.left]));
          return [...lines, ...tasks.flatMap(({ id, title, files }) => find(gapOfTask(id, title, files)))];
        }
        case "changes_applied": {
          const task = taskOfCursor(attemptParts(entry.attempt)?.cursor ?? "");
          const gap = [...open.values()].find(({ requirement_id }) => taskFor(requirement_id) === task);
          if (gap !== undefined) gap.commit = entry.commit;
          return [];
        }
        case "step_completed":
        case "step_failed":
          return attemptParts(entry.attempt)?.step === selfAudit.audit ? audited(entry) : [];
        case "phase_completed":
        case "phase_failed": {
          if (!isBegun) return []; // nothing was there to audit
          const total = Math.max(checked, found);
          return [
            {
              event: "self_audit_completed",
              details: {
                total_requirements_checked: total,
                passed_on_first_check: checked === 0 ? 0 : passed,
                gaps_found: found,
                gaps_fixed: fixed,
                gaps_remaining: open.size,
                audit_cycles: Math.max(0, audits - 1),
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

/** A requirement's id as a task has it: what may not be in a task's name is a dash. */
const taskFor = (requirement: string): string =>
  requirement
    .replaceAll(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 64);

const gapOfTask = (id: string, title: string | undefined, files: readonly string[]): Gap => ({
  requirement_id: id,
  phase_id: "unknown",
  gap_description: title ?? id,
  fix_complexity: files.length > 1 ? "large" : "small",
  commit: null,
});

/** An audit's return, as far as it is one. */
function auditReported(claim: unknown): { readonly checked: number; readonly gaps: readonly Gap[] } | null {
  const results = parseList(parseField(claim, "audit_results"));
  if (results.length === 0) return null;
  const checks = results.flatMap((result) =>
    parseList(parseField(result, "requirements_checked")).map((check) => ({ check, phase: parseWord(parseField(result, "phase_id")) })),
  );
  const gaps = checks
    .filter(({ check }) => parseField(check, "status") !== "pass" || parseWord(parseField(check, "file_line_evidence")).trim() === "")
    .map(({ check, phase }): Gap => ({
      requirement_id: parseWord(parseField(check, "requirement_id")),
      phase_id: phase,
      gap_description: parseWord(parseField(check, "gap_description")) || "it is said to pass, and nothing shows it",
      fix_complexity: parseField(check, "fix_complexity") === "large" ? "large" : "small",
      commit: null,
    }))
    .filter(({ requirement_id }) => requirement_id !== "");
  return { checked: checks.length, gaps };
}

export const parseField = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
export const parseList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const parseWord = (value: unknown): string => (typeof value === "string" ? value : "");
