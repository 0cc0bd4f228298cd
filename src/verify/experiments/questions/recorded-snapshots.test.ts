import { expect, test } from "vitest";
import { findTestCases } from "../source-text/test-cases.ts";
import { filterFailedTests, alterSnapshot, findChangedSnapshots } from "./recorded-snapshots.ts";

test("every recorded answer becomes another one, and nothing else", () => {
  const text =
    '// Vitest Snapshot v1\n\nexports[`renders 1`] = `\n"net 100\ntotal 119"\n`;\n\nexports[`renders zero 1`] = `"net 9"`;\n';
  expect(alterSnapshot(text)).toBe(
    text.replace("total 119", "total 118").replace("net 9", "net 8"),
  );

  expect(alterSnapshot("APPLE\nFIG\n")).toBe("APPLE\nFIH\n");
});

test("new and changed snapshots are meant, and whoever compares with them is found by name", () => {
  const differences = ["test/__snapshots__/a.test.js.snap", "src/a.js"].map((path) => ({
    path,
    kind: "added" as const,
    was: null,
    now: null,
  }));

  const rowOf = (path: string) =>
    path.endsWith(".snap") ? { kind: "snapshot" as const, path: /x/ } : null;
  expect(findChangedSnapshots(differences, rowOf)).toEqual(["test/__snapshots__/a.test.js.snap"]);
  const cases = findTestCases(
    "test/a.test.js",
    "test('renders', () => {});\ntest('adds', () => {});\n",
  );

  const observed = { passed: false, failed: new Set(["test/a.test.js > renders"]), tests: null };
  expect(filterFailedTests(cases, observed).map(({ name }) => name)).toEqual(["renders"]);
});
