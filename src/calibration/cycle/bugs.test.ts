import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Bug, normalizeTitle, parseBugs, measureRecall } from "./bugs.ts";
import { parseMetric } from "./metric.ts";
import { tries } from "../../../test/support/sampled.ts";

const bug = (
  id: string,
  title = "",
  file: string | null = null,
  lines: readonly [number, number] | null = null,
): Bug => ({
  id,
  title,
  file,
  lines,
});

describe("BUGS.md", () => {
  test("a heading is a bug; its file and lines stand in its text", () => {
    const text = [
      "# Bugs",
      "### BUG-001: `close()` twice",
      "**File:** `src/driver.c`",
      "**Lines:** 10-20",
      "### BUG-H-2 — leak in src/net/pool.c:30",
      "```",
      "### BUG-999: inside a fence",
      "```",
      "## Not a bug",
      "lib/x.ts:1",
      "### BUG-003",
      "See lib/y.ts:7–9 and lib/z.ts:1.",
      "### BUG-003: again",
    ].join("\n");
    expect(parseBugs(text)).toEqual([
      bug("BUG-001", "`close()` twice", "src/driver.c", [10, 20]),
      bug("BUG-H-2", "leak in src/net/pool.c:30", "src/net/pool.c", [30, 30]),
      bug("BUG-003", "", "lib/y.ts", [7, 9]),
    ]);
  });

  test("a text without bugs has none, and a hostile one ends", () => {
    expect(parseBugs("")).toEqual([]);
    expect(parseBugs(`### BUG-${"A-".repeat(50_000)}`).length).toBeLessThan(2);
    expect(parseBugs(`### BUG-1\n${"a/".repeat(50_000)}`)).toHaveLength(1);
  });
});

describe("recall", () => {
  test("by id, then by file and lines, then by title, each with its reason", () => {
    const baseline = [
      bug("BUG-001", "one"),
      bug("BUG-002", "two", "src/a.c", [10, 20]),
      bug("BUG-003", "Off by one!"),
      bug("BUG-004", "four"),
    ];

    const found = [
      bug("BUG-001", "x"),
      bug("BUG-007", "y", "a.c", [15, 15]),
      bug("BUG-008", "off by  ONE"),
    ];

    const { recall, matches, missedIds } = measureRecall(baseline, found);
    expect(recall).toBe(0.75);
    expect(matches.map(({ baseline: known, found: as, by }) => `${known} ${as} ${by}`)).toEqual([
      "BUG-001 BUG-001 id",
      "BUG-002 BUG-007 place",
      "BUG-003 BUG-008 title",
    ]);

    expect(missedIds).toEqual(["BUG-004"]);
  });

  test("an id alone does not match bugs of different files", () => {
    const { recall } = measureRecall(
      [bug("BUG-001", "one", "src/a.c", [1, 1])],
      [bug("BUG-001", "other", "src/b.c", [1, 1])],
    );
    expect(recall).toBe(0);
  });

  test("an empty baseline has no recall", () => {
    expect(measureRecall([], [bug("BUG-001")]).recall).toBeNull();
  });

  test("one found bug stands for one known bug, in whatever order the files are", () => {
    const some = fc.uniqueArray(
      fc.record({
        id: fc.integer({ min: 1, max: 8 }).map((n) => `BUG-00${n}`),
        title: fc.constantFrom("", "leak", "race", "off by one"),
        file: fc.constantFrom(null, "src/a.c", "a.c", "b.c"),
        lines: fc.option(fc.integer({ min: 1, max: 5 }).map((n): [number, number] => [n, n + 2])),
      }),
      { selector: ({ id }) => id, maxLength: 7 },
    );
    fc.assert(
      fc.property(some, some, (baseline, found) => {
        const recalled = measureRecall(baseline, found);
        const turned = measureRecall(baseline.toReversed(), found.toReversed());
        expect(turned.matches).toEqual(recalled.matches);
        expect(new Set(recalled.matches.map((match) => match.baseline)).size).toBe(
          recalled.matches.length,
        );

        expect(new Set(recalled.matches.map((match) => match.found)).size).toBe(
          recalled.matches.length,
        );

        expect(recalled.missedIds.length + recalled.matches.length).toBe(baseline.length);
        if (baseline.length > 0) expect(measureRecall(baseline, baseline).recall).toBe(1);
      }),
      { numRuns: tries(300) },
    );
  });

  test("titles are compared by their words", () => {
    expect(normalizeTitle("`Foo`:  Bar—baz ")).toBe("foo bar baz");
  });
});

describe("a printed metric", () => {
  test.each([
    ["cost=1.25", { value: 1.25 }],
    ["noise\ncost: 2\ncost = 3e-1\nbye", { value: 0.3 }],
    ['{"cost": 4, "x": 1}', { value: 4 }],
    ["costs=9\ncost=-7", { value: -7 }],
  ])("%j", (text, wanted) => expect(parseMetric(text, "cost")).toEqual(wanted));

  test.each(["", "cost=NaN", "cost=Infinity", '{"cost": "many"}', "cost=1,5", '{"cost": null}'])(
    "%j is none",
    (text) => {
      expect(parseMetric(text, "cost")).toHaveProperty("problem");
    },
  );
});
