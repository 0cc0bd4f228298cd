// recovery: the table that says what to do with an attempt whose outcome was never recorded. It is
// total: every crash state matches exactly one row.
//
//   kind, stage  how far the attempt came, by the journal or by the receipt of its turn
//   layer        the attempt's own folder; `intact` means as the recorded turn left it
//   done         the action's key is found outside the journal: in a commit's trailer, or where a
//                function left it
//   proof        its proof holds, by fresh artifacts, and no row needs the agent's return
//   often        this attempt has crashed the runner too many times

import type { CrashState } from "../contracts/crash-state.ts";
import type { EventOf } from "../contracts/event.ts";
import { invariant } from "../kit/invariant.ts";

export type Remedy = EventOf<"attempt_settled">["remedy"];
export type RecoveryRow = {
  readonly when: Partial<CrashState>;
  readonly remedy: Remedy;
  readonly why: string;
};

export const crashStates = {
  kind: ["agent", "check", "run", "tasks", "flow"],
  stage: ["started", "turned", "applied"],
  layer: ["absent", "dirty", "intact"],
  done: [false, true],
  proof: [false, true],
  often: [false, true],
} as const satisfies { readonly [K in keyof CrashState]: readonly CrashState[K][] };

const turnedAgent = { often: false, kind: "agent", stage: "turned" } as const;
const startedAgent = { often: false, kind: "agent", stage: "started" } as const;

export const recoveryRows: readonly RecoveryRow[] = [
  {
    when: { often: true },
    remedy: "ask",
    why: "it has crashed the runner several times; a person has to look, and nothing was thrown away",
  },
  { when: { often: false, kind: "check" }, remedy: "repeat", why: "checks run again" },
  { when: { often: false, kind: "tasks" }, remedy: "repeat", why: "tasks are read again" },
  {
    when: { often: false, kind: "flow" },
    remedy: "continue",
    why: "the child run goes on from its own journal",
  },
  {
    when: { often: false, kind: "run", done: true },
    remedy: "continue",
    why: "its work is done; only the record of it was missing",
  },
  { when: { often: false, kind: "run", done: false }, remedy: "repeat", why: "it runs again" },
  {
    when: { often: false, kind: "agent", stage: "applied" },
    remedy: "continue",
    why: "its work is committed; only the proof is missing",
  },
  {
    when: { ...turnedAgent, done: true },
    remedy: "continue",
    why: "its commit is there; only the record of it was missing",
  },
  {
    when: { ...turnedAgent, done: false, layer: "intact" },
    remedy: "continue",
    why: "its changes are as the turn left them and are committed now",
  },
  {
    when: { ...turnedAgent, done: false, layer: "dirty" },
    remedy: "repeat",
    why: "its changes are not what the turn left, so they were saved as a patch and the turn starts over",
  },
  {
    when: { ...turnedAgent, done: false, layer: "absent" },
    remedy: "repeat",
    why: "its changes are gone, and the turn starts over",
  },
  { when: { ...startedAgent, layer: "absent" }, remedy: "repeat", why: "no trace was left" },
  {
    when: { ...startedAgent, layer: "intact" },
    remedy: "repeat",
    why: "no turn was recorded, so it starts over",
  },
  {
    when: { ...startedAgent, layer: "dirty", proof: true },
    remedy: "close",
    why: "its artifacts are complete, so the step is done",
  },
  {
    when: { ...startedAgent, layer: "dirty", proof: false },
    remedy: "repeat",
    why: "its half-done changes were saved as a patch, and the turn starts over",
  },
];

export function findRecoveryRow(crashState: CrashState): RecoveryRow {
  const row = listMatchingRows(crashState)[0];
  invariant(row !== undefined, `every crash state has a row (${JSON.stringify(crashState)})`);
  return row;
}

/** The rows that a crash state matches; a test demands exactly one. */
export function listMatchingRows(crashState: CrashState): readonly RecoveryRow[] {
  const keys = Object.keys(crashStates) as (keyof CrashState)[];
  return recoveryRows.filter(({ when }) =>
    keys.every((key) => when[key] === undefined || when[key] === crashState[key]),
  );
}
