import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { RoadmapPhase } from "../../../contracts/roadmap.ts";
import { findingsMax } from "../../../documents/report.ts";
import { phasesMax, parseRoadmap } from "./roadmap.ts";
import { tries } from "../../../../test/support/sampled.ts";

const fixture = (name: string): string =>
  readFileSync(resolve(import.meta.dirname, "../../../../test/fixtures/roadmap", name), "utf8");
const traps = fixture("traps.md");
const read = (text: string) => parseRoadmap("ROADMAP.md", text);
const reported = (text: string): readonly string[] =>
  read(text).findings.map(({ line, column, rule }) => `${line}:${column} ${rule}`);
const rules = (text: string): readonly string[] => read(text).findings.map(({ rule }) => rule);
const one = (...lines: readonly string[]) =>
  read(["### Phase 1: One", ...lines, "### Phase 2: Two", "**Goal**: two"].join("\n"));
const phaseOne = (...lines: readonly string[]) => one(...lines).phases.find(({ id }) => id === "1");

describe("a roadmap with every trap", () => {
  test("reads to these phases, in execution order, with these dependencies", () => {
    const rows = read(traps).phases.map(({ id, depends_on, checked, inserted, stub, line, name }) =>
      [
        id,
        depends_on.join("+") || "-",
        checked ? "x" : "o",
        inserted ? "inserted" : "",
        stub ? "stub" : "",
        line,
        name,
      ].join(" "),
    );
    expect(rows).toEqual([
      "1 - x   49 Read the gauge",
      "2 1 x   70 Keep readings",
      "2.9 2 o inserted  81 Shed old readings",
      "2.10 2+2.9 o inserted  77 Compact the store",
      "3 1+2+2.9 o   85 Draw the curve",
      "5 2+1 x   89 潮位を学習する",
      "4 5+2 o   26 Predict",
      "6 4 o  stub 93 Sound the alarm",
      "7 - o   97 Only a section",
      "8 - o  stub 17 Only in the list",
    ]);
  });

  test("has no error, and tells what is odd with line and column", () => {
    expect(reported(traps)).toEqual([
      "16:3 name_differs",
      "17:3 missing_section",
      "77:5 no_criteria",
      "81:5 no_criteria",
      "85:5 no_criteria",
      "94:11 stub_goal",
      "97:5 missing_checklist_line",
      "97:5 no_criteria",
    ]);

    expect(read(traps).findings.every(({ severity }) => severity === "warning")).toBe(true);
  });

  test("a check that cannot fail is told, and stays: the user wrote it", () => {
    const { phases, findings } = one(
      "**Goal**: g",
      "**Success Criteria**:",
      "1. all is well :: true",
      "2. it is there :: test -f a.txt",
    );
    expect(
      findings
        .filter(({ rule }) => rule === "trivial_command")
        .map(({ line, severity }) => [line, severity]),
    ).toEqual([[4, "warning"]]);

    expect(phases[0]?.success_criteria.map(({ command }) => command)).toEqual([
      "true",
      "test -f a.txt",
    ]);
  });

  test("every phase fits its schema", () => {
    for (const phase of read(traps).phases) expect(v.is(RoadmapPhase, phase)).toBe(true);
  });

  test("criteria carry their checks and what is expected of them; nested lists and other numbered lists are none", () => {
    const four = read(traps).phases.find(({ id }) => id === "4");
    expect(four?.success_criteria).toEqual([
      {
        text: "A forecast for tomorrow is printed",
        command: "node predict.mjs --days 1",
        expect: null,
        line: 28,
      },
      {
        text: "The table has 24 rows",
        command: "node predict.mjs | grep -c ':'",
        expect: { kind: "at_least", count: 24 },
        line: 29,
      },
      {
        text: "No row is empty",
        command: "node predict.mjs | grep -c '^$'",
        expect: { kind: "exactly", count: 0 },
        line: 30,
      },
      {
        text: "The harbour is named",
        command: "node predict.mjs | head -1",
        expect: { kind: "text", text: "Port (East)" },
        line: 31,
      },
      {
        text: "The type is right: `tide :: Hour -> Height` stays as it is",
        command: null,
        expect: null,
        line: 32,
      },
      {
        text: "A wrapped criterion that goes on on the next line and ends here",
        command: "npm test",
        expect: null,
        line: 33,
      },
      {
        text: "A criterion whose check stands below",
        command: "test -s forecast.json",
        expect: null,
        line: 38,
      },
    ]);

    expect(four?.goal).toBe("The board knows tomorrow's tide before tomorrow comes.");
    expect(read(traps).phases.find(({ id }) => id === "1")?.success_criteria).toEqual([]);
  });

  test("requirements are names: remarks, placeholders and explanations fall away", () => {
    const of = (id: string) => read(traps).phases.find((phase) => phase.id === id)?.requirements;
    expect([of("4"), of("1"), of("2")]).toEqual([
      ["FORE-01", "FORE-02", "FORE-03"],
      [],
      ["KEEP-01", "KEEP-02"],
    ]);
  });

  test.each([
    ["CRLF", traps.replaceAll("\n", "\r\n")],
    ["old line ends", traps.replaceAll("\n", "\r")],
    ["a byte order mark", `\ufeff${traps}`],
  ])("%s changes nothing, not even a column", (_what, text) => {
    expect(read(text)).toEqual(read(traps));
  });

  test("tabs instead of spaces change no phase", () => {
    const tabbed = traps
      .replaceAll(/^ {5}/gm, "\t\t")
      .replaceAll(/^ {2}(?=[\d-])/gm, "\t")
      .replaceAll("- [", "-\t[")
      .replaceAll("### P", "###\tP");
    expect(tabbed).not.toBe(traps);
    expect(read(tabbed).phases).toEqual(read(traps).phases);
  });
});

describe("what is wrong is told all at once", () => {
  test("every fault of a broken roadmap, by line", () => {
    expect(reported(fixture("broken.md"))).toEqual([
      "4:3 checkbox",
      "5:3 duplicate_id",
      "6:3 phase_id",
      "7:3 phase_title",
      "9:5 no_criteria",
      "11:17 dependency_cycle",
      "13:5 no_criteria",
      "15:17 unknown_dependency",
      "17:5 missing_checklist_line",
      "21:4 check_empty",
      "22:4 expectation_unknown",
      "24:5 duplicate_id",
      "27:4 heading_level",
      "30:5 missing_checklist_line",
      "30:5 no_criteria",
      "32:17 dependency_cycle",
      "33:1 duplicate_field",
      "35:5 missing_checklist_line",
      "35:5 stub_goal",
      "36:1 field_misspelt",
      "37:17 dependency_unreadable",
    ]);
  });

  test("a cycle is told in its order, an unknown id by name, a second section with the line of the first", () => {
    const messages = read(fixture("broken.md"))
      .findings.map(({ message }) => message)
      .join("\n");
    expect(messages).toContain("1 -> 3 -> 2 -> 1");
    expect(messages).toContain("6 -> 6");
    expect(messages).toContain("phase 2 on 42");
    expect(messages).toContain("second section of phase 3, the first is on line 17");
  });

  test("two knots of phases are two cycles, even where one waits for the other", () => {
    const text = ["1 2,3", "2 1", "3 4", "4 3"]
      .map((row) => row.split(" "))
      .map(([id, on]) => `### Phase ${id}: P\n**Goal**: g\n**Depends on**: ${on}`);
    const cycles = read(text.join("\n")).findings.filter(({ rule }) => rule === "dependency_cycle");
    expect(cycles.map(({ message }) => /: (.*),/.exec(message)?.[1])).toEqual([
      "1 -> 2 -> 1",
      "3 -> 4 -> 3",
    ]);
  });

  test.each([
    ["nothing at all", "", "no_phases"],
    ["prose", "# A plan\n\nPhase 1 is good.\n", "no_phases"],
    [
      "a fence that never ends",
      "### Phase 1: A\n**Goal**: g\n```\n### Phase 2: B\n",
      "unclosed_fence",
    ],
    [
      "a comment that never ends",
      "### Phase 1: A\n**Goal**: g\n<!-- soon\n### Phase 2: B\n",
      "unclosed_comment",
    ],
    ["an id that is no number", "### Phase A: A\n### Phase 1: B\n**Goal**: g", "phase_id"],
    ["an id with too many parts", "### Phase 1.2.3.4.5: A\n", "phase_id"],
    ["a name that is missing", "### Phase 1:\n", "phase_name"],
    ["a title that is not bold", "- [ ] Phase 1: A\n### Phase 1: A\n**Goal**: g", "title_not_bold"],
    ["a line of a megabyte", `### Phase 1: A\n**Goal**: ${"g".repeat(1_000_000)}`, "line_too_long"],
    [
      "a check without backticks",
      "### Phase 1: A\n**Goal**: g\n**Success Criteria**:\n1. a verified by: npm test",
      "check_not_quoted",
    ],
    [
      "bullets for criteria",
      "### Phase 1: A\n**Goal**: g\n**Success Criteria**:\n- a :: npm test",
      "criteria_not_numbered",
    ],
    [
      "a dependency in the middle of prose",
      "### Phase 1: A\n**Goal**: g\n**Depends on**: Phase 2 for 30 days\n### Phase 2: B\n**Goal**: g",
      "dependency_unread",
    ],
  ])("%s", (_what, text, rule) => {
    expect(rules(text)).toContain(rule);
  });

  test("ten thousand faults are counted and not listed, and none of the errors is pushed out by warnings", () => {
    const lines = Array.from({ length: 1_500 }, (_, n) => `### Phase ${n + 1}: P`);
    const { findings } = read([...lines, "**Depends on**: Phase 9999"].join("\n"));
    expect(findings).toHaveLength(findingsMax + 1);
    expect(findings.map(({ rule }) => rule)).toContain("unknown_dependency");
    expect(findings.at(-1)?.message).toContain("more problems");
  });

  test("more phases than anybody plans are refused", () => {
    const many = Array.from({ length: phasesMax + 1 }, (_, n) => `### Phase ${n + 1}: P`).join(
      "\n",
    );
    expect(rules(many)).toContain("too_many");
  });
});

describe("fields", () => {
  test.each([
    ["**Goal**: be done", "be done"],
    ["**Goal:** be done", "be done"],
    ["**Goal** : be done", "be done"],
    ["__Goal__: be done", "be done"],
    ["- **Goal**: be done", "be done"],
    ["**Goal**:\n\nbe\ndone\n\nand more", "be done"],
    ["**Goal**: be **very: bold** done", "be **very: bold** done"],
    ["**Goal (short)**: be done", "be done"],
    ["**goal**：be done", "be done"],
    ["Goal: be done", "be done"],
    ["#### Goal\nbe done", "be done"],
  ])("%j is a goal", (text, goal) => {
    expect(phaseOne(text)?.goal).toBe(goal);
  });

  test.each([
    "",
    "**Goal**:",
    "**Goal**: TBD",
    "**Goal**: [To be planned]",
    "**Goal**: tbd (soon)",
    "**Goal:** *[TBD]*",
    "Goal alone",
  ])("%j is a stub", (text) => {
    expect(phaseOne(text)?.stub).toBe(true);
  });

  test.each([
    "**Goal**: Replace TBD by words",
    "**Goal**: No [To be planned] is left in the roadmap",
  ])("%j is no stub", (text) => {
    expect(phaseOne(text)?.stub).toBe(false);
  });

  test.each([
    ["Nothing", []],
    ["Nothing yet, see Phase 2", []],
    ["none", []],
    ["Phase 2", ["2"]],
    ["phase 02", ["2"]],
    ["Phase 2 (after Phase 9, (really) Phase 8)", ["2"]],
    ["**Phase 2**", ["2"]],
    ["Phase 2 - can come any time", ["2"]],
    ["2", ["2"]],
    ["Phases 2 & 2", ["2"]],
    ["Phase 2（Phase 9 ではない）", ["2"]],
  ])("depends on %j", (text, ids) => {
    expect(phaseOne("**Goal**: g", `**Depends on**: ${text}`)?.depends_on).toEqual(ids);
  });

  test("where a list of criteria ends: at another field, a bare label, a paragraph", () => {
    for (const end of [
      "**Why:**\n1. no",
      "Plans:\n1. no",
      "\nAnd so:\n1. no",
      "#### More\n1. no",
      "- [ ] 01-01: no",
    ]) {
      expect(
        phaseOne("**Success Criteria**:", "1. a :: npm test", "", "2. b :: npm test", end)
          ?.success_criteria,
      ).toHaveLength(2);
    }
  });
});

/** A legal roadmap in pieces that may be in any order. */
function pieces(count: number): {
  readonly boxes: readonly string[];
  readonly sections: readonly (readonly string[])[];
} {
  const ids = Array.from({ length: count }, (_, n) => (n % 5 === 4 ? `${n}.${n}` : String(n)));
  return {
    boxes: ids.map((id, n) => `- [${n % 2 === 0 ? "x" : " "}] **Phase ${id}: Name ${n}** - what`),
    sections: ids.map((id, n) => [
      `### Phase ${id}: Name ${n}\n`,
      `**Goal**: goal ${n}\n`,
      `**Depends on**: ${n % 3 === 0 ? "Nothing" : `Phase ${ids[(n * 7) % n] ?? "0"} (not Phase ${n})`}\n`,
      `**Success Criteria**:\n1. c${n} :: test -f ${n}\n2. d${n}\n`,
    ]),
  };
}

test("any permutation of legal lines, sections and fields gives the same phases", () => {
  const { boxes, sections } = pieces(20);
  const plain = ({ phases }: ReturnType<typeof read>) =>
    phases.map(({ line: _line, success_criteria, ...rest }) => ({
      ...rest,
      criteria: success_criteria.map(({ text, command }) => [text, command]),
    }));
  const expected = plain(read([...boxes, ...sections.flat()].join("\n")));
  expect(expected).toHaveLength(20);

  const shuffled = fc.tuple(
    fc.shuffledSubarray([...boxes], { minLength: boxes.length }),
    fc.shuffledSubarray([...sections], { minLength: sections.length }),
    fc.shuffledSubarray([1, 2, 3], { minLength: 3 }),
  );
  fc.assert(
    fc.property(shuffled, fc.boolean(), ([someBoxes, someSections, order], isListFirst) => {
      const details = someSections.map((section) =>
        [section[0], ...order.map((at) => section[at])].join(""),
      );

      const list = ["## Phases", ...someBoxes];
      const text = isListFirst ? [...list, "## Details", ...details] : [...details, ...list];
      expect(plain(read(text.join("\n")))).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

test("500 phases are read whole and in order, without a finding", () => {
  const { boxes, sections } = pieces(500);
  const { phases, findings } = read([...boxes, ...sections.flat()].join("\n"));
  expect(findings).toEqual([]);
  const at = new Map(phases.map(({ id }, n) => [id, n]));
  expect(at.size).toBe(500);

  for (const { id, depends_on } of phases) {
    for (const on of depends_on) expect(at.get(on)).toBeLessThan(at.get(id) ?? -1);
  }
});

test("whatever the text is, the answer is phases and findings with places inside it", () => {
  const bits = fc.constantFrom(
    "### Phase 1: A",
    "- [ ] **Phase 1",
    "**Goal",
    "**:",
    "```",
    "<!--",
    "-->",
    "::",
    "`",
    "(",
    ")",
    "\t",
    "\r\n",
    "\n",
    "1. ",
    "**Depends on**: ",
    "Phase 2-",
    "\u0000",
    "é",
    "(returns ",
  );
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 40 }), (parts) => {
      const text = parts.join("");
      const lines = text.split(/\r\n|\n|\r/);

      for (const { line, column } of read(text).findings) {
        expect(line).toBeLessThanOrEqual(lines.length);
        expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
      }
    }),
    { numRuns: tries(500) },
  );
});
