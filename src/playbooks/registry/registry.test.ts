// Every name that a flow may use for what is code is in docs/FLOWS.md: a writer of flows has no
// other place to learn it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limitRanges } from "../../contracts/tunable-limits.ts";
import { lintRegistry } from "./registry.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/FLOWS.md"), "utf8");
const isNamed = (name: string): boolean =>
  new RegExp(`\`[^\`\\n]*\\b${name.replace(".", "\\.")}\\b[^\`\\n]*\``).test(page);

test.each(["run", "proof", "schemas", "checks", "playbooks"] as const)(
  "every name under %s",
  (kind) => {
    const names = lintRegistry[kind] ?? [];
    expect(names.length).toBeGreaterThan(2);
    expect(names.filter((name) => !isNamed(name))).toEqual([]);
  },
);

test("every reader, every limit, and every field of a return that a row may read", () => {
  const { phases, tasks } = lintRegistry.readers;
  expect(
    [...phases, ...tasks, ...Object.keys(limitRanges)].filter((name) => !isNamed(name)),
  ).toEqual([]);

  const common = ["progress", "review", "judge", "staged"].flatMap((name) =>
    Object.keys(lintRegistry.factFieldsBySchema?.[name] ?? {}),
  );
  expect(common.filter((name) => !isNamed(name))).toEqual([]);
});
