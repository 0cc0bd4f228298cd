import { describe, expect, test } from "vitest";
import { findProtectionRow } from "../../protected/kinds.ts";
import type { QuestionContext } from "./question-context.ts";
import { trapFunctions } from "./trapped-functions.ts";
import { findUnrunFunctions } from "./unrun-functions.ts";

const go =
  "package stats\n\n// Mean is the mean.\nfunc Mean(xs []float64) float64 {\n\treturn xs[0]\n}\n";
const mode =
  "\n// Mode is the most frequent.\nfunc Mode(xs []float64) float64 {\n\treturn xs[0]\n}\n";

describe("a trap for every new function", () => {
  test.each([
    [
      "a.go",
      go,
      go + mode,
      'func Mode(xs []float64) float64 {\n\tif true {\n\t\tgo func() { panic("it is run") }()',
    ],
    [
      "a.go",
      "package a\n",
      "package a\n\nfunc Max[T int | uint](a T) T {\n\treturn a\n}\n",
      "func Max[T int | uint](a T) T {\n\tif true",
    ],
    [
      "lib.rs",
      "",
      "pub fn mode(x: i32) -> i32 {\n    x\n}\n",
      "-> i32 { if true { std::process::abort()",
    ],
    ["lev.c", "", "int lev(char *a) {\n  return 3;\n}\n", "{ if (1) __builtin_trap();"],
    [
      "src/a.ts",
      null,
      "export function mode(xs: number[]): number {\n  return xs[0];\n}\n",
      'throw new Error("it is run")',
    ],
    [
      "a.py",
      "import os\n",
      "import os\n\n\ndef mode(xs):\n    return xs[0]\n",
      '__import__("os")._exit(97)',
    ],
  ])("in %s", (path, was, is, trap) => {
    const trapped = trapFunctions({ path, was, is });
    expect(trapped?.edits[0]?.text).toContain(trap);
    expect(trapped?.functions.map(({ name }) => name)).toHaveLength(1);
  });

  test("leaves the others alone", () => {
    expect(trapFunctions({ path: "a.go", was: go, is: go + mode })?.edits[0]?.text).toContain(
      "float64 {\n\treturn xs[0]",
    );
  });

  test("is none where other new lines may run, or nothing can be trapped", () => {
    expect(
      trapFunctions({ path: "a.js", was: "", is: "const f = (a) => a;\nstart(f);\n" }),
    ).toBeNull();

    expect(trapFunctions({ path: "lib/a.sh", was: "", is: "mode() {\n  echo 1\n}\n" })).toBeNull();
  });
});

type Given = {
  readonly command?: string;
  readonly goal?: string;
  readonly isRun?: boolean;
  readonly passedBefore?: boolean;
  readonly wasRed?: boolean;
};

async function ask({
  command = "go vet ./... && grep -q 'func Mode' stats.go",
  goal = "add Mode(xs)",
  ...given
}: Given) {
  const { isRun = false, passedBefore = true, wasRed = true } = given;
  const commands: string[] = [];
  const texts: Record<string, string> = { "base stats.go": go, "work stats.go": go + mode };

  const answer = await findUnrunFunctions({
    check: { id: "c1", kind: "criterion", title: "c1", command, source: "objective" },
    goal,
    differences: [{ path: "stats.go", kind: "changed" }],
    rules: { rowOf: findProtectionRow },
    lab: {
      wasRed,
      textAt: async (side: string, path: string) => texts[`${side} ${path}`] ?? null,
      run: async (_side: string, _edits: unknown, _gone: unknown, judging: string) => {
        commands.push(judging);
        return { passed: passedBefore };
      },
    },
    runWith: async () => ({ passed: !isRun }),
  } as unknown as QuestionContext);

  return { answer, commands };
}

describe("a check that never runs the new functions", () => {
  test("is told if its other parts passed before the work, and only a look at the code turned green", async () => {
    const { answer, commands } = await ask({ goal: "more statistics" });
    expect(answer).toBe(
      "its command never runs Mode (stats.go:9): it passes as well with an error in the first line of each",
    );

    expect(commands).toEqual(["(go vet ./...)"]);
  });

  test("is none if it runs them, or passed before", async () => {
    expect((await ask({ isRun: true })).answer).toBeNull();
    expect((await ask({ wasRed: false })).answer).toBeNull();
  });

  test("a compiler that failed before is asked only about functions that the goal names", async () => {
    const compiled = { command: "go build ./...", passedBefore: false };
    expect((await ask(compiled)).answer).toContain("never runs Mode");
    expect((await ask({ ...compiled, goal: "make go build pass" })).answer).toBeNull();
    expect((await ask({ ...compiled, goal: "fix the lint errors in Mode" })).answer).toBeNull();
    expect((await ask({ ...compiled, goal: "more statistics" })).answer).toBeNull();
  });

  test("a look at something else than the changed code is not meant", async () => {
    expect(
      (await ask({ command: "go build ./... && test -f bin/stats", goal: "ship it" })).answer,
    ).toBeNull();
  });
});
