import { fingerprintOf } from "../core/breaker.ts";
import { invariant } from "../kit/invariant.ts";
import { CalledOff, type Deed, memoryOf, settingOf } from "./deed.ts";
import { completeProved, lockedBy } from "./prove.ts";

/** The runner's own deed, by name. What it found on the disk enters the run as its recorded outcome. */
export async function runDeed(deed: Deed): Promise<void> {
  const { run, walk, step } = settingOf(deed);
  const name = step.run ?? "";
  const known = deed.world.functions.run[name];
  invariant(known !== undefined, `a function is in the registry: ${name}`);
  const { attempt, cancel, world } = deed;
  const result = await known.perform({
    attempt,
    state: run,
    walk,
    commit: run.tip.commit,
    changed: [],
    ...memoryOf(walk, step),
    cancel: cancel.signal,
    onSignal: world.onSignal,
  });
  const stands = result.stands === true && (step.proof ?? []).length === 0;
  if (cancel.isCalledOff && !stands) throw new CalledOff();
  if (result.applied !== undefined) {
    const { commit, parent, tree, paths, notApplied } = result.applied;
    await deed.record({ event: "changes_applied", attempt, commit, parent, tree, paths: [...paths], not_applied: notApplied });
  }
  for (const differed of result.differed ?? []) await deed.record({ event: "document_differed", ...differed });
  const common = {
    attempt,
    facts: result.facts,
    ...(result.checks === undefined ? {} : { checks: [...result.checks] }),
    ...(result.detail === undefined ? {} : { detail: result.detail }),
    reason_code: result.reason ?? "ok",
  };
  if (stands) return deed.recordDone({ event: "step_completed", ...common });
  if (result.ok) return completeProved(deed, { ...common, ...lockedBy(result.locks) });
  return deed.record({ event: "step_failed", ...common, fingerprint: fingerprintOf(result.reason ?? name, result.detail ?? "") });
}
