import { expect, test } from "vitest";
import type { Gate, Proof } from "../../contracts/flow.ts";
import type { GateFacts } from "./gate-facts.ts";
import { facts } from "./gate-facts.test-support.ts";
import { judgeGates } from "./gates.ts";

const failuresOf = (gate: Proof, given: GateFacts) => judgeGates([gate], given).failures;
const holds = (gate: Proof, given: GateFacts) => judgeGates([gate], given).holds;
const lines = (count: number) => "x\n".repeat(count);

test("a file is there, or the failure says what is in its place", () => {
  expect(holds({ file: "a" }, facts({ a: "" }))).toBe(true);
  expect(failuresOf({ file: "a" }, facts({}))).toEqual([
    {
      rule: "exists",
      file: "a",
      found: "nothing there",
      expected: "a regular file, reached without a link",
    },
  ]);

  expect(failuresOf({ file: "a", exists: true }, facts({ a: "<link>" }))).toMatchObject([
    { found: "a symbolic link" },
  ]);

  expect(failuresOf({ file: "a" }, facts({ a: "<folder>" }))).toMatchObject([
    { found: "a folder" },
  ]);
});

test("exists: false holds where nothing is; a link does not pass for nothing", () => {
  expect(holds({ file: "a", exists: false }, facts({}))).toBe(true);
  expect(failuresOf({ file: "a", exists: false }, facts({ a: "x" }))).toMatchObject([
    { rule: "exists", found: "a regular file", expected: "nothing there" },
  ]);

  expect(holds({ file: "a", exists: false }, facts({ a: "<link>" }))).toBe(false);
});

test("non_empty: one byte is enough, none is not", () => {
  expect(holds({ file: "a", non_empty: true }, facts({ a: " " }))).toBe(true);
  expect(failuresOf({ file: "a", non_empty: true }, facts({ a: "" }))).toEqual([
    { rule: "non_empty", file: "a", found: "0 bytes", expected: "at least 1 byte" },
  ]);
});

test("min_lines 120: 119 lines fail, 120 hold, a last line without its line break counts", () => {
  const gate: Gate = { file: "a", min_lines: 120 };
  expect(failuresOf(gate, facts({ a: lines(119) }))).toEqual([
    { rule: "min_lines", file: "a", found: "119 lines", expected: "at least 120" },
  ]);

  expect(holds(gate, facts({ a: lines(120) }))).toBe(true);
  expect(holds(gate, facts({ a: `${lines(119)}x` }))).toBe(true);
  expect(failuresOf({ file: "a", min_lines: 1 }, facts({ a: "" }))).toMatchObject([
    { found: "0 lines" },
  ]);
});

test("matches looks for a line, and says what it looked for", () => {
  const gate: Gate = { file: "a", matches: "^##\\s+(Finding|\\d+\\.)" };
  expect(holds(gate, facts({ a: "text\n## Finding one\n" }))).toBe(true);
  expect(failuresOf(gate, facts({ a: "text ## Finding\n" }))).toEqual([
    {
      rule: "matches",
      file: "a",
      found: "no match",
      expected: "a match of /^##\\s+(Finding|\\d+\\.)/m",
    },
  ]);

  expect(failuresOf({ file: "a", matches: "(" }, facts({ a: "(" }))).toMatchObject([
    { rule: "matches", found: expect.stringMatching(/group/i) as string },
  ]);
});

test("what lies beyond the first MiB does not count, and the failure says so", () => {
  const cut = facts({ a: "x" }, { read: () => ({ text: "x\n", isWhole: false }) });
  expect(failuresOf({ file: "a", matches: "y" }, cut)).toMatchObject([
    { found: "no match in the first 1 MiB" },
  ]);

  expect(failuresOf({ file: "a", min_lines: 2 }, cut)).toMatchObject([
    { found: "1 line in the first 1 MiB" },
  ]);
});

test("files: each of them, and every failure is told at once", () => {
  const given = facts({ a: "x", b: "" });
  expect(
    failuresOf({ files: ["a", "b", "c"], non_empty: true }, given).map(({ rule, file }) => [
      rule,
      file,
    ]),
  ).toEqual([
    ["non_empty", "b"],
    ["exists", "c"],
  ]);
});

test("any: at least so many matching regular files for which every other word holds", () => {
  const given = facts({ "d/a.md": "x", "d/b.md": "", "d/c.md": "<link>", "d/e/f.md": "x" });
  expect(holds({ any: "d/*.md", at_least: 2 }, given)).toBe(true);
  expect(failuresOf({ any: "d/*.md", at_least: 3 }, given)).toEqual([
    {
      rule: "any",
      file: "d/*.md",
      found: "2 of 2 matching regular files (d/c.md is a symbolic link)",
      expected: "at least 3",
    },
  ]);

  expect(holds({ any: "d/**", at_least: 3 }, given)).toBe(true);
  expect(failuresOf({ any: "d/*.md", at_least: 2, non_empty: true }, given)).toMatchObject([
    {
      found:
        "1 of 2 matching regular files (d/b.md: non_empty, found 0 bytes; d/c.md is a symbolic link)",
      expected: "at least 2",
    },
  ]);

  expect(holds({ any: "d/*.md", except: ["d/a.md"], at_least: 1 }, given)).toBe(true);
  expect(holds({ any: "d/*.md", except: ["d/a.md"], at_least: 2 }, given)).toBe(false);
  expect(failuresOf({ any: "no/*" }, given)).toMatchObject([
    { found: "0 of 0 matching regular files", expected: "at least 1" },
  ]);
});

test("none: not one regular file, and those found are named", () => {
  expect(holds({ none: ["*.rej", "*.orig"] }, facts({ a: "x" }))).toBe(true);
  expect(failuresOf({ none: ["*.rej", "*.orig"] }, facts({ "a.rej": "", b: "" }))).toEqual([
    {
      rule: "none",
      file: "a.rej",
      found: "a regular file",
      expected: "no regular file that matches",
    },
  ]);

  expect(holds({ none: ["*.rej"], except: ["a.rej"] }, facts({ "a.rej": "" }))).toBe(true);
});

test("a tree too large to list proves nothing about what is not there", () => {
  const given = facts({ a: "x" }, { isWhole: false });
  expect(holds({ file: "a" }, given)).toBe(true);

  for (const gate of [{ none: ["b"] }, { file: "b", exists: false }, { any: "b" }, { file: "b" }]) {
    expect(holds(gate, given)).toBe(false);
  }
});

test("fresh: changed by this visit, not merely there", () => {
  expect(holds({ file: "a", fresh: true }, facts({ a: "x" }, { changed: new Set(["a"]) }))).toBe(
    true,
  );

  expect(
    failuresOf({ file: "a", fresh: true }, facts({ a: "x" }, { changed: new Set(["b"]) })),
  ).toMatchObject([{ rule: "fresh", file: "a" }]);
});

test("after: this visit's change is later than what it left alone; else history is asked", () => {
  const tree = { a: "x", old: "x" };
  const gate: Gate = { file: "a", after: "old" };
  expect(holds(gate, facts(tree, { changed: new Set(["a"]) }))).toBe(true);
  expect(judgeGates([gate], facts(tree))).toMatchObject({
    holds: false,
    failures: [],
    missing: { commands: [], undecidedPairs: [["a", "old"]] },
  });

  expect(holds(gate, facts(tree, { isNewer: () => true }))).toBe(true);
  expect(failuresOf(gate, facts(tree, { isNewer: () => false }))).toEqual([
    {
      rule: "after",
      file: "a",
      found: "not changed since",
      expected: "changed in a later commit than old",
    },
  ]);

  expect(failuresOf(gate, facts(tree, { isNewer: () => null }))).toMatchObject([
    { found: "an order the history cannot tell" },
  ]);
});

test("after a file that is not there: there is nothing to be later than", () => {
  expect(
    holds(
      { any: "*.md", fresh: true, after: "report" },
      facts({ "a.md": "x" }, { changed: new Set(["a.md"]) }),
    ),
  ).toBe(true);
});

test("for_each: every name found in a file has its files, and they hold something", () => {
  const gate: Gate = {
    for_each: { file: "BUGS.md", matches: "^### (BUG-\\d+)" },
    files: ["w/{1}.md", "r/{1}.log"],
  };

  const bugs = "### BUG-1\ntext\n### BUG-2\n### BUG-1\n";
  expect(
    holds(
      gate,
      facts({
        "BUGS.md": bugs,
        "w/BUG-1.md": "x",
        "r/BUG-1.log": "x",
        "w/BUG-2.md": "x",
        "r/BUG-2.log": "x",
      }),
    ),
  ).toBe(true);

  const failures = failuresOf(
    gate,
    facts({ "BUGS.md": bugs, "w/BUG-1.md": "x", "r/BUG-1.log": "", "w/BUG-2.md": "x" }),
  );
  expect(failures.map(({ rule, file }) => [rule, file])).toEqual([
    ["non_empty", "r/BUG-1.log"],
    ["exists", "r/BUG-2.log"],
  ]);

  expect(holds(gate, facts({ "BUGS.md": "none found\n" }))).toBe(true);
  expect(failuresOf(gate, facts({}))).toMatchObject([
    { rule: "for_each", file: "BUGS.md", found: "no such regular file" },
  ]);
});

test("for_each: a name that leads out of the tree finds nothing, and a file beyond the bound is refused", () => {
  const gate: Gate = { for_each: { file: "list", matches: "^(.+)$" }, files: ["d/{1}"] };
  expect(failuresOf(gate, facts({ list: "../../etc/passwd" }))).toMatchObject([
    { rule: "exists", file: "d/../../etc/passwd", found: "nothing there" },
  ]);

  const cut = facts({ list: "x" }, { read: () => ({ text: "", isWhole: false }) });
  expect(failuresOf(gate, cut)).toMatchObject([
    { rule: "for_each", found: "more than 1 MiB of text" },
  ]);
});

test("if chooses a branch; what is wanted of a file nobody wrote is not asked for", () => {
  const gate: Gate = {
    if: { file: "BUGS.md", matches: "^### BUG-" },
    all: [{ any: "patches/*" }],
    else: [{ file: "CLEAN" }],
  };
  expect(failuresOf(gate, facts({ "BUGS.md": "### BUG-1" }))).toMatchObject([
    { rule: "any", file: "patches/*" },
  ]);

  expect(failuresOf(gate, facts({}))).toMatchObject([{ rule: "exists", file: "CLEAN" }]);
  expect(holds(gate, facts({ "BUGS.md": "### BUG-1", "patches/1": "x" }))).toBe(true);
  expect(holds(gate, facts({ CLEAN: "" }))).toBe(true);
});

test("a condition that cannot be judged chooses no branch: it fails the gate", () => {
  const gate: Gate = { if: { file: "BUGS.md", matches: "^### BUG-" }, all: [{ file: "patch" }] };
  const padded = facts({ "BUGS.md": "x" }, { read: () => ({ text: "padding", isWhole: false }) });
  expect(failuresOf(gate, padded)).toMatchObject([{ rule: "if matches", file: "BUGS.md" }]);
  expect(failuresOf({ if: {}, all: [{ file: "patch" }] }, facts({}))).toMatchObject([
    { rule: "if gate", found: "no rule" },
  ]);
});

test("a command is asked for once, and only on the branch that is taken", () => {
  const gate: Gate = {
    if: { file: "a" },
    all: [{ command: "make yes" }],
    else: [{ command: "make no" }],
  };
  expect(judgeGates([gate, { command: "make yes" }], facts({ a: "" }))).toMatchObject({
    holds: false,
    failures: [],
    missing: { commands: ["make yes"], undecidedPairs: [] },
  });

  const ran = (passed: boolean) =>
    facts(
      { a: "" },
      {
        commandResult: () => ({
          hasPassed: passed,
          ending: passed ? "passed (exit 0)" : "failed (exit 2)",
        }),
      },
    );
  expect(holds(gate, ran(true))).toBe(true);
  expect(failuresOf(gate, ran(false))).toEqual([
    { rule: "command", file: null, found: "failed (exit 2): make yes", expected: "exit 0" },
  ]);
});

test("a condition that waits for a command chooses nothing yet", () => {
  const gate: Gate = {
    if: { command: "test -x tool" },
    all: [{ file: "a" }],
    else: [{ file: "b" }],
  };
  expect(judgeGates([gate], facts({}))).toMatchObject({
    holds: false,
    failures: [],
    missing: { commands: ["test -x tool"], undecidedPairs: [] },
  });

  expect(
    failuresOf(gate, facts({}, { commandResult: () => ({ hasPassed: false, ending: "" }) })),
  ).toMatchObject([{ file: "b" }]);
});

test("a rule that says nothing, words without a subject and names nobody looked up never hold", () => {
  const empty: Proof[] = [
    {},
    { exists: true },
    { files: [] },
    { at_least: 2 },
    { else: [] },
    { min_lines: 1, none: ["x"] },
    { if: { file: "a" } },
    "plan_lint",
  ];
  for (const proof of empty) expect(holds(proof, facts({ a: "x" }))).toBe(false);
  expect(holds({ for_each: { file: "a", matches: "x" } }, facts({ a: "x" }))).toBe(false);
  expect(judgeGates([], facts({})).holds).toBe(true);
});

test("rules nested beyond the bound fail instead of going on", () => {
  let gate: Gate = { file: "a" };
  for (let depth = 0; depth < 30; depth++) gate = { all: [gate] };
  expect(failuresOf(gate, facts({ a: "" }))).toMatchObject([
    { rule: "gate", found: "rules nested more than 16 deep" },
  ]);
});

test("a pattern without an end over many files is given up after a few, and files that are no text are no reason to give up", () => {
  const bomb = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`d/${index}`, `${"a".repeat(64)}?`]),
  );

  let searches = 0;
  const given = facts(bomb);

  const match: GateFacts["match"] = (...asked) => {
    const found = given.match(...asked);
    if (!found.ok && found.why.includes("still searching")) searches++;
    return found;
  };

  expect(failuresOf({ any: "d/*", matches: "(a+)+!" }, { ...given, match })).toMatchObject([
    { rule: "any", found: expect.stringContaining("came to no end in other files") as string },
  ]);

  expect(searches).toBe(2);
  const mixed = facts({ "d/1": "<bytes>", "d/2": "<bytes>", "d/3": "<bytes>", "d/4": "word\n" });
  expect(holds({ any: "d/*", matches: "word" }, mixed)).toBe(true);
});
