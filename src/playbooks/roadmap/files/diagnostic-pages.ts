// diagnostic-pages: makes the diagnostic page of each halt of a roadmap run: a stop, or a pause
// that a person should look into.

import type { Entry } from "../../../contracts/event.ts";
import type { PostMortem } from "../../../contracts/roadmap-reports.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import type { RunView } from "../../../core/state.ts";
import { diagnosticName, diagnosticPage } from "../../../views/diagnostic.ts";
import { listNextActions } from "../../../views/next-actions.ts";
import { isHaltReason } from "../views/roadmap-log.ts";

type HaltEntry = Extract<Entry, { event: "run_paused" | "run_stopped" }>;
/** A halt, and the name of the file that reports it. */
export type Halt = { readonly entry: HaltEntry; readonly name: string };

export const isHalt = (entry: Entry): entry is HaltEntry =>
  entry.event === "run_stopped" ||
  (entry.event === "run_paused" && isHaltReason(entry.reason_code));

export class DiagnosticPages {
  /** Pages that are still to be written, by file name. */
  readonly pending = new Map<string, string>();
  latestHalt: Halt | null = null;
  readonly #haltsPerName = new Map<string, number>();

  /** Two halts within the same second get two files. */
  noteHalt(entry: HaltEntry): void {
    const name = diagnosticName(entry.ts);
    const ordinal = (this.#haltsPerName.get(name) ?? 0) + 1;
    this.#haltsPerName.set(name, ordinal);
    this.latestHalt = {
      entry,
      name: ordinal === 1 ? name : name.replace(/\.md$/, () => `-${ordinal}.md`),
    };
  }

  /** Makes the page of a halt from the run as it was then. */
  add(
    { entry, name }: Halt,
    run: RunView,
    state: RoadmapState,
    postMortems: Iterable<PostMortem>,
  ): void {
    const page = diagnosticPage({
      state,
      reason: entry.reason_code,
      detail: entry.detail ?? null,
      at: entry.ts,
      remediation: listNextActions(run),
      postMortems: [...postMortems],
    });
    this.pending.set(name, page);
  }
}
