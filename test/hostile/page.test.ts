// docs/ISOLATION.md says of every hostile action at every level what the suite measures, and of
// every level what it says of itself.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { actions, holes, levels } from "./table.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/ISOLATION.md"), "utf8");

/** The page's table, as the suite's own data would have it. */
export function rows(): readonly string[] {
  const head = [
    `| action | an agent that … | ${levels.join(" | ")} |`,
    `|---|---|${levels.map(() => "---").join("|")}|`,
  ];

  const body = actions.map(({ id, tries }) => {
    const cells = levels.map((level) => (holes[level].includes(id) ? "**out**" : "held"));
    return `| ${id} | ${tries} | ${cells.join(" | ")} |`;
  });
  return [...head, ...body];
}

test("the page's table is the suite's", () => {
  const written = page
    .split("\n")
    .filter((line) =>
      /^\| (action|[a-z]+\/)|^\|---\|---\|---\|---\|---\|---\|---\|---\|$/.test(line),
    );
  expect(written).toEqual(rows());
});

test("the page counts what gets out of each level", () => {
  for (const level of levels) {
    expect(page).toContain(`| ${level} | ${holes[level].length} of ${actions.length} |`);
  }
});
