// long-journal: a journal as a long run leaves it, written straight to the file: nobody waits for a
// million syncs. One cycle in a hundred ends its attempt; in the others a turn is begun, gets a
// session and is cancelled, as pauses and crashes do.

import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Draft } from "../src/contracts/event.ts";
import { journalFile, type Position } from "../src/journal/journal.ts";
import type { Batch } from "../src/journal/batch.ts";
import { addLine, genesis } from "../src/journal/line.ts";
import { beginningOf } from "./draft.ts";

const flushBytes = 1024 * 1024;
const cyclesPerAttempt = 100;

export function writeLongJournal(
  folder: string,
  eventsMin: number,
): { readonly events: number; readonly attempts: number } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fd = openSync(join(folder, journalFile), "wx", 0o600);
  const batch: Batch = { bytes: Buffer.allocUnsafeSlow(2 * flushBytes), used: 0 };
  const at: Position = { ...genesis };
  const flush = (): void => {
    writeSync(fd, batch.bytes, 0, batch.used);
    batch.used = 0;
  };

  const add = (draft: Draft): void => {
    const stamp = {
      epoch: 1,
      ts: new Date(1_767_225_600_000 + at.seq).toISOString(),
      activeMs: at.seq,
    };
    addLine(batch, at, stamp, { actor: "system", reason_code: "ok", ...draft });
    if (batch.used > flushBytes) flush();
  };

  for (const draft of beginning()) add(draft);
  let ordinal = 1;
  let cycle = 1;

  while (at.seq < eventsMin) {
    const attempt = `1@1/work#${ordinal}`;
    add({ event: "step_started", walk: "1", step: "work", attempt, kind: "agent", try: cycle });
    add({ event: "session_opened", attempt, session: `session-${cycle}`, agent: "scripted" });

    if (cycle < cyclesPerAttempt) {
      add({ event: "step_interrupted", attempt, by: "operator", reason_code: "operator_paused" });
      cycle++;
      continue;
    }

    for (const draft of ending(attempt)) add(draft);
    ordinal++;
    cycle = 1;
  }

  flush();
  closeSync(fd);
  return { events: at.seq, attempts: ordinal - 1 };
}

function beginning(): Draft[] {
  const counts = { again: { at_most: 1_000_000, per: "run", spent: { end: "failed" } } } as const;
  const work = {
    id: "work",
    agent: "worker",
    prompt: "work.md",
    otherwise: [{ go: "work", count: "again" }],
  };

  return [
    ...beginningOf({
      flow: { flow: "bench", version: 1, counts, phases: [{ id: "1", steps: [work] }] },
    }),
    { event: "artifacts_surveyed", gone: [], proved: [] },
    { event: "phase_started", walk: "1" },
  ];
}

function ending(attempt: string): Draft[] {
  return [
    {
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
    },
    { event: "step_failed", attempt, facts: {}, progress: true, fingerprint: "bench" },
    { event: "route_taken", walk: "1", step: "work", to: "work", count: "again", per: "run" },
  ];
}
