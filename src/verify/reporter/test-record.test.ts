import { describe, expect, test } from "vitest";
import type { Evidence } from "../../contracts/evidence.ts";
import { findBrokenTests, toTestNames } from "../detect/test-names.ts";
import { chooseTestSource, describeRecordGap } from "./choose-test-source.ts";
import { openRecord, type TestRecord } from "./test-record.ts";

const nonce = "n0";
function recordOf(...lines: readonly string[]): TestRecord | null {
  const reader = openRecord(nonce, ["/check"]);
  for (const line of lines) reader.addLine(line.replaceAll(" | ", "\t"));
  return reader.take((path) => path.startsWith("test/"));
}

describe("a record of a check's tests", () => {
  test("counts and names what a runner told, with paths as the project knows them", () => {
    const record = recordOf(
      "n0 | 1 | runner | pytest",
      "n0 | 1 | test | passed | /check/test_a.py::test_one",
      "n0 | 1 | test | failed | test_a.py::test_two%5B1%5D",
      "n0 | 1 | test | skipped | test_a.py::test_three",
      "n0 | 1 | done",
    );
    expect(record).toMatchObject({
      runners: ["pytest"],
      tests: { ran: 2, failed: 1, skipped: 1 },
      unended: 0,
      foreignLines: 0,
    });

    expect([...(record?.names.passed ?? [])]).toEqual(["test_a.py::test_one"]);
    expect([...(record?.names.failed.keys() ?? [])]).toEqual(["test_a.py::test_two[1]"]);
  });

  test("says of a test that nobody came to nothing, so that it is not called broken later", () => {
    const before = recordOf(
      "n0 | 1 | runner | node:test",
      "n0 | 1 | test | passed | one",
      "n0 | 1 | test | failed | two",
      "n0 | 1 | done",
    );

    const now = recordOf(
      "n0 | 1 | runner | node:test",
      "n0 | 1 | test | failed | one",
      "n0 | 1 | test | failed | later",
      "n0 | 1 | done",
    );
    if (before === null || now === null) throw new Error("no record");
    expect(findBrokenTests(toTestNames(before.names), [now.names], true)).toEqual(["one"]);
  });

  test("is none where no runner reported", () => {
    expect(recordOf("n0 | 1 | open | python", "n0 | 1 | close")).toBeNull();
  });

  test("does not hear who does not know the nonce, and says that somebody was there", () => {
    const record = recordOf(
      "n0 | 1 | runner | jest",
      "n1 | 1 | test | passed | a forged test",
      "n0 | 1 | done",
    );
    expect(record).toMatchObject({ tests: { ran: 0 }, foreignLines: 1 });
  });

  test("a failure that was told stays one, whatever is told after it", () => {
    const record = recordOf(
      "n0 | 1 | runner | jest",
      "n0 | 1 | test | failed | a",
      "n0 | 1 | test | passed | a",
      "n0 | 1 | done",
    );
    expect([...(record?.names.passed ?? [])]).toEqual([]);
    expect(record?.tests.failed).toBe(1);
  });

  test("tells of processes and runners that never came to their end", () => {
    expect(
      recordOf("n0 | 1 | runner | node:test", "n0 | 2 | open | node", "n0 | 1 | done")?.unended,
    ).toBe(1);

    expect(recordOf("n0 | 1 | open | python", "n0 | 1 | runner | pytest")?.unended).toBe(1);
  });

  test("what one process replaced and put back between its tests is not told, what another did is", () => {
    const lines = [
      "n0 | 1 | runner | vitest",
      "n0 | 2 | replaced | Date",
      "n0 | 2 | restored | Date",
      "n0 | 2 | replaced | Math.random",
    ];
    expect(
      recordOf(...lines, "n0 | 3 | restored | Math.random", "n0 | 1 | done")?.replaced,
    ).toEqual(["Math.random"]);
  });

  test("a file with tests that ran none is told, as in the output", () => {
    const record = recordOf(
      "n0 | 1 | runner | node:test",
      "n0 | 1 | file | passed | test/a.test.js",
      "n0 | 1 | done",
    );
    expect(record?.tests).toEqual({ ran: 1, failed: 0, skipped: 0, empty: 1 });
  });
});

const heard = {
  tests: { ran: 2, failed: 0, skipped: 0 },
  names: { passed: new Set<string>(), failed: new Map(), whole: new Set<string>() },
  failing: [],
};
const before = (recorded: Evidence["recorded"]): Evidence => ({ recorded }) as Evidence;
const record = (...more: readonly string[]): TestRecord | null =>
  recordOf(
    "n0 | 1 | runner | pytest",
    "n0 | 1 | test | passed | a",
    "n0 | 1 | test | passed | b",
    ...more,
    "n0 | 1 | done",
  );

describe("more than is read", () => {
  const flooded = (...lines: readonly string[]): TestRecord | null => {
    const reader = openRecord(nonce, ["/check"]);
    reader.addLine("n0\t1\trunner\tjest");
    for (const line of lines) reader.addLine(line.replaceAll(" | ", "\t"), true);

    return reader.take(() => true);
  };

  test("is told, and its failures count all the same", () => {
    const found = flooded(
      "n0 | 1 | test | passed | a",
      "n0 | 1 | test | failed | b",
      "n0 | 1 | restored | Math.random",
    );
    expect(found).toMatchObject({ tests: { ran: 1, failed: 1 }, isTruncated: true });
    expect([...(found?.names.failed.keys() ?? [])]).toEqual(["b"]);
  });

  test("so many tests too", () => {
    const reader = openRecord(nonce, ["/check"], 3);
    reader.addLine("n0\t1\trunner\tjest");
    for (let index = 0; index < 3; index += 1) reader.addLine(`n0\t1\ttest\tpassed\t${index}`);
    expect(reader.take(() => true)).toMatchObject({ tests: { ran: 3 }, isTruncated: false });
    reader.addLine("n0\t1\ttest\tfailed\tb");
    expect(reader.take(() => true)).toMatchObject({ tests: { failed: 1 }, isTruncated: true });
  });

  test("is a gap, and not whole", () => {
    const found = flooded("n0 | 1 | test | failed | b");
    const was = before({ runners: ["jest"], isWhole: true, replaced: [], unended: 1 });
    expect(chooseTestSource(heard, found, null).recorded?.isWhole).toBe(false);
    const { tests, recorded } = chooseTestSource(heard, found, was);
    expect(tests?.failed).toBe(1);
    expect(describeRecordGap({ recorded, foreignLines: 0 }, was)).toContain(
      "reported more than is read",
    );
  });
});

describe("of output and record", () => {
  test("the record counts where it tells of as many tests as the output before the work", () => {
    expect(chooseTestSource(heard, record(), null)).toMatchObject({
      tests: { ran: 2 },
      recorded: { isWhole: true },
    });

    const more = { ...heard, tests: { ran: 3, failed: 0, skipped: 0 } };
    expect(chooseTestSource(more, record(), null)).toMatchObject({
      tests: { ran: 3 },
      recorded: { isWhole: false },
    });

    expect(chooseTestSource({ ...heard, tests: null }, record(), null)).toMatchObject({
      tests: { ran: 2 },
      recorded: { isWhole: true },
    });
  });

  test("the output counts where the record also tells of runs within tests", () => {
    const within = record("n0 | 1 | test | failed | meant to fail");
    expect(chooseTestSource(heard, within, null)).toMatchObject({
      tests: { ran: 2, failed: 0 },
      recorded: { isWhole: false },
    });
  });

  test("and then it counts whatever is printed", () => {
    const forged = { ...heard, tests: { ran: 30, failed: 0, skipped: 0 } };
    const was = before({ runners: ["pytest"], isWhole: true, replaced: [], unended: 0 });
    expect(chooseTestSource(forged, record(), was)).toMatchObject({ tests: { ran: 2 } });
  });
});

describe("a pass leaves open", () => {
  const was = before({ runners: ["pytest"], isWhole: true, replaced: ["random.seed"], unended: 0 });
  const gapOf = (...lines: readonly string[]): string | null => {
    const found = record(...lines);
    return describeRecordGap(
      {
        recorded: chooseTestSource(heard, found, was).recorded,
        foreignLines: found?.foreignLines ?? 0,
      },
      was,
    );
  };
  test("nothing, if all is as it was", () =>
    expect(gapOf("n0 | 1 | replaced | random.seed")).toBeNull());
  test("which built-ins were replaced", () =>
    expect(gapOf("n0 | 1 | replaced | random.random")).toBe(
      "as it ran, random.random was replaced, which tests rely on, so a person has to look at that",
    ));

  test("nothing about what a runner replaces in its process, if it ran no test before", () => {
    const ranNone = { ...was, tests: { ran: 0, failed: 0, skipped: 0 } };
    const found = record("n0 | 1 | replaced | process.exit", "n0 | 1 | replaced | Math.random");
    const { recorded } = chooseTestSource(heard, found, ranNone);
    expect(describeRecordGap({ recorded, foreignLines: 0 }, ranNone)).toMatch(
      /^as it ran, Math\.random was replaced/,
    );
  });

  test("that something was ended early", () =>
    expect(gapOf("n0 | 2 | open | python")).toContain("ended before it could report"));
  test("that somebody else wrote to the channel", () =>
    expect(gapOf("anything")).toContain("somebody else wrote"));
  test("that nothing was reported any more", () =>
    expect(describeRecordGap({ recorded: null, foreignLines: 0 }, was)).toContain(
      "pytest reported to us before the work and does not now",
    ));

  test("nothing, if there was no record before the work", () =>
    expect(describeRecordGap({ recorded: null, foreignLines: 0 }, before(undefined))).toBeNull());
});
