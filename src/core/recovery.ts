// recovery: what to do with an attempt whose outcome nobody wrote down. A total table: every doubt meets exactly one row.
//
// kind, stage: how far the journal says it came.   layer: the attempt's own folder; `intact` is what the recorded turn left.
// done: the action's key is found in the world (a commit's trailer, an effect's key).   proof: its proof holds, fresh, and nobody needs its word.
// often: this attempt has taken the runner down too many times.

import type { CrashState } from "../contracts/crash-state.ts";
import type { EventOf } from "../contracts/event.ts";
import { invariant } from "../kit/invariant.ts";

export type Remedy = EventOf<"attempt_settled">["remedy"];
export type RecoveryRow = { readonly when: Partial<CrashState>; readonly remedy: Remedy; readonly why: string };

export const crashStates = {
  kind: ["agent", "check", "run", "tasks", "flow"],
  stage: ["started", "turned", "applied"],
  layer: ["absent", "dirty", "intact"],
  done: [false, true],
  proof: [false, true],
  often: [false, true],
} as const satisfies { readonly [K in keyof CrashState]: readonly CrashState[K][] };

const paid = { often: false, kind: "agent", stage: "turned" } as const;
const begun = { often: false, kind: "agent", stage: "started" } as const;

export const recoveryRows: readonly RecoveryRow[] = [
  { when: { often: true }, remedy: "ask", why: "it takes the runner down each time: a person looks, nothing is thrown away" },
  { when: { often: false, kind: "check" }, remedy: "repeat", why: "a check only reads" },
  { when: { often: false, kind: "tasks" }, remedy: "repeat", why: "reading tasks only reads" },
  { when: { often: false, kind: "flow" }, remedy: "continue", why: "the child run has a journal of its own and goes on from it" },
  {
    when: { often: false, kind: "run", done: true },
    remedy: "continue",
    why: "the effect is there under its key: only the outcome is missing",
  },
  { when: { often: false, kind: "run", done: false }, remedy: "repeat", why: "the effect is not there, or may be made again" },
  { when: { often: false, kind: "agent", stage: "applied" }, remedy: "continue", why: "paid and applied: only the proof is missing" },
  { when: { ...paid, done: true }, remedy: "continue", why: "the commit is there under its key: write it down" },
  { when: { ...paid, done: false, layer: "intact" }, remedy: "continue", why: "paid, and the layer is as the turn left it: apply it" },
  { when: { ...paid, done: false, layer: "dirty" }, remedy: "repeat", why: "the layer is not what the turn left: set it aside" },
  { when: { ...paid, done: false, layer: "absent" }, remedy: "repeat", why: "the layer is gone, and the claim alone is worth nothing" },
  { when: { ...begun, layer: "absent" }, remedy: "repeat", why: "no trace was left" },
  { when: { ...begun, layer: "intact" }, remedy: "repeat", why: "no turn was recorded, so nothing can be as it left it: set it aside" },
  {
    when: { ...begun, layer: "dirty", proof: true },
    remedy: "close",
    why: "the artifacts are complete: the work is done, only the word is missing",
  },
  {
    when: { ...begun, layer: "dirty", proof: false },
    remedy: "repeat",
    why: "half-done work: set it aside, keep the difference, the same attempt again",
  },
];

export function remedyFor(doubt: CrashState): RecoveryRow {
  const row = rowsFor(doubt)[0];
  invariant(row !== undefined, `R1: every doubt meets a row (${JSON.stringify(doubt)})`);
  return row;
}

/** The rows a doubt meets; a test demands that there is always exactly one. */
export function rowsFor(doubt: CrashState): readonly RecoveryRow[] {
  const keys = Object.keys(crashStates) as (keyof CrashState)[];
  return recoveryRows.filter(({ when }) => keys.every((key) => when[key] === undefined || when[key] === doubt[key]));
}
