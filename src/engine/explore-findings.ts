// explore-findings: collects what is wrong with an explored flow, each fault once, with its place.
// Invariants X1 and on: engine/explore.ts.

import type { Draft } from "../contracts/event.ts";
import type { Step } from "../contracts/flow.ts";
import { findStep, getCursor } from "../core/selectors.ts";
import type { Run } from "../core/state.ts";

export type ExploreFinding = {
  readonly kind: "failed_proof" | "unproved" | "dead_end" | "ring" | "broken";
  readonly phase: string;
  readonly step: string | null;
  readonly message: string;
};

export class ExploreFindings {
  readonly #findings = new Map<string, ExploreFinding>();

  list(): readonly ExploreFinding[] {
    return [...this.#findings.values()];
  }

  /** Findings that differ only in the numbers of visits or attempts are one. */
  add(finding: ExploreFinding): void {
    const message = finding.message.replaceAll(/@\d+|#\d+/g, "");
    this.#findings.set(`${finding.kind} ${message}`, { ...finding, message });
  }

  addWithoutEnd(): void {
    const message = "no path reaches the end of the flow";
    this.add({ kind: "dead_end", phase: "", step: null, message });
  }

  addDeadEnd(run: Run): void {
    const place = describePlace(run);
    this.add({ kind: "dead_end", ...parsePlace(place), message: `nothing can move at ${place}` });
  }

  addCycle(places: readonly string[]): void {
    const steps = [...new Set(places)];
    const message = `a ring without a count: ${steps.join(" -> ")}`;
    this.add({ kind: "ring", ...parsePlace(steps[0] ?? ""), message });
  }

  addBroken(run: Run, rule: string): void {
    const place = describePlace(run);
    this.add({ kind: "broken", ...parsePlace(place), message: `${place}: ${rule}` });
  }
}

/**
 * X1: what a phase or task skipped that this event completes. Closing and completion steps may
 * report failure and continue.
 */
export function findUnprovedCompletion(
  run: Run,
  unproved: ReadonlySet<string>,
  event: Draft,
): readonly ExploreFinding[] {
  if (event.event !== "phase_completed" && event.event !== "task_completed") return [];
  const cursor = getCursor(run, event.walk);
  const { phase } = cursor;
  if (run.phases.find(({ id }) => id === phase)?.group === "after") return [];

  const findings = Object.entries(cursor.last)
    .filter(([id, { kind }]) => kind === "failed" && isGate(findStep(run, cursor, id)))
    .map(([id]): ExploreFinding => {
      const message = `${cursor.kind} ${phase} can be completed although ${id} has failed`;
      return { kind: "failed_proof", phase, step: id, message };
    });

  if (event.event === "phase_completed" && unproved.has(cursor.path)) {
    const message = `phase ${phase} can be completed after an agent's turn that no check or proof has judged since`;
    findings.push({ kind: "unproved", phase, step: null, message });
  }

  return findings;
}

export const isGate = (step: Step): boolean =>
  step.check !== undefined || (step.proof?.length ?? 0) > 0;

/**
 * Where the run is, for a person: the phase under way, else a failed one, and the step of it that
 * ended last.
 */
export function describePlace(run: Run): string {
  const phase =
    run.phases.find(({ status }) => status === "open") ??
    run.phases.find(({ status }) => status === "failed");
  const cursor = phase === undefined ? undefined : run.cursors[phase.id];
  if (cursor === undefined) return phase?.id ?? "";

  return `${cursor.path}/${Object.keys(cursor.last).at(-1) ?? ""}`;
}

/** The parts of a place: `build@2/tasks#3` is the step `tasks` of the phase `build`. */
function parsePlace(place: string): { readonly phase: string; readonly step: string | null } {
  const [path = "", ...rest] = place.split("/");
  const step = rest.at(-1);
  return {
    phase: path.replace(/@\d+$/, ""),
    step: step === undefined || step === "" ? null : step.replace(/#\d+$/, ""),
  };
}
