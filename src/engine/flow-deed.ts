import { fingerprintOf } from "../core/breaker.ts";
import { CalledOff, type Deed, settingOf } from "./deed.ts";

/** Another flow as a child run with a journal of its own; after a crash it goes on from there. */
export async function flowDeed(deed: Deed): Promise<void> {
  const { step } = settingOf(deed);
  const { attempt, cancel } = deed;
  const result = await deed.world.children.run({ attempt, flow: step.flow ?? "", options: step.with ?? {}, cancel: cancel.signal });
  if (cancel.signal.aborted) throw new CalledOff();
  if (result.ok) return deed.record({ event: "step_completed", attempt, facts: result.facts, detail: result.detail });
  return deed.record({ event: "step_failed", attempt, facts: result.facts, fingerprint: fingerprintOf("child_run", result.detail), detail: result.detail, reason_code: "phase_failed" });
}
