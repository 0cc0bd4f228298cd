// dashboard-runs: a project as the dashboard's figures are stated for: 100 runs, one of them with
// 500 phases and 10,000 events.

import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Draft } from "../src/contracts/event.ts";
import type { Batch } from "../src/journal/batch.ts";
import { journalFile, type Position } from "../src/journal/journal.ts";
import { addLine, genesis } from "../src/journal/line.ts";
import { beginningOf } from "./draft.ts";

const work = { id: "work", agent: "worker", prompt: "work.md" };
const eventsPerPhase = 20;
/** 1 January 2026; a line a millisecond. */
const firstMs = 1_767_225_600_000;

export const largeRun = "run-2026-01-02-000000";

/** A journal that is added to line by line, as a run at work adds to it. */
export function openWrittenRun(
  root: string,
  run: string,
): { readonly add: (drafts: readonly Draft[]) => void; readonly close: () => void } {
  const folder = join(root, ".autopilot", "runs", run);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fd = openSync(join(folder, journalFile), "wx", 0o600);
  const at: Position = { ...genesis };

  return {
    add: (drafts) => {
      const batch: Batch = {
        bytes: Buffer.allocUnsafeSlow(4_096 + 4_096 * drafts.length + 200_000),
        used: 0,
      };

      for (const draft of drafts) {
        addLine(
          batch,
          at,
          { epoch: 1, ts: new Date(firstMs + at.seq).toISOString(), activeMs: at.seq },
          { actor: "system", reason_code: "ok", ...draft },
        );
      }

      writeSync(fd, batch.bytes, 0, batch.used);
    },
    close: () => closeSync(fd),
  };
}

/** Turns of one attempt that are begun and cancelled. */
export function triesOf(phase: string, from: number, count: number): readonly Draft[] {
  const attempt = `${phase}@1/work#1`;
  return Array.from({ length: count }, (_, at): readonly Draft[] => [
    { event: "step_started", walk: phase, step: "work", attempt, kind: "agent", try: from + at },
    { event: "session_opened", attempt, session: `session-${from + at}`, agent: "scripted" },
    { event: "step_interrupted", attempt, by: "operator", reason_code: "operator_paused" },
  ]).flat();
}

/** Gives the journal of the large run, open for more. */
export function writeRuns(
  root: string,
  { runs, phases }: { readonly runs: number; readonly phases: number },
): ReturnType<typeof openWrittenRun> {
  for (let at = 1; at < runs; at += 1) {
    const run = `run-2026-01-01-${String(at).padStart(6, "0")}`;
    const small = openWrittenRun(root, run);
    small.add([
      ...beginningOf({
        run_id: run,
        flow: { flow: "bench", version: 1, phases: [{ id: "1", steps: [work] }] },
      }),
      surveyed,
      { event: "phase_started", walk: "1" },
    ]);

    small.close();
  }

  const ids = Array.from({ length: phases }, (_, at) => String(at + 1));
  const large = openWrittenRun(root, largeRun);
  large.add([
    ...beginningOf({
      run_id: largeRun,
      flow: { flow: "bench", version: 1, phases: ids.map((id) => ({ id, steps: [work] })) },
    }),
    surveyed,
  ]);

  for (const id of ids.slice(0, -1)) {
    const attempt = `${id}@1/work#1`;
    const tries = (eventsPerPhase - 5) / 3;
    large.add([
      { event: "phase_started", walk: id },
      ...triesOf(id, 1, tries),
      { event: "step_started", walk: id, step: "work", attempt, kind: "agent", try: tries + 1 },
      turnOf(attempt),
      { event: "step_completed", attempt, facts: {} },
      { event: "phase_completed", walk: id },
    ]);
  }

  large.add([{ event: "phase_started", walk: ids.at(-1) ?? "1" }]);
  return large;
}

const surveyed: Draft = { event: "artifacts_surveyed", gone: [], proved: [] };

const turnOf = (attempt: string): Draft => ({
  event: "turn_ended",
  attempt,
  agent: "scripted",
  stop: "end_turn",
  says: {},
  said: "nothing to do",
  promised: false,
  announced_more: false,
  confidence: null,
  usage: { tokens: 1000, calls: 1, minutes: 0.01, source: "reported" },
});
