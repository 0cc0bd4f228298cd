import { describe, expect, test } from "vitest";
import type { CheckResult, Evidence } from "../../contracts/evidence.ts";
import { addWhatOthersLeave, type Examined, listShown } from "./compare-checks.ts";
import type { ExperimentFindings } from "./experiment-on-check.ts";

const examine = (
  command: string,
  findings: Partial<ExperimentFindings>,
  before: "passed" | "failed" = "failed",
): Examined => ({
  result: { check: { kind: "criterion", command }, status: "passed" } as CheckResult,
  baseline: { status: before } as Evidence,
  findings,
});
const gapsOf = (...examined: readonly Examined[]): readonly (string | undefined)[] =>
  examined.map(({ findings }) => addWhatOthersLeave(findings ?? {}, listShown(examined)).gap);

describe("what a check leaves open is a gap", () => {
  const noticed = { without_work: { outcome: "noticed", detail: "" } } as const;
  const unrun = examine("make check", { open: "never runs it", ...noticed });

  test("unless another one shows the work", () => {
    expect(gapsOf(unrun, examine("npm test", {}))).toEqual([undefined, undefined]);
    expect(gapsOf(unrun, examine("npm test", noticed, "passed"))).toEqual([undefined, undefined]);
  });

  test("also if it fails without the work, since it runs none of the new code", () => {
    expect(gapsOf(unrun)).toEqual(["never runs it"]);
    expect(gapsOf(unrun, examine("npm test", {}, "passed"))).toEqual(["never runs it", undefined]);
    expect(gapsOf(unrun, examine("grep -q it a.c", {}))).toEqual(["never runs it", undefined]);
  });
});

describe("a function of the work", () => {
  const [seven, nine] = ["seven", "nine"].map((name) => {
    return { path: `src/${name}.js`, name, line: 1, changes: [] };
  }) as [never, never];
  const some = examine("node --test test/nine.test.js", {
    mutated: { noticed: [nine], unnoticed: [seven] },
  });
  const all = examine("node --test test/", { mutated: { noticed: [seven, nine], unnoticed: [] } });

  test("that no test notices is a gap, before what else was found", () => {
    const found = { ...some, findings: { ...some.findings, gap: "its tests are skipped" } };
    expect(gapsOf(found)).toEqual([
      "no test notices when seven (src/seven.js:1) answers something else; its tests are skipped",
    ]);
  });

  test("that another check's tests notice is none", () => {
    expect(gapsOf(some, all)).toEqual([undefined, undefined]);
    expect(gapsOf(all, some)).toEqual([undefined, undefined]);
  });
});
