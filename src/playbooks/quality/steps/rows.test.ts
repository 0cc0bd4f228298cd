// Every row of the cross-validation table from both sides, on the gates as the shipped flow has
// them.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Flow, Gate } from "../../../contracts/flow.ts";
import { judgeGates } from "../../../verify/gates/gates.ts";
import { openMatcher } from "../../../verify/gates/pattern.ts";
import { exploration, left, nine } from "../../../../test/quality/audit.ts";

const flow = parse(
  readFileSync(new URL("../../../flows/catalog/quality/flow.yaml", import.meta.url), "utf8"),
) as Flow;

function gatesOf(phase: string): readonly Gate[] {
  const steps =
    ("read" in flow.phases ? [] : flow.phases).find(({ id }) => id === phase)?.steps ?? [];
  return steps
    .flatMap(({ proof }) => proof ?? [])
    .filter((proof): proof is Gate => typeof proof !== "string");
}

type Files = Readonly<Record<string, string | null>>;
/** `null` takes a file away. */
function holds(phase: string, files: Files): boolean {
  const all = Object.entries({ ...left[phase], ...files }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  const texts = new Map(all.map(([path, text]) => [`quality/${path}`, text]));
  return judgeGates(gatesOf(phase), {
    files: new Map(
      [...texts].map(([path, text]) => [path, { kind: "file", size: Buffer.byteLength(text) }]),
    ),
    isWhole: true,
    read: (path) => (texts.has(path) ? { text: texts.get(path) ?? "", isWhole: true } : null),
    match: openMatcher(),
    changed: new Set(),
    isNewer: () => null,
    commandResult: () => undefined,
  }).holds;
}

const without = (...paths: readonly string[]): Files =>
  Object.fromEntries(paths.map((path) => [path, null]));
const bugs = { "BUGS.md": "### BUG-001: a\n### BUG-002: b\n" };

describe("row 1: EXPLORATION.md, 120 lines, a section of findings", () => {
  test.each<[string, Files, boolean]>([
    ["120 lines", { "EXPLORATION.md": exploration(120) }, true],
    ["119 lines", { "EXPLORATION.md": exploration(119) }, false],
    [
      "119 lines and a last one without its end",
      { "EXPLORATION.md": `${exploration(119)}x` },
      true,
    ],
    ["not there", without("EXPLORATION.md"), false],
    ...(
      [
        ["## Finding 1", true],
        ["##  Finding", true],
        ["## Open Exploration Findings", true],
        ["## 3. A third", true],
        ["##\tFinding", true],
        ["### Finding", false],
        ["## Open findings", false],
        ["## 3 A third", false],
        ["text ## Finding", false],
        ["##Finding", false],
      ] as const
    ).map(([heading, is]): [string, Files, boolean] => [
      JSON.stringify(heading),
      { "EXPLORATION.md": `${heading}\n${"line\n".repeat(130)}` },
      is,
    ]),
  ])("%s", (_what, files, is) => expect(holds("1", files)).toBe(is));
});

describe("row 2: nine documents, and a functional test in whatever language", () => {
  test("all there", () => expect(holds("2", {})).toBe(true));
  test.each(nine)("%s.md missing, or empty", (name) => {
    expect(holds("2", { [`${name}.md`]: null })).toBe(false);
    expect(holds("2", { [`${name}.md`]: "" })).toBe(false);
  });

  test.each<[string, Files, boolean]>([
    ["no functional test", without("test_functional.js"), false],
    ["an empty one", { "test_functional.js": "" }, false],
    [
      "one in another language",
      { "test_functional.js": null, "test_functional.py": "assert True\n" },
      true,
    ],
    ["an empty one beside a good one", { "test_functional.py": "" }, true],
  ])("%s", (_what, files, is) => expect(holds("2", files)).toBe(is));
});

describe("row 3: a review, and with bugs a patch", () => {
  const patches = [
    "patches/BUG-001-regression-test.patch",
    "patches/BUG-002-regression-test.patch",
  ];
  test.each<[string, Files, boolean]>([
    ["a review, bugs, patches", {}, true],
    ["no review", without("code_reviews/2026-05-15-review.md"), false],
    [
      "only a hidden file in its place",
      { "code_reviews/2026-05-15-review.md": null, "code_reviews/.gitkeep": "" },
      false,
    ],
    ["bugs and no patch", without(...patches), false],
    ["bugs and one patch", without(patches[0] ?? ""), true],
    [
      "bugs and a patch of another name",
      { ...without(...patches), "patches/BUG-001-fix.patch": "x\n" },
      false,
    ],
    ["no BUGS.md, no patch", without("BUGS.md", ...patches), true],
    [
      "BUGS.md without a bug, no patch",
      { "BUGS.md": "# None\n## BUG-001\n", ...without(...patches) },
      true,
    ],
  ])("%s", (_what, files, is) => expect(holds("3", files)).toBe(is));
});

describe("row 4: triage and auditors by name, else two files", () => {
  const none = without(...Object.keys(left["4"] ?? {}));
  test.each<[string, Files, boolean]>([
    ["both kinds", {}, true],
    ["auditors alone", without("spec_audits/2026-05-15-triage.md"), false],
    [
      "triage alone, and another file",
      { ...none, "spec_audits/x-triage.md": "x", "spec_audits/y.md": "y" },
      false,
    ],
    [
      "neither name, two files",
      { ...none, "spec_audits/a.md": "a", "spec_audits/b.md": "b" },
      true,
    ],
    ["neither name, one file", { ...none, "spec_audits/a.md": "a" }, false],
    ["nothing", none, false],
  ])("%s", (_what, files, is) => expect(holds("4", files)).toBe(is));
});

describe("row 5: for every bug a write-up and a red log; without bugs nothing", () => {
  test.each<[string, Files, boolean]>([
    ["no BUGS.md: vacuous", without(...Object.keys(left["5"] ?? {})), true],
    [
      "BUGS.md without a bug: vacuous",
      { "BUGS.md": "# None\n", ...without(...Object.keys(left["5"] ?? {})) },
      true,
    ],
    ["all of it", bugs, true],
    ["no results", { ...bugs, "results/tdd-results.json": null }, false],
    ["empty results", { ...bugs, "results/tdd-results.json": "" }, false],
    ["one write-up missing", { ...bugs, "writeups/BUG-002.md": null }, false],
    ["one red log missing", { ...bugs, "results/BUG-001.red.log": null }, false],
    [
      "ids of several words, each with its own",
      { "BUGS.md": "### BUG-H-1\n", "writeups/BUG-H-1.md": "x", "results/BUG-H-1.red.log": "x" },
      true,
    ],
    [
      "ids of several words, and files of one name for two",
      {
        "BUGS.md": "### BUG-H-1\n### BUG-H-2\n",
        "writeups/BUG-H.md": "x",
        "results/BUG-H.red.log": "x",
      },
      false,
    ],
    ["a third bug with nothing", { "BUGS.md": `${bugs["BUGS.md"]}### BUG-003\n` }, false],
  ])("%s", (_what, files, is) => expect(holds("5", files)).toBe(is));
});

test("row 6 is the runner's own: the gate decides, by name, and no file an agent could write", () => {
  const steps =
    ("read" in flow.phases ? [] : flow.phases).find(({ id }) => id === "6")?.steps ?? [];
  expect(steps.find(({ id }) => id === "do")?.proof).toEqual(["terminal_gate"]);
});
