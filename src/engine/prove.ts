import type { CheckResult } from "../contracts/evidence.ts";
import type { Gate } from "../contracts/flow.ts";
import type { Facts } from "../contracts/outcome.ts";
import { invariant } from "../kit/invariant.ts";
import { CalledOff, type Deed, memoryOf, settingOf } from "./deed.ts";

export type Proved = { readonly holds: boolean; readonly detail: string; readonly facts: Facts; readonly checks: readonly CheckResult[] };

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
  if (gates.length > 0) {
    const result = await world.verifier.prove({ ...shared, gates: gates.map((gate) => placedGate(gate, walk.phase)) });
    checks.push(...result.checks);
    failures.push(...result.failures.map(({ rule, file, found, expected }) => `${rule}${file === null ? "" : ` ${file}`}: found ${found}, expected ${expected}`));
  }
  for (const name of names) {
    const known = world.functions.proof[name];
    invariant(known !== undefined, `a proof is in the registry: ${name}`);
    const result = await known.prove({ ...shared, ...memoryOf(walk, step), state: run, walk });
    facts = { ...facts, ...result.facts };
    checks.push(...(result.checks ?? []));
    if (!result.ok) failures.push(`${name}: ${result.detail ?? "does not hold"}`);
  }
  if (cancel.signal.aborted) throw new CalledOff();
  return { holds: failures.length === 0, detail: failures.join("; "), facts, checks };
}

/** Puts the phase's own folder and id into an artifact rule. */
export function placedGate(gate: Gate, phase: string): Gate {
  const text = JSON.stringify(gate).replaceAll("{phase_dir}", `.planning/phases/${phase}`).replaceAll("{phase}", phase);
  return JSON.parse(text) as Gate;
}
