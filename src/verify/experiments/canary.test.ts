import { describe, expect, test } from "vitest";
import type { Check, Experiment } from "../../contracts/evidence.ts";
import { runCanary } from "./canary.ts";
import type { Edit, Lab, Side } from "./lab.ts";
import { asksOnlyCode } from "./broken-expectations/find-judges.ts";
import { findCandidates } from "./broken-expectations/candidates.ts";
import { findNoticedFlips, type Observed } from "./broken-expectations/noticed-flips.ts";

const tests =
  'test("adds", () => {\n  assert.equal(add(1, 2), 3);\n});\n\ntest("greets", () => {\n  assert.equal(greet(), "hello");\n});\n';
const check: Check = {
  id: "project:test",
  kind: "project",
  title: "tests",
  command: "npm test",
  source: "package.json",
};
const green: Observed = {
  passed: true,
  failed: new Set(),
  tests: { ran: 2, failed: 0, skipped: 0 },
};
const red = (...failed: string[]): Observed => ({
  passed: false,
  failed: new Set(failed),
  tests: { ran: 2, failed: failed.length, skipped: 0 },
});

/** An honest runner: a test fails whose expectation was changed. */
const honest = (edits: readonly Edit[]): Observed => {
  const text = edits.find(({ path }) => path === "test/a.test.js")?.text ?? tests;
  const said = text
    .replaceAll(/\((\d) \+ (\d)\)/g, (_all, one: string, two: string) =>
      String(Number(one) + Number(two)),
    )
    .replaceAll(/\(("\w*)" \+ "(\w*")\)/g, "$1$2")
    .replace(String.raw`"\u0068ello"`, '"hello"');
  const failed = [
    ...(said.includes("3);") ? [] : ["adds"]),
    ...(said.includes('"hello"') ? [] : ["greets"]),
  ];

  return failed.length === 0 ? green : red(...failed);
};

function lab(
  run: (side: Side, edits: readonly Edit[]) => Observed | null,
  more: Partial<Lab> = {},
): Lab & { readonly runs: Side[] } {
  const runs: Side[] = [];
  return {
    run: (side, edits) => {
      runs.push(side);
      return Promise.resolve(run(side, edits));
    },
    repeat: (edits) => {
      runs.push("work");
      return Promise.resolve(run("work", edits));
    },
    textAt: (_side, path) =>
      Promise.resolve(
        path === "test/a.test.js" ? tests : path === "src/a.ts" ? "export const a = 1;\n" : null,
      ),
    pathsAt: () => Promise.resolve(["src/a.ts", "test/a.test.js"]),
    commands: ["npm test"],
    changedPaths: ["src/a.ts"],
    before: green,
    wasRed: false,
    now: green,
    seed: "any",
    ...more,
    runs,
  };
}

test("where literals near assertions are only words, the assertions themselves are broken", async () => {
  const text = 'test("same", () => {\n  t.equal(one, pool.get(), "reused");\n});\n';
  const here = lab(
    (_side, edits) =>
      edits.every((edit) => edit.text.includes("t.equal(one, pool.get(), ")) ? green : red("same"),
    {
      textAt: (_side, path) => Promise.resolve(path === "test/a.test.js" ? text : null),
    },
  );
  expect(await runCanary(check, here)).toMatchObject({ outcome: "noticed" });
});

test("what prepares all tests of a Go package holds no expectation", async () => {
  const text =
    'func TestMain(m *testing.M) {\n\tif out, err := run("go", "build"); err != nil {\n\t\tpanic(out)\n\t}\n}\n\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Fatal("no")\n\t}\n}\n';
  const here = lab(() => green, {
    textAt: (_side, path) => Promise.resolve(path === "a_test.go" ? text : null),
    pathsAt: () => Promise.resolve(["a.go", "a_test.go"]),
    commands: ["go test ./..."],
  });

  const lines = (await findCandidates({ ...check, command: "go test ./..." }, here)).map(
    ({ line }) => line,
  );
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((line) => line < 6)).toEqual([]);
});

test("a compiler's errors are no tests: nobody was asked", () => {
  const flip = {
    path: "test/a.test.js",
    line: 2,
    was: "  assert.equal(add(1, 2), 3);",
    broken: "  assert.equal(add(1, 2), 4);",
    score: 4,
  };

  const stopped = {
    passed: false,
    failed: new Set<string>(),
    tests: { ran: 0, failed: 2, skipped: 0 },
  };
  expect(
    findNoticedFlips([flip], green, stopped, new Map([["test/a.test.js", tests]])),
  ).toMatchObject({ noticed: [], unloaded: [flip] });
});

describe("a check with tests", () => {
  test("that reports each broken expectation is alive, after one run", async () => {
    const many = { ...green, tests: { ran: 8, failed: 0, skipped: 0 } };
    const here = lab((_side, edits) => honest(edits), { now: many });
    expect(await runCanary(check, here)).toMatchObject({ outcome: "noticed" });
    expect(here.runs).toEqual(["work"]);
  });

  test("that fails as soon as its tests look different, and mean the same, knows its tests", async () => {
    const here = lab((_side, edits) => (edits.length === 0 ? green : red("adds", "greets")));
    expect(await runCanary(check, here)).toMatchObject({
      outcome: "differs",
      detail: expect.stringContaining("written otherwise") as string,
    });
  });

  test("that stays green, and did not on the base, is blind", async () => {
    const here = lab((side, edits) => (side === "work" ? green : honest(edits)));
    expect(await runCanary(check, here)).toMatchObject({
      outcome: "missed",
      detail: expect.stringContaining("test/a.test.js:") as string,
    });

    expect(here.runs).toEqual(["work", "base", "work", "work", "work"]);
  });

  test("that misses it on the base, too, as soon as there is another test file, is not accused", async () => {
    const isAdded = (edits: readonly Edit[]): boolean =>
      edits.some(({ path }) => path === "test/b.test.js");
    const textAt: Lab["textAt"] = async (side, path) =>
      path === "test/a.test.js"
        ? tests
        : path === "test/b.test.js" && side === "work"
          ? "b();"
          : null;
    const judge = (misses: (edits: readonly Edit[]) => boolean): Promise<Experiment> =>
      runCanary(
        check,
        lab((side, edits) => (side === "work" || misses(edits) ? green : honest(edits)), {
          changedPaths: ["src/a.ts", "test/b.test.js"],
          textAt,
        }),
      );
    expect(await judge(isAdded)).toMatchObject({
      outcome: "partly",
      detail: expect.stringContaining("since there are more test files") as unknown,
    });
    expect(await judge(() => false)).toMatchObject({ outcome: "missed" });
  });

  test("that hears one test and not the other is blind", async () => {
    const deaf = (edits: readonly Edit[]): Observed =>
      honest(edits).failed.has("adds") ? red("adds") : green;
    const here = lab((side, edits) => (side === "work" ? deaf(edits) : honest(edits)));
    expect(await runCanary(check, here)).toMatchObject({
      outcome: "missed",
      detail: expect.stringContaining("hellp") as string,
    });
  });

  test("that stayed green on the base too was never told anything: nobody is accused", async () => {
    expect(
      await runCanary(
        check,
        lab(() => green),
      ),
    ).toMatchObject({ outcome: "unknown" });
  });

  test("is not accused where the base notices one of two that are broken, and nobody notices the other alone", async () => {
    // Both sides name the wrong test for the second breakage as long as the first one is there too.
    const confused = (side: Side, edits: readonly Edit[]): Observed => {
      const { failed } = honest(edits);
      if (!failed.has("greets")) return green;
      return side === "base"
        ? red("adds")
        : red("something that stands in no file", "something else");
    };
    expect(await runCanary(check, lab(confused))).not.toMatchObject({ outcome: "missed" });
  });

  test("that misses it only once is not accused", async () => {
    let works = 0;
    const here = lab((side, edits) =>
      side === "work" && (works += 1) === 1 ? green : honest(edits),
    );
    expect(await runCanary(check, here)).not.toMatchObject({ outcome: "missed" });
  });

  test("in which other tests fail as soon as one is changed comes to other things when watched", async () => {
    const here = lab((side, edits) =>
      side === "work" ? red(...honest(edits).failed, "not implemented at all") : honest(edits),
    );
    expect(await runCanary(check, here)).toMatchObject({
      outcome: "differs",
      detail: expect.stringContaining("not implemented") as string,
    });
  });

  test("in which one test is equal to everything is told by that test's name, whatever the others notice", async () => {
    const equal = (edits: readonly Edit[]): Observed => {
      if (edits.some(({ text }) => text.includes("}{"))) return red("test/a.test.js");
      return honest(edits).failed.has("greets") ? red("greets") : green;
    };

    const before = red("adds");
    expect(
      await runCanary(
        check,
        lab((_side, edits) => equal(edits), { before, wasRed: true }),
      ),
    ).toMatchObject({
      outcome: "partly",
      detail: "with another expectation they pass as well: adds (test/a.test.js:2)",
    });
  });

  test("in which a test is one line is asked for what it expects, not for a literal in it", async () => {
    const line = 'test("adds", () => assert.equal(add(1, 2), 3));\n';
    const texts: string[] = [];

    const here = lab(
      (_side, edits) => {
        texts.push(...edits.map(({ text }) => text));
        return red("adds");
      },
      {
        before: red("adds"),
        wasRed: true,
        textAt: () => Promise.resolve(line),
        pathsAt: () => Promise.resolve(["test/a.test.js"]),
      },
    );
    await runCanary(check, here);
    expect(texts[0]).toMatch(/assert\.equal\(add\(1, 2\), [1-9]\)/);
  });

  test("whose command also names a program that the work wrote is judged by its tests", async () => {
    const program =
      "if (process.argv.includes('--check') && read() !== 'fresh') {\n  assert.fail('stale');\n}\n";
    const here = lab((_side, edits) => honest(edits), {
      textAt: (side, path) =>
        Promise.resolve(
          path === "test/a.test.js"
            ? tests
            : path === "scripts/gen.js" && side === "work"
              ? program
              : null,
        ),
      pathsAt: (side) =>
        Promise.resolve(["test/a.test.js", ...(side === "work" ? ["scripts/gen.js"] : [])]),
      changedPaths: ["scripts/gen.js"],
      before: null,
      wasRed: true,
    });

    const both = {
      ...check,
      kind: "criterion" as const,
      command: "node scripts/gen.js --check && npm test",
    };
    expect(await runCanary(both, here)).toMatchObject({
      outcome: "noticed",
      detail: expect.stringContaining("test/a.test.js") as string,
    });
  });

  test("that takes too long is unknown", async () => {
    expect(
      await runCanary(
        check,
        lab(() => null),
      ),
    ).toMatchObject({ outcome: "unknown" });
  });

  test("that takes too long as soon as its tests look different, and mean the same, is unknown", async () => {
    const isPlacebo = (edits: readonly Edit[]): boolean => edits.length > 0 && honest(edits).passed;
    expect(
      await runCanary(
        check,
        lab((_side, edits) => (isPlacebo(edits) ? null : honest(edits))),
      ),
    ).toMatchObject({ outcome: "unknown" });
  });

  test("that was red for unknown reasons before is only believed where it turns red now", async () => {
    const before = { before: null, wasRed: true };
    expect(
      await runCanary(
        check,
        lab((_side, edits) => honest(edits), before),
      ),
    ).toMatchObject({ outcome: "noticed" });

    expect(
      await runCanary(
        check,
        lab(() => green, before),
      ),
    ).toMatchObject({ outcome: "unknown" });
  });
});

describe("a command that holds what it expects", () => {
  const silent: Observed = { passed: true, failed: new Set(), tests: null };
  const asks: Check = {
    ...check,
    id: "holdout:1",
    kind: "holdout",
    command: `node -e "process.exit(add(1, 2) === 3 ? 0 : 1)"`,
  };

  const none = { now: silent, before: null, wasRed: true };
  const answering = (isAnswering: boolean) => {
    const here = lab(() => silent, none);
    const run: Lab["run"] = (_side, _edits, _gone, command = "") =>
      Promise.resolve({ ...silent, passed: !isAnswering || command === asks.command });
    return { ...here, run };
  };
  test("and fails with another expectation is alive, and its expectation is told to nobody", async () =>
    expect(await runCanary(asks, answering(true))).toEqual({
      outcome: "noticed",
      detail: "with another expectation it fails",
    }));

  test("and passes whatever is changed in it was never heard to the end: a gap, though it failed before", async () =>
    expect(await runCanary(asks, answering(false))).toMatchObject({ outcome: "unknown" }));
});

test("a command that searches what a program prints is asked for another pattern, and the program for none", async () => {
  const none: Observed = { passed: true, failed: new Set(), tests: null };
  const command = "node src/a.ts --help | grep -q -- --json";
  const variants: string[] = [];
  const here = lab(() => none, {
    wasRed: true,
    before: null,
    now: none,
    commands: [command],
    textAt: () =>
      Promise.resolve('if (args.length === 0) process.exit(2);\nassert.equal(1, "x");\n'),
    run: (_side, edits, _gone, asked = command) => {
      expect(edits).toEqual([]);
      variants.push(asked);
      return Promise.resolve({ ...none, passed: asked === command });
    },
  });

  expect(await runCanary({ ...check, kind: "criterion", command }, here)).toEqual({
    outcome: "noticed",
    detail: `it fails as ${variants[0] ?? ""}`,
  });
  expect(variants).toHaveLength(1);
});

test.each([
  ["node src/run.mjs | grep -q passed", false],
  ["node src/a.ts 2>&1 | grep -q passed", false],
  ["node src/a.ts --help 2>&1 | grep -q json", true],
  ["node bin/tool.mjs | grep -q json && node src/cli.mjs a | grep b", true],
  ["node bin/tool.mjs | grep -q json && node src/run.mjs | grep b", false],
  ["node bin/check.mjs --all | grep -q passed", false],
  ["node test/run.mjs a | grep -q passed", false],
  ["node bin/tool.mjs --json", false],
])(
  "a program whose output is searched is under test if it is a tool, or the work and given words: %s",
  async (command, isAsked) => {
    const paths = ["run", "cli"].map((name) => `src/${name}.mjs`);
    const here = lab(() => green, {
      pathsAt: () =>
        Promise.resolve(["src/a.ts", "bin/tool.mjs", "bin/check.mjs", "test/run.mjs", ...paths]),
    });
    expect(await asksOnlyCode({ ...check, command }, here)).toBe(isAsked);
  },
);

describe("a check without tests", () => {
  const compile: Check = { ...check, id: "project:types", title: "types", command: "tsc --noEmit" };
  const silent: Observed = { passed: true, failed: new Set(), tests: null };
  const broken: Observed = { ...silent, passed: false };
  const none = { now: silent, before: silent };

  test("that notices a wrong type in a file the work changed is alive", async () => {
    const here = lab(
      (_side, edits) => (edits.some(({ text }) => text.includes(': number = "')) ? broken : silent),
      none,
    );
    expect(await runCanary(compile, here)).toEqual({
      outcome: "noticed",
      detail: "a wrong type in src/a.ts",
    });
  });

  test("that notices it no more is blind", async () => {
    const here = lab(
      (side, edits) => (side === "base" && edits.length > 0 ? broken : silent),
      none,
    );
    expect(await runCanary(compile, here)).toMatchObject({
      outcome: "missed",
      detail: "a wrong type in src/a.ts",
    });
  });

  test("that looks for files is alive where it fails without them", async () => {
    const seen = { ...check, command: "npm run there" };
    const here = lab(() => silent, none);
    expect(await runCanary(seen, here)).toMatchObject({ outcome: "unknown" });

    const looking = {
      ...here,
      run: (_side: Side, _edits: readonly Edit[], gone: readonly string[] = []) =>
        Promise.resolve(gone.length > 0 ? broken : silent),
    };
    expect(await runCanary(seen, looking)).toEqual({
      outcome: "noticed",
      detail: "it fails without the files it looks at",
    });
  });

  test("that failed before and has nothing to do with the tests beside it has shown that it can", async () => {
    const seen = { ...check, command: "grep -q x notes.md" };
    expect(
      await runCanary(
        seen,
        lab(() => silent, { now: silent, before: null, wasRed: true }),
      ),
    ).toMatchObject({ outcome: "noticed" });
  });

  test("that reads nothing that can be broken is unknown", async () => {
    expect(
      await runCanary(
        compile,
        lab(() => silent, none),
      ),
    ).toMatchObject({ outcome: "unknown" });
  });

  test("that failed before the work and looks for a file has shown that it can", async () => {
    const seen = { ...check, command: "test -f LICENSE" };
    const here = lab(() => silent, {
      now: silent,
      before: null,
      wasRed: true,
      pathsAt: () => Promise.resolve(["LICENSE"]),
    });
    expect(await runCanary(seen, here)).toEqual({
      outcome: "noticed",
      detail: "it failed before the work began",
    });
  });
});

describe("a failing test answers for one broken expectation", () => {
  const flip = (line: number) => ({
    path: "t.py",
    line,
    was: text.split("\n")[line - 1] ?? "",
    broken: "",
    score: 3,
  });

  const text = "def test_one():\n    assert f() == 1\n\ndef test_two():\n    assert g() == 2\n";
  const texts = new Map([["t.py", text]]);
  const at = (...names: string[]) =>
    findNoticedFlips([flip(2), flip(5)], green, red(...names), texts);

  test.each([
    ["by its name", ["t.py::test_one", "t.py::test_two"], [2, 5], []],
    ["and not for the next one", ["t.py::test_one"], [2], []],
    ["with arguments", ["t.py::test_one[1-2]", "t.py::test_two"], [2, 5], []],
    ["as unittest names it", ["test_two (t.T.test_two)"], [5], []],
    [
      "and what is beside them is told",
      ["t.py::test_one", "t.py::test_two", "other.py::test_three"],
      [2, 5],
      ["other.py::test_three"],
    ],
  ])("%s", (_says, names, lines, beside) => {
    const found = at(...names);
    expect(found.noticed.map(({ line }) => line)).toEqual(lines);
    expect(found.otherFailures).toEqual(beside);
  });

  test("a runner that names nothing and counts nothing is judged by its end", () => {
    const before = { failed: new Set<string>(), tests: null };
    const ended = { passed: false, failed: new Set<string>(), tests: null };
    expect(findNoticedFlips([flip(2)], before, ended, texts).missed).toEqual([]);
    expect(findNoticedFlips([flip(2)], { ...before, passed: false }, ended, texts).noticed).toEqual(
      [],
    ); // it failed without the flip too
  });
});

test.each([
  ["grep -q 'pub fn a' src/a.ts", "noticed"],
  ["! grep -q TODO src/a.ts && test -s src/a.ts", "noticed"],
  ["grep -q ok $(node src/a.ts)", "unknown"],
  ["node src/a.ts | grep -q ok", "unknown"],
])(
  "a command that only looks at files and was red before the work has shown that it can fail: %s",
  async (command, outcome) => {
    const texts = 'export const a = 1;\nassert.equal(a, 1);\nassert.equal(b, "x");\n';
    const only = lab(() => green, {
      wasRed: true,
      before: null,
      now: { passed: true, failed: new Set(), tests: null },
      commands: [command],
      textAt: () => Promise.resolve(texts),
      pathsAt: () => Promise.resolve(["src/a.ts"]),
      run: (_side, _edits, gone = []) =>
        Promise.resolve({ passed: gone.length === 0, failed: new Set<string>(), tests: null }),
    });

    expect((await runCanary({ ...check, kind: "criterion", command }, only)).outcome).toBe(outcome);
  },
);

test("that a check failed before shows that it can fail only if none of the work's code runs in it", async () => {
  const unread = {
    wasRed: true,
    now: { ...green, tests: null },
    textAt: () => Promise.resolve("x\n"),
  };

  const asked = (
    command: string,
    path: string,
    judge: "runs it" | "parses it" | "looks at it" = "runs it",
  ) =>
    runCanary(
      { ...check, command },
      lab(() => green, {
        ...unread,
        commands: [command],
        changedPaths: [path],
        run: (_side, edits) =>
          Promise.resolve({
            ...green,
            tests: null,
            passed: !edits.some(
              ({ text }) =>
                (judge !== "looks at it" && text.startsWith(")]}")) ||
                (judge === "runs it" && /^(?:if .* throw|raise) /.test(text)),
            ),
          }),
      }),
    );

  const hasFailed = { outcome: "noticed", detail: "it failed before the work began" };
  const isRun = {
    outcome: "unknown",
    detail: "nothing that it compares with was found, and changed code runs in it",
  };

  expect(await asked("./judge", "src/a.ts", "looks at it")).toEqual(hasFailed);
  for (const path of ["src/a.ts", "a.py"]) {
    expect(await asked("npm test", path, "parses it"), path).toEqual(hasFailed);
    expect(await asked("npm test", path, "runs it"), path).toEqual(isRun);
  }

  expect(
    await asked("npm test", "a.go", "parses it"),
    "a language in which nothing can be ended",
  ).toEqual(isRun);

  for (const [command, path] of [
    ["./judge", "notes.txt"],
    ["make build", "src/a.ts"],
    ["test -f src/a.ts", "src/a.ts"],
  ] as const) {
    expect(await asked(command, path), command).toEqual({
      outcome: "noticed",
      detail: "it failed before the work began",
    });
  }
});
