import { expect, test } from "vitest";
import { findTestCases } from "../source-text/test-cases.ts";
import {
  areAskedElsewhere,
  filterFailedTests,
  alterSnapshot,
  findChangedSnapshots,
} from "./recorded-snapshots.ts";

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
    is: null,
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

test("records of functions that older tests ask, which failed before, say nothing new", () => {
  const source = (render: string, total: string) =>
    `export function render(rows) {\n  return ${render};\n}\nexport function total(rows) {\n  return ${total};\n}\n`;
  const sources = [{ path: "src/a.js", was: source("1", "1"), is: source("2", "2") }];
  const cases = (name: string, body: string) =>
    findTestCases("test/a.test.js", `test('${name}', () => {\n  ${body};\n});\n`);
  const older = cases("renders", "expect(render([1])).toBe('1')");
  const before = { passed: false, failed: new Set(["test/a.test.js > renders"]), tests: null };
  const more = cases("many", "expect(render([1, 2])).toMatchSnapshot()");
  const other = cases("sums", "expect(total([1, 2])).toMatchSnapshot()");

  expect(areAskedElsewhere(more, older, { before, sources })).toBe(true);
  expect(areAskedElsewhere(other, older, { before, sources })).toBe(false);
  expect(areAskedElsewhere([...more, ...other], older, { before, sources })).toBe(false);
  const passed = { ...before, passed: true, failed: new Set<string>() };
  expect(areAskedElsewhere(more, older, { before: passed, sources })).toBe(false);
  expect(areAskedElsewhere(more, older, { before: null, sources })).toBe(false);
});
