// quality-gate-log: renders quality-gate.log: one line per check, the totals and the result.

import type { GateResult } from "../../../contracts/quality/quality-facts.ts";
import { oneLine } from "../../../views/wording.ts";

const reasonCharsMax = 1_000;

/** The wording of the last line is fixed: other tools search for it. */
export function renderGateLog({
  result,
  ts,
}: {
  readonly result: GateResult;
  readonly ts: string;
}): string {
  const count = (verdict: string): number =>
    result.checks.filter((check) => check.verdict === verdict).length;
  const failures = count("fail");
  const conclusion =
    failures === 0 ? "GATE PASSED" : `GATE FAILED — ${failures} check(s) must be fixed`;

  return [
    `Terminal gate, judged by the runner at ${ts}`,
    ...result.checks.map(
      ({ name, verdict, reason }) =>
        `${verdict.toUpperCase()} ${oneLine(name)}: ${oneLine(reason, reasonCharsMax)}`,
    ),
    `Total: ${failures} FAIL, ${count("warn")} WARN`,
    `RESULT: ${conclusion}`,
    "",
  ].join("\n");
}
