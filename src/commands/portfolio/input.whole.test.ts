// What people give a portfolio, by hand or as a list: everything wrong is told, and nothing of it
// is taken.

import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { bindPortfolio, portfolioAt } from "../../portfolio/store/folder.ts";
import { importBacklog } from "./import.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { rebuildPortfolio } from "./rebuild.ts";
import { everything, openRoom } from "../../../test/support/portfolio-room.ts";

const { begun, remove } = openRoom();
afterAll(remove);

test("an import with ten thousand tasks of which three are wrong tells all three and imports nothing", async () => {
  const { context, root } = await begun();
  const tasks = Array.from({ length: 10_000 }, (_, n) => ({
    key: `k${n}`,
    project: "Shop",
    objective: `task ${n}`,
    ...(n % 2 === 1 ? { after: [`k${n - 1}`] } : {}),
  }));
  const wrong = tasks
    .with(7, { key: "k7", project: "Shop", objective: "" })
    .with(5000, { key: "k5000", project: "Nobody", objective: "x" })
    .with(9999, { key: "k9999", project: "Shop", objective: "x", after: ["k10000"] });
  const rows = wrong.map((task) => JSON.stringify(task)).join(",\n");
  writeFileSync(join(root, "wrong.json"), `{ "tasks": [\n${rows}\n] }`);
  const refused = await importBacklog(context, { file: "wrong.json" });
  expect(refused.data?.["problems"]).toEqual([
    "wrong.json:9: tasks[7]: its objective is empty",
    "wrong.json:5002: tasks[5000]: there is no project Nobody.",
    "wrong.json:10001: tasks[9999]: it depends on k10000, which is no task. Did you mean k100?",
  ]);

  expect(Object.keys((await readPortfolio(portfolioAt(root))).tasks)).toHaveLength(0);
});

test("a list of any length is imported whole, and one whose writing was cut off anywhere not at all", async () => {
  const { context, root } = await begun();
  const before = everything(root);
  const words = "sell ".repeat(3_000);

  const tasks = Array.from({ length: 250 }, (_, n) => ({
    project: "Shop",
    objective: `Task ${n} ${words}`,
    accept: ["it is :: true"],
  }));

  writeFileSync(join(root, "list.json"), JSON.stringify({ tasks }));
  const paths = portfolioAt(root);
  const journal = join(paths.ownFolder, "journal.jsonl");
  const bytes = statSync(journal).size;
  const drawn = readFileSync(join(paths.ownFolder, "drawn.json"));
  expect(await importBacklog(context, { file: "list.json" })).toMatchObject({
    result: "PASS",
    message: "Imported 0 projects and 250 tasks.",
  });

  expect(Object.keys((await readPortfolio(portfolioAt(root))).tasks)).toHaveLength(250);

  const whole = readFileSync(journal);
  const lineEnd = whole.lastIndexOf("\n", bytes + (whole.length - bytes) * 0.6) + 1;
  for (const cut of [lineEnd, lineEnd + 100, whole.lastIndexOf("\n", whole.length - 2) + 1]) {
    writeFileSync(journal, whole.subarray(0, cut));
    expect((await readPortfolio(portfolioAt(root))).tasks).toEqual({});
  }

  writeFileSync(join(root, "list.json"), JSON.stringify({ tasks: tasks.slice(0, 3) }));
  rmSync(join(root, ".openclaw-autopilot"), { recursive: true });

  for (const [name, content] of Object.entries(before)) {
    mkdirSync(dirname(join(root, ".openclaw-autopilot", name)), { recursive: true });
    writeFileSync(join(root, ".openclaw-autopilot", name), content);
  }

  writeFileSync(join(paths.ownFolder, "drawn.json"), drawn);
  bindPortfolio(context, paths); // the head that was remembered is cut off too
  expect(await importBacklog(context, { file: "list.json" })).toMatchObject({ result: "PASS" });
  expect(Object.keys((await readPortfolio(portfolioAt(root))).tasks)).toHaveLength(3);
  expect(await rebuildPortfolio(context)).toMatchObject({
    result: "PASS",
    data: { different: [] },
  });
});
