// entries: makes journal entries about one phase, for tests of what is computed from them.

import type { Draft, Entry } from "../contracts/event.ts";
import type { Check, CheckResult, CheckStatus } from "../contracts/evidence.ts";
import { formatIsoTime } from "../kit/iso-time.ts";

const hash = "a".repeat(64);
export const sha = (n: number): string => n.toString(16).padStart(40, "0");

/** Entries as a journal would hold them, a minute apart. */
export const journal = (...drafts: readonly Draft[]): readonly Entry[] =>
  drafts.map((draft, seq): Entry => {
    const envelope = {
      seq,
      epoch: 0,
      ts: formatIsoTime(1_767_225_600_000 + seq * 60_000),
      active_ms: seq * 60_000,
      prev: "",
      crc: "",
    };

    return { actor: "system", reason_code: "ok", ...draft, ...envelope };
  });

export const started: Draft = { event: "phase_started", walk: "1" };
export const ended = (because?: string): Draft => ({
  event: "phase_failed",
  walk: "1",
  reason_code: because ?? "phase_failed",
  ...(because === undefined ? {} : { because }),
});
export const result = (
  kind: Check["kind"],
  command: string,
  status: CheckStatus = "failed",
): CheckResult => ({
  check: { id: command, kind, title: command, command, source: "test" },
  status,
  exit_code: status === "passed" ? 0 : 1,
  duration_ms: 1,
  evidence: hash,
});
export const passed = (step: string, n = 1, checks: CheckResult[] = []): Draft => ({
  event: "step_completed",
  attempt: `1@1/${step}#${n}`,
  facts: {},
  checks,
});
export const failed = (
  step: string,
  reason_code: string,
  checks: CheckResult[] = [],
  n = 1,
): Draft => ({
  event: "step_failed",
  attempt: `1@1/${step}#${n}`,
  facts: {},
  checks,
  fingerprint: reason_code,
  reason_code,
});
export const turned = (step: string, stop: string, text = "", n = 1): Draft => ({
  event: "turn_ended",
  attempt: `1@1/${step}#${n}`,
  agent: "a",
  stop,
  says: {},
  said: text,
  promised: false,
  announced_more: false,
  confidence: null,
  usage: { tokens: 1, calls: 1, minutes: 0, source: "reported" },
});
export const applied = (step: string, commit: number, n = 1): Draft => ({
  event: "changes_applied",
  attempt: `1@1/${step}#${n}`,
  commit: sha(commit),
  parent: sha(1),
  tree: sha(commit),
  paths: ["a"],
  not_applied: 0,
});
export const route = (count: string, to: string): Draft => ({
  event: "route_taken",
  walk: "1",
  step: "judge",
  to,
  count,
  per: "phase",
});
/** A way that a decision leads: back, or to taking the phase back. */
export const sent = (step: string, to: string, because?: string): Draft => ({
  event: "route_taken",
  walk: "1",
  step,
  to,
  ...(because === undefined ? { count: "debug", per: "phase" } : { because }),
});
/** An agent's return: its text is in the blob `claim`. */
export const handed = (
  step: string,
  says: Readonly<Record<string, string | number | boolean>>,
  claim: string,
  n = 1,
): Draft => ({
  ...(turned(step, "end_turn", "", n) as Extract<Draft, { event: "turn_ended" }>),
  says,
  claim,
  returned: true,
});
export const answered = (answer: string, issues: string[] = []): Draft => ({
  event: "block_answered",
  request: "r",
  block: "block:1@1/human_check#1",
  answer,
  issues,
  actor: "operator:ann",
});
