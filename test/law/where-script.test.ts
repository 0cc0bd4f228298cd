// `npm run where -- WORDS`: the file that somebody looks for is among those it names.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "./source.ts";

const where = (words: string): readonly string[] =>
  spawnSync(process.execPath, [join(repository, "scripts/where.mjs"), ...words.split(" ")], {
    encoding: "utf8",
  }).stdout.split("\n");

test.each([
  ["torn last line", "src/journal/repair.ts"],
  ["isolation order", "src/contracts/isolation-levels.ts"],
  ["what clean deletes", "src/commands/clean.ts"],
  ["retry of notifications", "src/project/notify/delivery-plan.ts"],
  ["task conflicts in the merge queue", "src/portfolio/merge/prove-and-land.ts"],
  ["which agent is not installed", "src/runner/draft/assign-agent.ts"],
  ["the largest file", "src/workspace/layers/judge-layer.ts"],
  ["rules of run_state.jsonl", "src/playbooks/quality/views/quality-log-rules.ts"],
])("%s leads to %s", (words, path) => {
  expect(where(words)).toContain(path);
});

test("at most eight are named, each with its first sentence and no test among them", () => {
  const lines = where("journal lock").filter((line) => line !== "");
  expect(lines).toHaveLength(16);
  expect(lines.filter((line) => line.includes(".test."))).toEqual([]);
  expect(lines[lines.indexOf("src/journal/lock.ts") + 1]).toMatch(/^ {4}lets one owner at a time/);
  expect(where("qqq")[0]).toMatch(/^Nothing fits/);
});
