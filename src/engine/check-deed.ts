import { checksFor } from "./checks.ts";
import { fingerprintOf, madeProgress } from "../core/breaker.ts";
import { judgeChecks } from "../core/completion.ts";
import { CalledOff, type Deed, settingOf } from "./deed.ts";

/** Runs the commands a check step stands for on the branch's newest commit. It only reads, so a crash repeats it. */
export async function checkDeed(deed: Deed): Promise<void> {
  const { run, walk, step } = settingOf(deed);
  const checks = checksFor(run, walk, step.check ?? []);
  const { cancel, world, attempt } = deed;
  const results = await world.verifier.check({ attempt, checks, commit: run.tip.commit, cancel: cancel.signal, onSignal: world.onSignal });
  if (cancel.signal.aborted) throw new CalledOff();
  const judged = judgeChecks(results, run.checks);
  const progress = madeProgress(run, walk.phase, { tree: run.tip.tree, checks: results, changed: false });
  const facts = {
    ran: results.length,
    passing: results.filter(({ status }) => status === "passed").length,
    failing: judged.failing.length,
    regressed: judged.regressed.length,
    red_before: judged.redBefore.length,
  };
  const common = { attempt, facts, checks: [...results], tree: run.tip.tree, progress };
  if (judged.passed) return deed.record({ event: "step_completed", ...common });
  const worst = [...judged.regressed, ...judged.failing];
  const detail = worst
    .map(({ check, status, exit_code }) => `${check.title}: ${status}${exit_code === null ? "" : ` (exit ${exit_code})`}`)
    .join("; ");
  const reason_code = judged.failing.length > 0 ? "criterion_failed" : "check_regressed";
  return deed.record({ event: "step_failed", ...common, fingerprint: fingerprintOf(reason_code, detail), detail, reason_code });
}
