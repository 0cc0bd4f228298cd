import { fingerprintOf } from "../core/breaker.ts";
import { CalledOff, type Deed, settingOf } from "./deed.ts";
import { completeProved } from "./prove.ts";

/** Another flow as a child run with a journal of its own; after a crash it goes on from there. */
export async function flowDeed(deed: Deed): Promise<void> {
  const { step } = settingOf(deed);
  const { attempt, cancel } = deed;
  const result = await deed.world.children.run({ attempt, flow: step.flow ?? "", options: step.with ?? {}, cancel: cancel.signal });
  if (cancel.isCalledOff) throw new CalledOff();
  const { facts, detail, usage } = result;
  const ended = { facts, detail, ...(usage === undefined ? {} : { usage }) };
  if (result.ok) return completeProved(deed, { attempt, ...ended });
  return deed.record({
    event: "step_failed",
    attempt,
    ...ended,
    fingerprint: fingerprintOf("child_run", result.detail),
    reason_code: "phase_failed",
  });
}
