import { describe, expect, it } from "vitest";
import type { ProtectionRules } from "../../protected/judge.ts";
import { findProtectionRow } from "../../protected/kinds.ts";
import { asSet } from "../../../kit/as-set.ts";
import type { Edit } from "../lab.ts";
import { findEarlyGoEnd, createLastTests } from "./go-last-test.ts";

const texts: Readonly<Record<string, string>> = {
  "a/a_test.go": 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n',
  "b_test.go": 'package b_test\n\nimport "testing"\n\nfunc TestB(t *testing.T) {}\n',
};
const setting: ProtectionRules = {
  base: asSet(Object.keys(texts).toSorted()),
  rowOf: findProtectionRow,
  named: { commands: [], usedCommands: [], restores: false },
};
const nameOf = ({ text }: Edit): string => /func (\w+)/.exec(text)?.[1] ?? "";

/** `silent`: folders in which no last test is heard, by side. */
const ask = (
  command: string,
  silent: { readonly work: string; readonly base: string | null },
): Promise<string | null> =>
  findEarlyGoEnd({
    rules: setting,
    differences: [],
    lab: {
      commands: [command],
      seed: "seed",
      textAt: (_side, path) => Promise.resolve(texts[path] ?? null),
      run: (side, edits) =>
        Promise.resolve({
          passed: false,
          failed: new Set(
            edits
              .filter(({ path }) => silent[side] === "" || !path.startsWith(silent[side] ?? ""))
              .map(nameOf),
          ),
          tests: null,
        }),
    },
  });

describe("the last test of each Go package", () => {
  it("is one of its package that sorts behind the others", () => {
    expect(
      createLastTests([{ path: "a/a_test.go", text: texts["a/a_test.go"] ?? "" }], "n1"),
    ).toMatchObject([
      {
        folder: "a/",
        path: "a/zz_n1_test.go",
        text: expect.stringContaining("package a\n") as string,
      },
    ]);
  });

  it("names the folder where it is not heard", async () => {
    expect(await ask("go test ./...", { work: "a/", base: "" })).toContain(
      "the tests in a/ end before the last of them",
    );
  });

  it("says nothing where it is heard, was not heard before, or no Go test is run", async () => {
    expect(await ask("go test ./...", { work: "", base: "" })).toBeNull();
    expect(await ask("go test ./b", { work: "a/", base: "a/" })).toBeNull();
    expect(await ask("npm test", { work: "a/", base: "" })).toBeNull();
    expect(
      await ask("go test ./...", { work: "a/", base: null }),
      "the base took too long",
    ).toBeNull();
  });
});
