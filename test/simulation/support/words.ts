// The words in which stories about the core are told: a small flow of a plan, an agent's work and a
// check, and its events.

import type { Draft } from "../../../src/contracts/event.ts";
import type { Flow, Step } from "../../../src/contracts/flow.ts";
import { sha, turnEnded, usage } from "./tape.ts";

export const steps: Step[] = [
  { id: "plan", run: "plan" },
  { id: "work", agent: "worker", prompt: "w.md", proof: ["p"], retry: 1 },
  { id: "look", check: ["project"], otherwise: [{ go: "work", count: "round" }] },
];
export const flow: Flow = {
  flow: "tried",
  version: 1,
  counts: {
    round: { at_most: 1, per: "phase", retry: true, spent: { end: "failed", because: "outcome" } },
  },
  phases: [{ id: "1", steps }],
};
export const flowWith = (more: Partial<Flow>): Flow => ({ ...flow, ...more });
export const phase: Draft = { event: "phase_started", walk: "1" };
export const began = (step: string, n: number, kind: "agent" | "run" | "check"): Draft => ({
  event: "step_started",
  walk: "1",
  step,
  attempt: `1@1/${step}#${n}`,
  kind,
  try: 1,
});
export const turned = (step: string, n: number): Draft => turnEnded(`1@1/${step}#${n}`, usage(10));
export const applied = (step: string, n: number): Draft => ({
  event: "changes_applied",
  attempt: `1@1/${step}#${n}`,
  commit: sha(5),
  parent: sha(1),
  tree: sha(5),
  paths: ["a"],
  not_applied: 0,
});
export const passed = (step: string, n: number, facts = {}): Draft => ({
  event: "step_completed",
  attempt: `1@1/${step}#${n}`,
  facts,
  progress: true,
});
export const failed = (step: string, n: number): Draft => ({
  event: "step_failed",
  attempt: `1@1/${step}#${n}`,
  facts: {},
  progress: true,
  fingerprint: `${step}${n}`,
  reason_code: "proof_missing",
});
export const planned = [phase, began("plan", 1, "run"), passed("plan", 1)];
export const worked = [
  ...planned,
  began("work", 1, "agent"),
  turned("work", 1),
  applied("work", 1),
  passed("work", 1),
];
export const looked = (n: number): Draft[] => [began("look", n, "check"), failed("look", n)];
