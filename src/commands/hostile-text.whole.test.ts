// Texts that make a careless pattern look at every place from every other: an agent may write them,
// and nothing can interrupt a pattern. Each reader must come to its end; one that does not is ended
// by the test's own limit.

import { describe, expect, test } from "vitest";
import { parseStagedState } from "../playbooks/staged/views/parse-staged-state.ts";
import { explainPlaceholder, parsePromptLines } from "../verify/gates/placeholder.ts";
import {
  findBugIds,
  countFindings,
  countIds,
  mentionsId,
  mentionsPattern,
} from "../playbooks/quality/steps/count-in-documents.ts";
import { readReports } from "../playbooks/staged/steps/reports.ts";
import { readTasks, tablePath } from "../playbooks/staged/steps/task-table.ts";
import { detectFormat, headBytes } from "../playbooks/contract/formats.ts";

const length = 400_000;
const many = (text: string): string => text.repeat(Math.ceil(length / text.length));

const hostile: Readonly<Record<string, string>> = {
  "blank lines": many("\n"),
  "blank lines and a word": `${many("\n")}x`,
  "spaces in a heading": `## Current Step${many(" ")}x`,
  "a heading and blank lines": `## Current Step${many("\n")}`,
  "spaces in a field": `## Current Step\nflow: x${many(" ")}y`,
  "spaces behind a label": `a:${many(" ")}b`,
  "stars behind a label": `a: x${many("*")}b`,
  "spaces in a cell": `| Task | Files |\n|---|---|\n| a |${many(" ")}x |`,
  "brackets that open in a cell": `| Task | Files |\n|---|---|\n| a | ${many("[")} |`,
  "links that do not end in a cell": `| Task | Files |\n|---|---|\n| ${many("[a](")} | x |`,
  "a word and spaces": `pattern${many(" ")}x`,
  "many words and spaces": many(`pattern${" ".repeat(2_000)}`),
  "marks of a list": many("- "),
  "marks of a quotation": many("> "),
  bars: many("|"),
  hashes: many("#"),
  "hashes and spaces": many("# "),
  stars: many("*"),
  ticks: many("`"),
  "comments that open": many("<!--"),
  "files and blank lines": `Files:${many("\n")}## files${many("\n")}`,
  "files and spaces": `Files: ${many(" ")}\n`,
  "a long id": `### BUG-${many("a")}\n### REQ-${many("1")}`,
  "points and spaces": `complexity${many(" ")}`,
  "points and marks": many("complexity: "),
  digits: many("1"),
  "dashes and a word": `${many("-")}x`,
};

describe.each(Object.entries(hostile))("%s", (_what, text) => {
  test("come to an end in the state file", () =>
    expect(parseStagedState(text).state.current).toBeNull());
  test("come to an end where a format is looked for", () =>
    expect(detectFormat("x", text.slice(0, headBytes))).toBeDefined());
  test("come to an end in a quality run's documents", () => {
    const counts = [
      countFindings(text),
      countIds(text, "REQ"),
      countIds(text, "UC"),
      findBugIds(text).length,
    ];
    expect(counts.every((count) => count >= 0)).toBe(true);
    expect([mentionsPattern(text, 3), mentionsId(text, "F-1")]).toEqual([false, false]);
  });

  test("come to an end among tasks and reports", async () => {
    const tree = {
      paths: [tablePath, "_docs/02_tasks/a.md", "_docs/03_implementation/x_report.md"],
      read: (path: string) =>
        Promise.resolve(
          path === tablePath && !text.startsWith("| Task") ? "| Task |\n|---|\n| a |\n" : text,
        ),
    };

    const { faults } = await readTasks(tree);
    expect(Array.isArray(faults)).toBe(true);
    expect((await readReports(tree)).isDone("a-task")).toBe(false);
  });

  test("come to an end where content is looked for", () => {
    for (const path of ["a.md", "a.txt", "a.json", "a.log"]) {
      explainPlaceholder(text, { path, minLines: 120 });
    }

    expect(parsePromptLines(text)).toBeInstanceOf(Set);
  });
});
