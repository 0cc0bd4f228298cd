import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sortTopologically, findCycles } from "../../../documents/graph.ts";
import { selectCompletedPhases, orderPhases, selectPhases } from "./order.ts";
import { comparePhaseIds, parsePhaseId } from "../../../documents/phase-id.ts";

/** `3:1,2` is phase 3 after 1 and 2. */
const phases = (...rows: readonly string[]) =>
  rows.map((row) => {
    const [id = "", after = ""] = row.split(":");
    return { id, depends_on: after === "" ? [] : after.split(",") };
  });
const none = new Set<string>();
const ids = (
  word: string,
  rows: ReturnType<typeof phases>,
  completed: ReadonlySet<string> = none,
): readonly string[] => {
  const selected = selectPhases(word, rows, completed);
  return "ids" in selected ? selected.ids : [selected.problem];
};

test("ids sort by number, part by part, and have one form", () => {
  expect(["10", "2.10", "2", "2.9", "1", "2.1"].sort(comparePhaseIds)).toEqual([
    "1",
    "2",
    "2.1",
    "2.9",
    "2.10",
    "10",
  ]);

  expect(["03", "2.01", "1.2.3", "", "a", "1.", "1234567890"].map(parsePhaseId)).toEqual([
    "3",
    "2.1",
    "1.2.3",
    null,
    null,
    null,
    null,
  ]);
});

describe("execution order", () => {
  test("is topological, ties by number; a dependency on a higher id is legal", () => {
    expect(orderPhases(phases("14:10,15", "15:4", "10:4", "4", "2.10", "2.9", "16:15"))).toEqual([
      "2.9",
      "2.10",
      "4",
      "10",
      "15",
      "14",
      "16",
    ]);

    expect(orderPhases(phases("1", "2:9", "3", "9"))).toEqual(["1", "3", "9", "2"]);
  });

  test("what waits for itself stands last, by number", () => {
    expect(orderPhases(phases("1:2", "2:1", "3", "4:1"))).toEqual(["3", "1", "2", "4"]);
  });

  test("a phase that is not asked for passes its order on, and delays nobody", () => {
    const rows = phases("1:7", "2:9", "5", "7:8", "8", "9");
    expect(orderPhases(rows, new Set(["1", "8"]))).toEqual(["8", "1"]);
    expect(orderPhases(rows, new Set(["2", "5"]))).toEqual(["2", "5"]);
  });

  test("for any graph: every phase once, none before what it comes after, the least of the possible ones first", () => {
    const graph = fc.array(fc.array(fc.nat(30), { maxLength: 4 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(graph, (edges) => {
        const rows = edges.map((after, n) => ({
          id: String(n),
          depends_on: after.filter((on) => on < n).map(String),
        }));
        const order = orderPhases(rows.toReversed());
        expect(order.toSorted(comparePhaseIds)).toEqual(rows.map(({ id }) => id));
        const done = new Set<string>();

        for (const id of order) {
          const possible = rows.filter(
            (row) => !done.has(row.id) && row.depends_on.every((on) => done.has(on)),
          );
          expect(id).toBe(possible[0]?.id);
          done.add(id);
        }
      }),
    );
  });

  test("a chain of 2,000 is walked without running out of stack", () => {
    const chain = Array.from({ length: 2_000 }, (_, n) => ({
      id: String(n),
      depends_on: [String(n + 1)],
    }));
    expect(orderPhases(chain)[0]).toBe("1999");
    const ring = chain.map(({ id, depends_on }) => ({
      id,
      after: id === "1999" ? ["0"] : depends_on,
    }));
    expect(findCycles(ring, comparePhaseIds)[0]).toHaveLength(2_001);
  });
});

test("twice as many phases take hardly more than twice the comparisons", () => {
  const comparisons = (count: number): number => {
    let made = 0;
    const nodes = Array.from({ length: count }, (_, n) => ({
      id: String((n * 7919) % count),
      after: n % 3 === 0 ? [] : [String(n >> 1)],
    }));

    const counted = (a: string, b: string): number => {
      made += 1;
      return comparePhaseIds(a, b);
    };
    sortTopologically(nodes, counted);
    findCycles(nodes, counted);

    return made;
  };
  expect(comparisons(500)).toBeLessThan(3 * comparisons(250));
});

describe("selections", () => {
  const rows = phases("1", "2:1", "2.1:2", "3", "3.1:3", "5:3", "7", "7.1:7", "8:1");

  test.each([
    ["3", ["3"]],
    ["2.1", ["2.1"]],
    ["02.1", ["2.1"]],
    ["3-7", ["3", "3.1", "5", "7"]],
    ["2-3", ["2", "2.1", "3"]],
    ["4-6", ["5"]],
    ["8,3,1", ["1", "3", "8"]],
    ["7-7.1, 1", ["1", "7", "7.1"]],
    ["all", ["1", "2", "2.1", "3", "3.1", "5", "7", "7.1", "8"]],
    ["next", ["1"]],
  ])("%s takes %j", (word, expected) => {
    expect(ids(word, rows)).toEqual(expected);
  });

  test("next and all leave out what is completed; both may be nothing", () => {
    expect(ids("next", rows, new Set(["1", "2"]))).toEqual(["2.1"]);
    expect(ids("next", phases("1:2", "2", "3"), new Set(["3"]))).toEqual(["2"]);
    expect(ids("all", rows, new Set(["1", "2", "3", "5"]))).toEqual([
      "2.1",
      "3.1",
      "7",
      "7.1",
      "8",
    ]);

    expect(ids("next", rows, new Set(rows.map(({ id }) => id)))).toEqual([]);
  });

  test("a phase that was named is taken although it is completed", () => {
    expect(ids("1,3", rows, new Set(["1"]))).toEqual(["1", "3"]);
  });

  test.each([
    ["9", /names no phase.*1, 2/],
    ["7-3", /smaller id first: 3-7/],
    ["", /expected an id/],
    ["3,,5", /expected an id/],
    ["first", /expected an id/],
    ["1, x, 40", /"x".*40/],
  ])("%j is refused in words", (word, why) => {
    expect(selectPhases(word, rows, none)).toEqual({
      problem: expect.stringMatching(why) as string,
    });
  });
});

test("completed is what state and archive know; the box counts only where they know nothing", () => {
  const boxes = [
    { id: "1", checked: true },
    { id: "2", checked: true },
    { id: "3", checked: false },
    { id: "4", checked: false },
  ];

  const known = new Map([
    ["2", false],
    ["3", true],
  ]);
  expect([...selectCompletedPhases(boxes, known)]).toEqual(["1", "3"]);
});
