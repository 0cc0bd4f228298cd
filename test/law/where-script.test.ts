// `npm run where -- WORDS`: the file that somebody looks for is among those it names.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
// @ts-expect-error The script is plain JavaScript, which is run as it is.
import * as whereScript from "../../scripts/where.mjs";
import { repository } from "./source.ts";

type Place = { readonly path: string };
const { findPlaces, readPlaces } = whereScript as {
  readonly readPlaces: (root: string) => readonly Place[];
  readonly findPlaces: (places: readonly Place[], words: readonly string[]) => readonly Place[];
};
const places = readPlaces(repository);

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
  ["overshoot", "src/views/budget-view.ts"],
  ["soft_ratio", "src/contracts/budget-profiles.ts"],
  ["an event's fields", "src/contracts/events/step-events.ts"],
  ["reason code of a landing", "src/contracts/reasons/landing-reasons.ts"],
  ["exit code of a completed run", "src/contracts/reasons/run-reasons.ts"],
  ["line notes and CI findings in the prompt", "src/runner/prompt-feedback.ts"],
  [
    "how tests are broken on purpose",
    "src/verify/experiments/broken-expectations/assertion-rules.ts",
  ],
  ["where Gemini reports cached tokens", "src/meter/dialects.ts"],
  ["a phase skipped since one it depends on failed", "src/core/decide-phase.ts"],
  ["fast-forward or merge", "src/workspace/landing/land.ts"],
  ["fast-forward", "src/workspace/landing/land.ts"],
  ["pr watch red ci tries", "src/contracts/config-defaults.ts"],
  ["follow-ups in all", "src/surfaces/cli/commands/integration/pr.ts"],
  ["crash half-written work of a turn kept", "src/core/recovery.ts"],
  ["phase skipped dependency failed", "src/core/decide-phase.ts"],
  ["stop five seconds process tree", "src/agents/process/end-tree.ts"],
  ["validate phase without success criteria", "src/playbooks/roadmap/documents/roadmap-fields.ts"],
  ["slots worker", "src/commands/fleet/submit.ts"],
  ["digest notifications combined", "src/project/notify/delivery-plan.ts"],
  ["report html files lines shown", "src/commands/report-html.ts"],
  ["calibrate hang minutes", "src/calibration/cycle/plan.ts"],
  ["runs list order limit", "src/views/runs-page.ts"],
  ["estimate accuracy", "src/insight/forecast.ts"],
  ["minimum node version", "src/commands/doctor.ts"],
  ["untracked file landing refused", "src/workspace/landing/land.ts"],
  ["agent asked again for its missing promise", "src/flows/catalog/objective/flow.yaml"],
  ["dashboard default port", "src/contracts/config-defaults.ts"],
  ["watch redraw interval", "src/commands/watch.ts"],
  ["add a new agent", "src/agents/profiles/shipped-profiles.ts"],
])("%s leads to %s", (words, path) => {
  const found = findPlaces(places, words.split(" ")).map((place) => place.path);
  expect(found).toContain(path);
});

test("at most eight are named, each with its first sentence and no test among them", () => {
  const lines = where("journal lock").filter((line) => line !== "");
  expect(lines).toHaveLength(16);
  expect(lines.filter((line) => line.includes(".test."))).toEqual([]);
  expect(lines[lines.indexOf("src/journal/lock.ts") + 1]).toMatch(/^ {4}lets one owner at a time/);
  expect(where("qqqqqqq")[0]).toMatch(/^Nothing fits/);
});
