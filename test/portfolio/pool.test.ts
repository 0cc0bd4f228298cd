// Whole portfolios with the embedded agent: dispatched, proved, merged, killed and taken up again.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { autopilot, begin, type Told } from "../support/autopilot.ts";
import { git, scratch, scratchFolder, write } from "../support/scratch-repository.ts";

type Row = { readonly id: string; readonly status: string; readonly landed: string | null };

const done = { say: "finished <promise>DONE</promise>" };
const file = (path: string, text = "made\n"): object => ({ write: { path, text } });

/** A portfolio beside its repositories. */
async function portfolio(projects: Readonly<Record<string, string>>) {
  const folder = join(scratchFolder(), "portfolio");
  write(folder, { "README.md": "" });
  const run = async (...words: readonly string[]): Promise<Told> => (await autopilot(folder, ["portfolio", ...words, "--json"])).json;
  await run("init");
  for (const [name, repo] of Object.entries(projects))
    await run("add", "project", name, "--repo", repo, "--slots", "4", "--objective", "work");
  let scripts = 0;
  const add = async (project: string, name: string, turns: readonly object[], ...words: readonly string[]): Promise<string> => {
    const script = join(folder, `agent-${++scripts}.yaml`);
    writeFileSync(script, JSON.stringify({ turns }));
    const told = await run("add", "task", project, name, "--agent", `scripted:${script}`, "--isolation", "clone", ...words);
    expect(told.result).toBe("PASS");
    return String(told["id"]);
  };
  const pool = (...words: readonly string[]): Promise<Told> => run("run", "--until-idle", "--isolation", "clone", ...words);
  const tasks = async (): Promise<ReadonlyMap<string, Row>> =>
    new Map(((await run("status"))["tasks"] as readonly Row[]).map((row) => [row.id, row]));
  return { folder, run, add, pool, tasks };
}

test("two projects with dependencies and questions: each task lands once and the checkouts stay clean", async () => {
  const [shop, site] = [scratch(), scratch()];
  const { add, pool, tasks, run } = await portfolio({ Shop: shop, Site: site });
  const apples = await add(
    "Shop",
    "sell apples",
    [{ do: [file("apples.txt"), done] }],
    "--accept",
    "apples :: test -f apples.txt",
    "--touches",
    "apples.txt",
  );
  const pears = await add(
    "Shop",
    "sell pears",
    [{ do: [file("pears.txt"), done] }],
    "--accept",
    "both :: test -f pears.txt && test -f apples.txt",
    "--after",
    apples,
    "--touches",
    "pears.txt",
  );
  const asks = await add(
    "Site",
    "choose a colour",
    [{ do: [{ ask: "Which colour?" }] }, { do: [file("colour.txt", "blue\n"), done] }],
    "--accept",
    "colour :: test -f colour.txt",
  );
  const taste = await add("Site", "look nice", [{ do: [file("style.css"), done] }], "--accept", "it looks nice", "--touches", "style.css");
  await pool("--jobs", "3");
  const inbox = (await run("inbox"))["blocks"] as readonly { readonly block: string; readonly task: string; readonly question: string }[];
  const about = new Map(inbox.map((row) => [row.task, row]));
  expect(about.get(asks)?.question).toContain("Which colour?");
  expect(about.get(taste)?.question).toContain("it looks nice");
  expect((await run("answer", "blue")).reason_code).toBe("block_ambiguous");
  expect((await run("answer", "--block", about.get(asks)?.block ?? "", "blue")).result).toBe("PASS");
  expect((await run("answer", "--block", about.get(taste)?.block ?? "", "A")).result).toBe("PASS");
  await pool("--jobs", "3");
  const rows = await tasks();
  expect([apples, pears, asks, taste].map((id) => rows.get(id)?.status)).toEqual(["done", "done", "done", "done"]);
  expect(readFileSync(join(site, "colour.txt"), "utf8")).toBe("blue\n");
  for (const [repo, ids] of [
    [shop, [apples, pears]],
    [site, [asks, taste]],
  ] as const) {
    for (const id of ids) expect(git(repo, "log", "--format=%H", "--grep", `Autopilot-Task: ${id}`).split("\n")).toHaveLength(1);
    expect(git(repo, "status", "--porcelain")).toBe("");
  }
  expect((await run("rebuild"))["different"]).toEqual([]);
});

test("two tasks that pass alone and fail together: one lands, the other comes back with the evidence and lands after its adjustment", async () => {
  const check = "#!/bin/sh\n! { test -f a.txt && test -f b.txt; } || ls peace-*.txt\n";
  const repo = scratch({ files: { "README.md": "# x\n", "check.sh": check } });
  const { add, pool, tasks, folder } = await portfolio({ Shop: repo });
  const writes = (name: string, other: string): readonly object[] => [
    { do: [file(`${name}.txt`), { run: `test ! -f ${other}.txt || echo made > peace-${name}.txt` }, done] },
  ];
  const accept = (name: string): readonly string[] => [
    "--accept",
    `${name} :: test -f ${name}.txt && sh check.sh`,
    "--touches",
    `${name}.txt`,
    "--touches",
    `peace-${name}.txt`,
  ];
  const one = await add("Shop", "write a", writes("a", "b"), ...accept("a"));
  const other = await add("Shop", "write b", writes("b", "a"), ...accept("b"));
  await pool("--jobs", "2");
  const returned = readFileSync(join(folder, ".openclaw-autopilot/events/events.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"merge_rejected"'));
  expect(returned.length).toBeGreaterThan(0);
  const told = JSON.parse(returned[0] ?? "") as {
    readonly task_id: string;
    readonly evidence: readonly string[];
    readonly meta: { readonly with: readonly string[] };
  };
  expect(told.evidence.join()).toContain("failed: test -f");
  const winner = told.task_id === one ? other : one;
  expect(told.meta.with).toContain(winner);
  const rows = await tasks();
  expect([one, other].map((id) => rows.get(id)?.status)).toEqual(["done", "done"]);
  expect(winner).not.toBe(told.task_id);
  expect(git(repo, "show", "--stat", "--format=", "HEAD^2")).toContain("peace-");
});

test("a pool that is killed at any moment is taken up again, and every task lands once", async () => {
  const repo = scratch();
  const { add, pool, tasks, folder, run } = await portfolio({ Shop: repo });
  const ids: string[] = [];
  for (const name of ["one", "two", "three"])
    ids.push(
      await add(
        "Shop",
        `write ${name}`,
        [{ do: [{ sleep: 300 }, file(`${name}.txt`), done] }],
        "--accept",
        `${name} :: test -f ${name}.txt`,
        "--touches",
        `${name}.txt`,
      ),
    );
  for (const ms of [1500, 3000, 4500]) {
    const { child, ended } = begin(folder, ["portfolio", "run", "--until-idle", "--isolation", "clone", "--jobs", "2"]);
    await Promise.race([wait(ms), ended]);
    child.kill("SIGKILL");
    await ended;
  }
  await pool("--jobs", "2");
  const rows = await tasks();
  expect(ids.map((id) => rows.get(id)?.status)).toEqual(["done", "done", "done"]);
  for (const id of ids) expect(git(repo, "log", "--format=%H", "--grep", `Autopilot-Task: ${id}`).split("\n")).toHaveLength(1);
  expect(git(repo, "status", "--porcelain")).toBe("");
  expect((await run("rebuild"))["different"]).toEqual([]);
});
