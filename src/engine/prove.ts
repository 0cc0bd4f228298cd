import type { Check, CheckResult } from "../contracts/evidence.ts";
import type { EventOf } from "../contracts/event.ts";
import type { Gate } from "../contracts/flow.ts";
import type { Facts } from "../contracts/outcome.ts";
import { fingerprintOf } from "../core/breaker.ts";
import { invariant } from "../kit/invariant.ts";
import { CalledOff, type Deed, memoryOf, settingOf } from "./deed.ts";

export type Proved = {
  readonly holds: boolean;
  readonly detail: string;
  readonly facts: Facts;
  readonly checks: readonly CheckResult[];
  readonly locks?: readonly Check[];
};

/** Whether a step's proof holds on the branch's newest commit: artifact rules, and named proofs from the registry. */
export async function prove(deed: Deed): Promise<Proved> {
  const { run, walk, step, open } = settingOf(deed);
  const { attempt, cancel, world } = deed;
  const gates = (step.proof ?? []).filter((proof): proof is Gate => typeof proof !== "string");
  const names = (step.proof ?? []).filter((proof) => typeof proof === "string");
  const commit = run.tip.commit;
  const shared = { attempt, commit, changed: open.paths, cancel: cancel.signal, onSignal: world.onSignal };

  const failures: string[] = [];
  const checks: CheckResult[] = [];
  let facts: Facts = {};
  let locks: readonly Check[] | undefined;
  if (gates.length > 0) {
    const result = await world.verifier.prove({ ...shared, gates: gates.map((gate) => placedGate(gate, walk.phase, walk.task ?? "")) });
    checks.push(...result.checks);
    failures.push(
      ...result.failures.map(
        ({ rule, file, found, expected }) => `${rule}${file === null ? "" : ` ${file}`}: found ${found}, expected ${expected}`,
      ),
    );
  }
  for (const name of names) {
    const known = world.functions.proof[name];
    invariant(known !== undefined, `a proof is in the registry: ${name}`);
    const result = await known.prove({ ...shared, ...memoryOf(walk, step), state: run, walk });
    facts = { ...facts, ...result.facts };
    checks.push(...(result.checks ?? []));
    locks = result.locks ?? locks;
    if (!result.ok) failures.push(`${name}: ${result.detail ?? "does not hold"}`);
  }
  if (cancel.isCalledOff) throw new CalledOff();
  return { holds: failures.length === 0, detail: failures.join("; "), facts, checks, ...(locks === undefined ? {} : { locks }) };
}

/** Records a deed that went well as completed, or as failed where the step's own proof does not hold. */
export async function completeProved(
  deed: Deed,
  outcome: Omit<EventOf<"step_completed">, "event" | "actor" | "reason_code"> & { readonly reason_code?: string },
): Promise<void> {
  if ((settingOf(deed).step.proof ?? []).length === 0) return deed.record({ event: "step_completed", ...outcome });
  const proof = await prove(deed);
  const proved = { ...outcome, facts: { ...outcome.facts, ...proof.facts }, checks: [...(outcome.checks ?? []), ...proof.checks] };
  if (proof.holds) return deed.record({ event: "step_completed", ...proved, ...lockedBy(proof.locks) });
  return deed.record({
    event: "step_failed",
    ...proved,
    detail: proof.detail,
    fingerprint: fingerprintOf("proof_missing", proof.detail),
    reason_code: "proof_missing",
  });
}

export const lockedBy = (locks: readonly Check[] | undefined): { readonly locks?: Check[] } =>
  locks === undefined ? {} : { locks: [...locks] };

/** Where a phase's own documents lie, for flows that keep them by phase. */
export const phaseDir = (phase: string): string => `.planning/phases/${phase}`;

/** Puts the phase's own folder and id, and the task's id, into an artifact rule. */
export function placedGate(gate: Gate, phase: string, task = ""): Gate {
  const text = JSON.stringify(gate).replaceAll("{phase_dir}", phaseDir(phase)).replaceAll("{phase}", phase).replaceAll("{task}", task);
  return JSON.parse(text) as Gate;
}
