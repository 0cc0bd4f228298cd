import { expect, test } from "vitest";
import type { Check } from "../../../contracts/evidence.ts";
import type { Lab, Side } from "../lab.ts";
import { findDecidingTests } from "./candidates.ts";

const classOf = (name: string, lines: string): string =>
  `package parcel;\n\nclass ${name} {\n    static void run() {\n${lines}    }\n}\n`;
const tests = {
  "test/QuoteTest.java": classOf(
    "QuoteTest",
    '        assert Quote.total(1) == 510 : "one";\n        assert Quote.total(10) == 4845 : "ten";\n',
  ),
  "test/VolumeTest.java": classOf(
    "VolumeTest",
    '        assert Tariff.price(60, 40) == 290 + 39 * 110 : "bulky";\n',
  ),
};
const price = (body: string): string =>
  `package parcel;\n\nclass Tariff {\n    static int price(int a, int b) {\n        return ${body};\n    }\n}\n`;
const files: Readonly<Record<Side, Readonly<Record<string, string>>>> = {
  base: { ...tests, "src/Tariff.java": price("a") },
  work: { ...tests, "src/Tariff.java": price("a * b / 5000") },
};

test("where no test has a name, something is broken that speaks of what the work changed", async () => {
  const check = { command: "sh run-tests.sh", kind: "criterion" } as unknown as Check;
  const lab = {
    textAt: (side: Side, path: string) => Promise.resolve(files[side][path] ?? null),
    pathsAt: (side: Side) => Promise.resolve(Object.keys(files[side])),
    commands: [check.command],
    changedPaths: ["src/Tariff.java"],
    before: null,
    wasRed: true,
    now: { passed: true, failed: new Set(), tests: { ran: 0, failed: 0, skipped: 0 } },
  };
  for (const seed of ["a", "b", "c", "d"]) {
    const { singles } = await findDecidingTests(check, { ...lab, seed } as unknown as Lab);
    expect(singles.map(({ path }) => path)).toContain("test/VolumeTest.java");
  }
});
