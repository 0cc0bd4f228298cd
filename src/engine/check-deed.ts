import type { OracleChange } from "../contracts/evidence.ts";
import { checksFor } from "./checks.ts";
import { fingerprintOf, madeProgress } from "../core/breaker.ts";
import { judgeChecks } from "../core/completion.ts";
import { CalledOff, type Deed, settingOf } from "./deed.ts";
import { hearAgain } from "./hear.ts";

/**
 * Runs the commands a check step stands for on the branch's newest commit. It only reads, so a crash repeats it.
 * What judges is the base's: who is judged may not change it, unless the scope names it or a person approved.
 */
export async function checkDeed(deed: Deed): Promise<void> {
  const { run, walk, step } = settingOf(deed);
  const checks = checksFor(run, walk, step.check ?? []);
  const { cancel, world, attempt } = deed;
  const refused = await refusedOracles(deed);
  const results = await world.verifier.check({
    attempt,
    checks,
    commit: run.tip.commit,
    known: Object.fromEntries(Object.entries(run.checks).map(([id, { latest }]) => [id, latest.status])),
    recorded: Object.values(run.checks).flatMap(({ baseline, latest }) => [baseline, latest]),
    ...(refused.length === 0 ? {} : { oracles: { base: run.drafted.base.commit, changes: refused } }),
    cancel: cancel.signal,
    onSignal: world.onSignal,
  });
  if (cancel.isCalledOff) throw new CalledOff();
  const heard = await hearAgain(deed, results);
  const judged = judgeChecks(results, run.checks);
  const progress = madeProgress(run, walk.phase, { tree: run.tip.tree, checks: results, changed: false });
  const facts = {
    ran: results.length,
    passing: results.filter(({ status }) => status === "passed").length,
    failing: judged.failing.length,
    regressed: judged.regressed.length,
    red_before: judged.redBefore.length,
    flaky: results.filter(({ status }) => status === "flaky").length,
    quarantined: judged.quarantined.length,
    oracles: refused.length === 0 ? "kept" : "changed",
  };
  const common = { attempt, facts, checks: [...results], tree: run.tip.tree, progress };
  if (refused.length > 0) {
    const detail = oraclesIn(refused);
    const fingerprint = fingerprintOf("oracle_changed", detail);
    return deed.record(...heard, { event: "step_failed", ...common, fingerprint, detail, reason_code: "oracle_changed" });
  }
  if (judged.passed) return deed.record(...heard, { event: "step_completed", ...common });
  const worst = [...judged.regressed, ...judged.failing];
  const detail = worst
    .map(({ check, status, exit_code }) => `${check.title}: ${status}${exit_code === null ? "" : ` (exit ${exit_code})`}`)
    .join("; ");
  const reason_code = judged.isOnlyFlaky ? "check_flaky" : judged.failing.length > 0 ? "criterion_failed" : "check_regressed";
  return deed.record(...heard, { event: "step_failed", ...common, fingerprint: fingerprintOf(reason_code, detail), detail, reason_code });
}

const oraclesShownMax = 20;

const oraclesIn = (refused: readonly OracleChange[]): string =>
  refused
    .slice(0, oraclesShownMax)
    .map(({ path, how, detail }) => `${path} (${how}: ${detail})`)
    .join("; ");

/** The changed oracles that do not count; what was found is written down where it differs from what was known. */
async function refusedOracles(deed: Deed): Promise<readonly OracleChange[]> {
  const { run } = settingOf(deed);
  const { base, objective } = run.drafted;
  const { commit } = run.tip;
  const { content, changes } = await deed.world.verifier.oracles({
    base: base.commit,
    commit,
    scope: objective.scope,
    approved: run.approved ?? [],
    checks: run.drafted.checks,
  });
  const isNews = JSON.stringify([content, changes]) !== JSON.stringify([run.oracles?.content ?? content, run.oracles?.changes ?? []]);
  if (isNews) await deed.record({ event: "oracles_judged", attempt: deed.attempt, commit, content, changes: [...changes] });
  return changes.filter(({ allowed }) => allowed === null);
}
