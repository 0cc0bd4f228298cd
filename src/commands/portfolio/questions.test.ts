// Answers to a portfolio's questions, through its commands: each counts for what was asked, and for
// nothing that changed since.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";
import {
  buildApprovalQuestion,
  isApproved,
  type Question,
} from "../../portfolio/planner/questions.ts";
import { dispatched, project, task } from "../../portfolio/planner/portfolio.test-support.ts";
import { ask } from "../../portfolio/store/ask.ts";
import { portfolioAt } from "../../portfolio/store/folder.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { commandContext } from "../../../test/support/command-context.ts";
import { addTask, initPortfolio } from "./add.ts";
import { answerPortfolio } from "./answer.ts";
import { moveTask } from "./change.ts";
import { editPortfolio } from "./edit.ts";
import { portfolioInbox } from "./inbox.ts";
import { tickPortfolio } from "./tick.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-questions-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const id = "task-a-000001";
const run_id = "run-2026-01-01-000001";
const said = { actor: "system", reason_code: "ok" } as const;

let made = 0;
/** A portfolio with one task, at work. */
async function begun() {
  const root = join(folder, `p${++made}`);
  mkdirSync(root);
  const context = commandContext({ cwd: root, env: { HOME: folder, PATH: process.env["PATH"] } });
  await initPortfolio(context, {});
  const paths = portfolioAt(root);
  const write = (...changes: readonly PortfolioChange[]): Promise<void> =>
    withPortfolio(context, paths, (open) => open.write(...changes));
  const state = () => readPortfolio(paths);
  const fields = task({
    acceptance_criteria: [{ text: "it looks nice", command: null }],
    touches: ["a/**"],
  });

  await write(
    {
      ...said,
      event: "project_created",
      project_id: "proj-shop",
      fields: project({ repository: root }),
    },
    {
      ...said,
      event: "task_created",
      task_id: id,
      project_id: "proj-shop",
      status: "ready",
      fields,
    },
    { ...said, ...dispatched(id, 1) },
  );

  const shown = async () =>
    (await portfolioInbox(context)).data?.["blocks"] as readonly {
      block: string;
      content: string;
      question: string;
    }[];

  return { context, write, state, shown };
}

/** Its work is there and a person is asked. */
async function asked() {
  const all = await begun();
  const { state, write } = all;
  const found = (await state()).tasks[id];
  if (found === undefined) throw new Error("it is there");

  const proof = {
    criteria: 1,
    proved: 0,
    checks_attempted: [],
    checks_passed: [],
    checks_failed: [],
  };

  const ended = {
    task_id: id,
    run_id,
    event_nonce: "n1",
    to_status: "blocked_human",
    commit: "1".repeat(40),
    proof,
    claim: null,
  } as const;

  const question: Question = {
    kind: "approve",
    project_id: "proj-shop",
    task_id: id,
    ...buildApprovalQuestion(found),
    expected_action: "look",
    impact: "waits",
    options: { A: "merge it", B: "try again" },
    asked_by: null,
  };

  await write(
    {
      ...said,
      event: "worker_result_ingested",
      ...ended,
      summary: "done",
      evidence: [],
      usage: { tokens: 1, usd: 0 },
    },
    ask(question, "2026-01-01T00:00:00.000Z"),
  );

  return all;
}

test.each([
  ["criteria", { accept: ["it is fast"] }],
  ["objective", { objective: "something else" }],
  ["scope", { touches: ["elsewhere/**"] }],
])(
  "an answer to an approval as it was read is refused after its task's %s changed; the question is asked again",
  async (_what, change) => {
    const { context, state, shown } = await asked();
    const [read] = await shown();
    expect(await editPortfolio(context, { id, ...change })).toMatchObject({ result: "PASS" });

    for (const content of [undefined, read?.content]) {
      expect(
        await answerPortfolio(context, { block: read?.block, content, text: "A" }),
      ).toMatchObject({
        result: "FAIL",
        reason_code: "block_changed",
      });
    }

    const [now, ...more] = await shown();
    expect([now?.block === read?.block, now?.content === read?.content, more]).toEqual([
      false,
      false,
      [],
    ]);

    const before = await state();
    expect(before.tasks[id]).toMatchObject({ status: "blocked_human" });
    expect(
      await answerPortfolio(context, { block: now?.block, content: now?.content, text: "A" }),
    ).toMatchObject({ result: "PASS" });

    const after = await state();
    expect(after.tasks[id]?.status === "ready" && isApproved(after, after.tasks[id])).toBe(true);
  },
);

test.each(["yes, but fix the typo first", "a: no", "C", "merge it"])(
  "%j approves nothing and starts nothing: it is refused, with the answers that are taken",
  async (text) => {
    const { context, state, shown } = await asked();
    const refused = await answerPortfolio(context, { text });
    expect(refused).toMatchObject({ result: "FAIL", reason_code: "portfolio_input_invalid" });
    expect(refused.message).toContain("takes A (merge it) or B (try again)");
    expect([(await state()).tasks[id]?.status, (await shown()).length]).toEqual([
      "blocked_human",
      1,
    ]);
  },
);

test.each([
  ["A", "A (merge it)", "would queue the approved work of"],
  ["B, fix the typo", "B (try again)", "would dispatch"],
])(
  "the answer %j is told with its question, and so is what comes of it",
  async (text, told, next) => {
    const { context, state } = await asked();
    const { message } = await answerPortfolio(context, { text });
    expect(message).toBe(
      `Answered "Does the work of ${id} meet: it looks nice?" with ${told}; ${id} is ready.`,
    );

    writeFileSync(join(folder, "plays.yaml"), "turns: []\n");
    const agent = `scripted:${join(folder, "plays.yaml")}`;
    expect((await tickPortfolio(context, { dryRun: true, agent })).page?.join("\n")).toContain(
      `${next} ${id}`,
    );

    expect((await state()).tasks[id]?.feedback).toContain(text);
  },
);

test("a question that was asked in place of another is not answered without its id: whoever answers may have read the other one", async () => {
  const { context, state, shown } = await asked();
  await editPortfolio(context, { id, objective: "sell bananas" });
  const refused = await answerPortfolio(context, { text: "A" });
  expect(refused).toMatchObject({ result: "FAIL", reason_code: "block_changed" });
  expect((await state()).tasks[id]?.status).toBe("blocked_human");
  const [now] = await shown();
  expect(refused.remediation.join("\n")).toContain(`--block ${now?.block ?? ""}`);
  expect(await answerPortfolio(context, { block: now?.block, text: "A" })).toMatchObject({
    result: "PASS",
  });
});

test("what a run used is charged once, whenever it is counted, and stays charged when another run takes its place", async () => {
  const { write, state } = await begun();
  const counted = (tokens: number) =>
    write({ ...said, event: "usage_counted", task_id: id, run_id, usage: { tokens, usd: 0 } });
  await counted(100);
  await counted(100);
  await counted(150);
  await write({
    ...said,
    event: "task_status_changed",
    task_id: id,
    to_status: "ready",
    because: "taken back",
  });

  await write({ ...said, ...dispatched(id, 2) });
  await write({
    ...said,
    event: "usage_counted",
    task_id: id,
    run_id: "run-2026-01-01-000002",
    usage: { tokens: 30, usd: 0 },
  });

  const { tasks, projects, spent, days } = await state();
  const all = [tasks[id]?.spent, projects["proj-shop"]?.spent, spent, ...Object.values(days)];
  expect(all.map((one) => one?.tokens)).toEqual([180, 180, 180, 180]);
});

test("an approval that was given counts no more once its task is changed", async () => {
  const { context, state } = await asked();
  await answerPortfolio(context, { text: "A" });
  await editPortfolio(context, { id, accept: ["it is fast"] });
  const after = await state();
  expect(after.tasks[id] !== undefined && isApproved(after, after.tasks[id])).toBe(false);
});

test("whether a project is done is asked again when its objective changes, and not any more when a task is wanted", async () => {
  const { context, write, shown } = await begun();
  await write({
    ...said,
    event: "task_status_changed",
    task_id: id,
    to_status: "canceled",
    because: "not wanted",
  });

  const { recordPlan: carryOut } = await import("./record-plan.ts");
  const paths = portfolioAt(context.cwd);
  const idle = { actions: [{ do: "ask_idle", project_id: "proj-shop" }], waiting: [] } as const;
  await withPortfolio(context, paths, (open) => carryOut(paths, open, idle));
  const [read] = await shown();
  expect(read?.question).toContain("Is its objective met: sell?");
  await editPortfolio(context, { id: "proj-shop", objective: "sell twice as much" });
  expect(await answerPortfolio(context, { block: read?.block, text: "A" })).toMatchObject({
    reason_code: "block_changed",
  });

  expect((await shown())[0]?.question).toContain("sell twice as much");
  expect((await tickPortfolio(context, { dryRun: true })).data).toMatchObject({ actions: [] });
  await addTask(context, { project: "proj-shop", objective: "more", propose: true });
  expect(await shown()).toHaveLength(1);
  await addTask(context, { project: "proj-shop", objective: "more" });
  expect(await shown()).toEqual([]);
  expect((await answerPortfolio(context, { text: "A" })).message).toBe(
    "No question is open, so there is nothing to answer.",
  );
});

test("what a run was begun with is not changed under it; taken back from its worker and changed, a task begins anew", async () => {
  const { context, state } = await begun();
  for (const change of [
    { touches: ["b/**"] },
    { objective: "else" },
    { accept: ["x"] },
    { flow: "quality" },
    { isolation: "none" },
  ]) {
    expect(await editPortfolio(context, { id, ...change })).toMatchObject({
      result: "FAIL",
      reason_code: "invalid_status_transition",
    });
  }

  expect(await editPortfolio(context, { id, priority: 1 })).toMatchObject({ result: "PASS" });
  expect(await moveTask(context, { task: id, to: "ready", because: "taken back" })).toMatchObject({
    result: "PASS",
  });

  expect((await state()).tasks[id]).toMatchObject({ touches: ["a/**"], is_edited: false });
  expect(await editPortfolio(context, { id, touches: ["b/**"] })).toMatchObject({ result: "PASS" });
  expect((await state()).tasks[id]).toMatchObject({ touches: ["b/**"], is_edited: true });
});

test("a task's dependencies can be dropped, and a project's branch changed by itself", async () => {
  const { context, state } = await begun();
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: context.cwd });
  execFileSync(
    "git",
    [
      "-c",
      "user.name=S",
      "-c",
      "user.email=s@example.invalid",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "x",
    ],
    {
      cwd: context.cwd,
    },
  );

  execFileSync("git", ["branch", "next"], { cwd: context.cwd });
  const added = await addTask(context, { project: "proj-shop", objective: "more", after: [id] });
  const later = String(added.data?.["id"]);
  expect((await state()).tasks[later]?.dependencies).toEqual([id]);
  expect(await editPortfolio(context, { id: later, after: ["none"] })).toMatchObject({
    result: "PASS",
  });

  expect((await state()).tasks[later]?.dependencies).toEqual([]);
  expect(await editPortfolio(context, { id: "proj-shop", target: "next" })).toMatchObject({
    result: "PASS",
  });

  expect((await state()).projects["proj-shop"]?.target).toBe("next");
  expect((await editPortfolio(context, { id: "proj-shop", target: "nowhere" })).message).toContain(
    "no branch nowhere",
  );
});
