import { describe, expect, test } from "vitest";
import {
  areSnapshotsAskedFor,
  isChangeAskedFor,
  isRemovalAskedFor,
  isRenameAskedFor,
  isSettingAskedFor,
} from "./asked-changes.ts";

describe("a change of what judges is asked for", () => {
  test.each([
    ["test/golden/a.html", "Write dates out. Update the golden files in test/golden to that."],
    ["test/price.test.js", "Remove price together with its tests (test/price.test.js)."],
    ["__tests__/a.test.js", "Split src/utils.js, remove __tests__/, and let jest find the tests"],
    [
      "test/report.test.ts",
      "Align it. The snapshots in test/report.test.ts have to be updated; the layout is in docs.",
    ],
    ["test/__snapshots__/a.test.ts.snap", "Update the snapshots of test/a.test.ts"],
    ["tests/cli.rs", "rename --fmt to --format, and adapt `cli.rs`"],
  ])("%s: %s", (path, goal) => expect(isChangeAskedFor(path, goal)).toBe(true));
});

describe("it is not", () => {
  test.each([
    ["test/a.test.js", "Change parse() so that test/a.test.js passes."],
    ["test/a.test.js", "Fix what test/a.test.js shows. Change nothing else."],
    ["test/a.test.js", "Update the parser, but don't touch test/a.test.js"],
    ["test/a.test.js", "Update the tests."],
    ["test/a.test.js", "Update src/a.js; test/a.test.js has examples"],
    ["test/a.test.js", "Move src/test to lib"],
    ["tests/golden/a.txt", "Update test/golden"],
    ["package.json", "Split the package into two"],
  ])("%s: %s", (path, goal) => expect(isChangeAskedFor(path, goal)).toBe(false));
});

describe("names that the goal asks to change", () => {
  const before = `import { getItem, put } from "../src/store.js";
test("gets", () => {
  put("drill", "cellar");
  assert.equal(getItem("drill").place, "cellar");
});
test("names", () => assert.deepEqual(names(), ["drill"]));
`;
  const renamed = before.replaceAll("getItem", "lookup");
  const goal = "Rename getItem to lookup and let it return a copy, everywhere.";

  test("each change is beside a name that is gone", () => {
    expect(isRenameAskedFor(before, renamed, goal)).toBe(true);
    expect(isRenameAskedFor(before, `${renamed}test("more", () => {});\n`, goal)).toBe(true);
    const go = 'func TestGetItem(t *testing.T) {\n\tif s.GetItem("a") != 1 {\n';
    const goNow = 'func TestLookup(t *testing.T) {\n\tif n, ok := s.Lookup("a"); n != 1 || !ok {\n';
    expect(isRenameAskedFor(go, goNow, "Rename Store.GetItem to Lookup")).toBe(true);
    const moved = before.replace("../src/store.js", "../src/shelf/store.js");
    expect(isRenameAskedFor(before, moved, "Move src/store.js to src/shelf.")).toBe(true);
    const other = before.replace("../src/store.js", "../src/shelf.js");
    expect(isRenameAskedFor(before, other, "Move src/store.js to src/shelf.js.")).toBe(true);
  });

  test.each([
    ["another place", renamed.replace('["drill"]', "[]"), goal],
    ["a name that stays", before.replace('getItem("drill").place', 'getItem("saw").place'), goal],
    ["a name that the goal does not speak of", renamed, "Rename fetch to get"],
    ["a goal that asks for no change of it", renamed, "getItem should not be renamed"],
  ])("%s is no such change", (_what, after, words) => {
    expect(isRenameAskedFor(before, after, words)).toBe(false);
  });
});

test("tests of a name may go if the goal asks to remove the name", () => {
  const before = `func TestFormats(t *testing.T) {
	for format, want := range map[string]string{
		"rss":       "<link>",
		"legacyxml": "<e>",
	} {
	}
}

func TestLegacyXMLWarns(t *testing.T) {
	run("-format", "legacyxml")
}

func TestUnknown(t *testing.T) {
	run("-format", "yaml")
}
`;
  const after = before
    .replace('\t\t"legacyxml": "<e>",\n', "")
    .replace(/func TestLegacyXMLWarns[^}]*\}\n\n/, "");
  const goal = "Remove the legacyxml format, with the tests that use it.";
  expect(isRemovalAskedFor(before, after, goal)).toBe(true);
  expect(isRemovalAskedFor(before, after, "Rename legacyxml to oldxml")).toBe(false);
  expect(isRemovalAskedFor(before, after.replace(/func TestUnknown[^}]*\}\n/, ""), goal)).toBe(
    false,
  );
});

test("snapshots may be asked for as such", () => {
  expect(areSnapshotsAskedFor("Update the invoice snapshots (nothing else may change)")).toBe(true);
  expect(areSnapshotsAskedFor("Make the snapshots pass")).toBe(false);
  expect(areSnapshotsAskedFor("Update the parser; the snapshots are in test/")).toBe(false);
});

describe("settings", () => {
  test.each([
    [".eslintrc.json", "Switch on the ESLint rules eqeqeq and no-var in our configuration."],
    ["eslint.config.js", "Add no-var to eslint.config.js"],
    ["tsconfig.json", "Enable strict in tsconfig.json and fix what fails."],
    [".eslintrc.json", "Switch on eqeqeq (== null stays allowed) and no-var for ESLint"],
    ["mypy.ini", "Turn on mypy's disallow_untyped_defs"],
  ])("that a goal asks for: %s, %s", (path, goal) =>
    expect(isSettingAskedFor(path, goal)).toBe(true),
  );
  test.each([
    [".eslintrc.json", "Make eslint pass"],
    [".eslintrc.json", "Add a rule engine"],
    ["tsconfig.json", "Add types, but leave tsconfig.json as it is"],
  ])("that it does not ask for: %s, %s", (path, goal) =>
    expect(isSettingAskedFor(path, goal)).toBe(false),
  );
});
