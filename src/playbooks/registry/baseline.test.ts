// Checks that were found and cannot run are reported before the first turn is paid for, once.

import { expect, test } from "vitest";
import type { Check, CheckResult } from "../../contracts/evidence.ts";
import type { CursorView, RunView } from "../../core/state.ts";
import type { FunctionInput } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";
import { createBaselineStep } from "./baseline.ts";

const result = (
  kind: Check["kind"],
  status: CheckResult["status"],
  more: Partial<CheckResult> = {},
): CheckResult => ({
  check: { id: `${kind}:x`, kind, title: "npm test", command: "npm test", source: "package.json" },
  status,
  exit_code: 1,
  duration_ms: 1,
  evidence: "0".repeat(64),
  ...more,
});

function measured(results: readonly CheckResult[], before: Readonly<Record<string, boolean>> = {}) {
  const verifier = { check: () => Promise.resolve(results) } as unknown as Verifier;
  const state = { drafted: { checks: [], base: { commit: "c" } } } as unknown as RunView;
  return createBaselineStep(verifier).perform({
    state,
    previous: { facts: before },
  } as unknown as FunctionInput<RunView, CursorView>);
}

test("where no check can run, the step says so with the reason, and goes on when it is resumed as it is", async () => {
  const lacking = [
    result("project", "failed", {
      uninstalled: "registry.npmjs.org",
      why: "it asked for the network",
    }),
    result("project", "not_found"),
  ];
  expect(await measured(lacking)).toMatchObject({
    ok: true,
    facts: { unable: true },
    reason: "checks_cannot_run",
    detail: "npm test: it asked for the network; npm test: a command it names was not found",
  });

  expect(await measured(lacking, { unable: true })).toMatchObject({ facts: { unable: false } });
});

test("one that runs is enough, passing or not; a criterion for what is still to be written is none that was found", async () => {
  expect(
    await measured([result("project", "not_found"), result("criterion", "failed")]),
  ).toMatchObject({ facts: { unable: false } });

  expect(await measured([result("criterion", "not_found")])).toMatchObject({
    facts: { unable: false },
  });

  expect(await measured([])).toMatchObject({ facts: { unable: false } });
});
