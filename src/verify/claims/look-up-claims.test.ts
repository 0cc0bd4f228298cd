import { describe, expect, test } from "vitest";
import type { CheckResult, CheckStatus } from "../../contracts/evidence.ts";
import { lookUpClaims } from "./look-up-claims.ts";
import type { ClaimsWorkspace } from "./tree-lookups.ts";

const commit = "c".repeat(40);
const parent = "a".repeat(40);
const files: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [commit]: {
    "src/a.ts":
      "one\nexport function parseDate() {}\nthree\nfour\nfive\nsix\nseven\nexport const last = 8;\n",
    "src/deep/b.ts": "x\n",
    "test/a.test.ts": 'test("one", () => {});\ntest("two", () => {});\n',
    "old.ts": "old\n",
  },
  [parent]: { "test/a.test.ts": 'test("one", () => {});\n' },
};
let lookups = 0;
const workspace = (layer: "intact" | "absent" = "intact"): ClaimsWorkspace => ({
  textAt: (at, path) => {
    lookups += 1;
    return Promise.resolve(files[at]?.[path] ?? null);
  },
  hasCommit: (_attempt, name) =>
    Promise.resolve(name.startsWith("5a") ? null : "feedface12".startsWith(name)),
  inspect: () => Promise.resolve({ layer, commit: null }),
  differences: (from, to) =>
    Promise.resolve(
      from === parent
        ? [{ path: "src/earlier.ts", kind: "added" }]
        : Object.keys(files[to] ?? {}).map((path) => ({ path, kind: "added" as const })),
    ),
});

const result = (
  command: string,
  status: CheckStatus,
  kind: CheckResult["check"]["kind"] = "criterion",
  id = command,
): CheckResult => ({
  check: {
    id: kind === "criterion" ? `criterion:${id}` : `${kind}:${id}`,
    kind,
    title: id,
    command,
    source: "test",
  },
  status,
  exit_code: status === "passed" ? 0 : 1,
  duration_ms: 1,
  evidence: "0".repeat(64),
});

type ClaimsRequest = Parameters<typeof lookUpClaims>[1];
const looked = async (
  text: string,
  more: Partial<ClaimsRequest> = {},
  layer?: "absent",
): Promise<readonly string[]> => {
  const order: ClaimsRequest = {
    attempt: "1@1/execute#1",
    said: text,
    claim: null,
    commit,
    changed: ["src/a.ts", "test/a.test.ts"],
    results: [],
    ...more,
  };
  return (await lookUpClaims(workspace(layer), order)).map(
    ({ verdict, why }) => `${verdict}: ${why}`,
  );
};

describe("commits, files and lines", () => {
  test("a commit that is there, one that is nowhere, and one that nobody can look for any more", async () => {
    expect(await looked("Committed as feedface12.")).toEqual(["true: The commit is there."]);
    expect(await looked(`Committed as ${commit.slice(0, 12)}.`)).toEqual([
      "true: It is the commit the runner made of this turn.",
    ]);

    expect(await looked("Committed as deadbeef00.")).toEqual([
      expect.stringMatching(/^false: Neither/),
    ]);

    expect(await looked("Committed as 5a5a5a5a00.")).toEqual([
      "unverifiable: The history here is cut off.",
    ]);

    expect(await looked("Committed as deadbeef00.", {}, "absent")).toEqual([
      expect.stringMatching(/^unverifiable/),
    ]);
  });

  test("a place in a file", async () => {
    expect(await looked("See src/a.ts:8.")).toEqual(["true: src/a.ts has such a line."]);
    expect(await looked("See src/a.ts:4711.")).toEqual(["false: src/a.ts has 8 lines."]);
    expect(await looked("See src/nowhere.ts:1.")).toEqual([
      "false: There is no file src/nowhere.ts in the commit.",
    ]);

    expect(await looked("See deep/b.ts:1 and node_modules/left/index.js:9.")).toEqual([
      "true: src/deep/b.ts has such a line.",
      expect.stringMatching(/^unverifiable: It lies outside/),
    ]);
  });

  test("a name that is said to be there", async () => {
    expect(await looked("`parseDate` (src/a.ts:4) loses the zone.")).toEqual([
      "true: parseDate is there.",
    ]);

    expect(await looked("`parseDate` (src/a.ts:8) loses the zone.")).toEqual([
      "false: parseDate is not there; it is on line 2.",
    ]);

    expect(await looked("Removed `gone` (src/a.ts:3).")).toEqual([
      expect.stringMatching(/^unverifiable/),
    ]);
  });

  test("what was changed, in this turn or before, and what was not", async () => {
    const claim = { files_changed: ["src/a.ts", "src/earlier.ts", "old.ts", "ghost.ts"] };
    expect(await looked("", { claim, base: parent })).toEqual([
      "true: This turn changed it.",
      "true: This run changed it, in an earlier turn.",
      "false: old.ts is as it was.",
      "false: There is no ghost.ts in the commit.",
    ]);

    expect(await looked("", { claim: { files_changed: ["ghost.ts"] }, ignored: 1 })).toEqual([
      expect.stringMatching(/^unverifiable/),
    ]);
  });

  test("tests that were added are counted in the files that changed", async () => {
    expect(await looked("Added 1 test.", { parent })).toEqual(["true: 1 tests were added."]);
    expect(await looked("Added 5 tests.", { parent })).toEqual(["false: 1 tests were added."]);
    expect(await looked("Added 5 tests.")).toEqual([expect.stringMatching(/^unverifiable/)]);
    expect(await looked("Changed 3 files.")).toEqual(["false: 2 files were changed."]);
  });

  test("what is looked up is bounded", async () => {
    lookups = 0;
    const text = Array.from({ length: 300 }, (_, n) => `See src/a.ts:${n + 1}.`).join("\n");
    expect(await looked(text)).toHaveLength(200);
    expect(lookups).toBe(1);
  });
});

describe("what only checks decide", () => {
  const after = async (
    said: string,
    results: readonly CheckResult[],
    more: Partial<ClaimsRequest> = {},
  ): Promise<readonly string[]> => {
    const order: ClaimsRequest = {
      attempt: "1@1/execute#1",
      said,
      claim: null,
      commit,
      changed: [],
      results: [],
      ...more,
    };
    const waiting = (await lookUpClaims(workspace(), order)).filter(
      ({ waits }) => waits !== undefined,
    );

    const decided = await lookUpClaims(workspace(), { ...order, said: "", results, waiting });
    expect(decided.every(({ waits }) => waits === undefined)).toBe(true);
    return decided.map(({ verdict, why }) => `${verdict}: ${why}`);
  };

  const green = result("npm test", "passed");
  const red = result("npm test", "failed");

  test("who promises that all is done and broke what held before has not kept it", async () => {
    const done = {
      kind: "done" as const,
      text: "done",
      verdict: "unverifiable" as const,
      why: "",
      waits: { of: "all" },
    };

    const order: ClaimsRequest = {
      attempt: "1@1/execute#1",
      said: "",
      claim: null,
      commit,
      changed: [],
      results: [],
      waiting: [done],
    };

    const [criterion, project] = [
      result("test -f a", "passed"),
      { ...red, check: { ...red.check, kind: "project" as const } },
    ];

    const reported = async (regressed: readonly CheckResult[]) =>
      (await lookUpClaims(workspace(), { ...order, results: [criterion, project], regressed }))[0]
        ?.verdict;
    expect([
      await reported([]),
      await reported([project]),
      await reported([{ ...project, status: "flaky" }]),
    ]).toEqual(["true", "false", "true"]);
  });

  test("waits, and says for what", async () => {
    const [claim] = await lookUpClaims(workspace(), {
      attempt: "1@1/execute#1",
      said: "I ran `npm test` and it passed.",
      claim: null,
      commit,
      changed: [],
      results: [],
    });
    expect(claim).toMatchObject({
      verdict: "unverifiable",
      waits: { of: "npm test", passed: true },
    });
  });

  test.each([
    ["All tests pass.", green, /^true/],
    ["All tests pass.", red, /^false: Autopilot ran `npm test`: failed \(exit 1\)\.$/],
    ["All tests pass.", result("test -f a", "failed"), /^unverifiable: The runner runs no tests/],
    ["`npm t` passes.", green, /^true/],
    ["`npm run test` passes.", red, /^false/],
    [
      "`bun test` passes.",
      result("bun run test", "failed"),
      /^unverifiable: The runner does not run this/,
    ],
    ["`npm test` passes.", result("npm test", "flaky"), /^unverifiable/],
    ["`npm test` fails.", green, /^unverifiable: .* it may have failed on the way/],
    ["`npm test` fails.", red, /^true/],
    ["`make deploy` passes.", green, /^unverifiable: The runner does not run this/],
    ["Everything is done.", green, /^true/],
    ["Everything is done.", red, /^false/],
    [
      "Everything is done.",
      result("npm test", "failed", "project"),
      /^unverifiable: No done criterion/,
    ],
  ])("%s", async (said, found, expected) => {
    expect(await after(said, [found])).toEqual([expect.stringMatching(expected)]);
  });

  test("a shown transcript that our own run contradicts is false", async () => {
    expect(await after("I ran it:\n```\n$ npm test\n# pass 4\n# fail 0\n```", [red])).toEqual([
      expect.stringMatching(/^false/),
    ]);
  });

  test("criteria by id and by their words; part of a task is not held against it", async () => {
    const results = [
      result("a", "passed", "criterion", "c1"),
      result("b", "failed", "criterion", "The page loads"),
    ];
    expect(
      await after("", results, { claim: { criteria_done: ["c1", "the page loads.", "c9"] } }),
    ).toEqual([
      expect.stringMatching(/^true/),
      expect.stringMatching(/^false/),
      expect.stringMatching(/^unverifiable/),
    ]);

    expect(await after("The work is done.", results)).toEqual([
      expect.stringMatching(/^unverifiable: Part of it: 1 of 2/),
    ]);

    expect(await after("", results, { promised: true })).toEqual([expect.stringMatching(/^false/)]);
  });
});

describe("documents against what is said to be in them", () => {
  const report = (text: string): typeof files => ({
    ...files,
    [commit]: { ...files[commit], "docs/REPORT.md": text },
  });

  const judged = async (
    text: string,
    said: string,
    claim: unknown = null,
  ): Promise<readonly string[]> => {
    const tree = report(text);
    const at = {
      ...workspace(),
      textAt: (one: string, path: string) => Promise.resolve(tree[one]?.[path] ?? null),
    };

    const order: ClaimsRequest = {
      attempt: "1@1/execute#1",
      said,
      claim,
      commit,
      changed: ["docs/REPORT.md"],
      results: [],
    };
    return (await lookUpClaims(at, order)).map(({ verdict, why }) => `${verdict}: ${why}`);
  };

  const headings = (n: number): string =>
    Array.from({ length: n }, (_, index) => `## Finding ${index + 1}: x\n\ntext\n`).join("\n");

  test("so many findings: by their headings, by their numbers, by their ids", async () => {
    const said = "I found 3 findings.";
    expect(await judged(headings(3), said)).toEqual(["true: The documents of this turn list 3."]);
    expect(await judged("## 1. a\n## 2. b\n## 3. c\n", said)).toEqual([
      "true: The documents of this turn list 3.",
    ]);

    expect(await judged("| FINDING-1 | a |\n| FINDING-2 | b |\n| FINDING-3 | c |\n", said)).toEqual(
      ["true: The documents of this turn list 3."],
    );
  });

  test("twelve are claimed and two are there; a hundred and twenty blank lines hold none", async () => {
    expect(
      await judged(`${headings(2)}- a\n`.repeat(1) + "- b\n".repeat(20), "I found 12 findings."),
    ).toEqual(["false: The documents of this turn list 2."]);

    expect(await judged("\n".repeat(120), "", { findings_count: 12 })).toEqual([
      "false: The documents of this turn hold 0 headings and entries in all.",
    ]);
  });

  test("more than was said, or a list that cannot be counted, decides nothing", async () => {
    expect(await judged(headings(4), "I found 3 findings.")).toEqual([
      expect.stringMatching(/^unverifiable/),
    ]);

    expect(await judged("- a\n- b\n- c\n", "I found 3 findings.")).toEqual([
      expect.stringMatching(/^unverifiable/),
    ]);

    expect(await looked("I found 3 findings.")).toEqual([
      expect.stringMatching(/^unverifiable: No document/),
    ]);
  });

  test("a finding that is handed back is named in a document, or is not", async () => {
    const claim = { bugs: [{ id: "BUG-1" }, { id: "BUG-12" }] };
    expect(await judged("### BUG-12\n", "", claim)).toEqual([
      "false: No document of this run names it.",
      "true: A document of this run names it.",
    ]);
  });

  test("a place that is handed back in two fields is looked up like one in a sentence", async () => {
    const claim = {
      findings: [
        { file: "src/a.ts", line: 3 },
        { file: "src/a.ts", line: 900 },
        { file: "src/none.ts", line: 1 },
      ],
    };
    expect(await judged("# x\n", "", claim)).toEqual([
      "true: src/a.ts has such a line.",
      "false: src/a.ts has 8 lines.",
      "false: There is no file src/none.ts in the commit.",
    ]);
  });
});
