// quality-gate-log: renders quality-gate.log: one line per check, the totals and the result.

import type { GateFound } from "../../../contracts/quality-facts.ts";
import { oneLine } from "../../../views/wording.ts";

const reasonCharsMax = 1_000;

/** `quality/results/quality-gate.log`: one line a check, the sum, and the result in the words other tools look for. */
export function gateLog({ found, ts }: { readonly found: GateFound; readonly ts: string }): string {
  const count = (verdict: string): number => found.checks.filter((check) => check.verdict === verdict).length;
  const failures = count("fail");
  const result = failures === 0 ? "GATE PASSED" : `GATE FAILED — ${failures} check(s) must be fixed`;
  return [
    `Terminal gate, judged by the runner at ${ts}`,
    ...found.checks.map(({ name, verdict, reason }) => `${verdict.toUpperCase()} ${oneLine(name)}: ${oneLine(reason, reasonCharsMax)}`),
    `Total: ${failures} FAIL, ${count("warn")} WARN`,
    `RESULT: ${result}`,
    "",
  ].join("\n");
}
