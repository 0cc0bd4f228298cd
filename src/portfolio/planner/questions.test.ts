// What a portfolio asks, whether it is still the right question, and what an answer to it is worth.

import { describe, expect, test } from "vitest";
import { replaceOutdatedQuestions, blockTask } from "../store/ask.ts";
import { plan } from "./plan.ts";
import {
  buildApprovalQuestion,
  type SharedCause,
  findChosenOption,
  buildIdleQuestion,
  isApproved,
  wasAsked,
  findOutdatedQuestions,
  findSuccessor,
  listWaitingIds,
  whyNotAnswer,
} from "./questions.ts";
import { dispatched, project, task, written } from "./portfolio.test-support.ts";
import { type Block, listOpenBlocks, type Portfolio } from "./state.ts";

const id = "task-a-000001";
const run_id = "run-2026-01-01-000001";
const taste = { text: "it looks nice", command: null };
const proof = {
  criteria: 1,
  proved: 0,
  checks_attempted: [],
  checks_passed: [],
  checks_failed: [],
};
const shown = {
  expected_action: "look, then answer A or B",
  impact: "waits",
  options: { A: "it does", B: "it does not" },
  asked_by: null,
};

/** A task whose work waits for a person's approval. */
function waiting() {
  const made = written(
    { event: "project_created", project_id: "proj-shop", fields: project() },
    {
      event: "task_created",
      task_id: id,
      project_id: "proj-shop",
      status: "ready",
      fields: task({ acceptance_criteria: [taste] }),
    },
    dispatched(id, 1),
  );

  const ended = {
    task_id: id,
    run_id,
    event_nonce: "n1",
    to_status: "blocked_human",
    commit: "1".repeat(40),
    proof,
    claim: null,
  } as const;

  made.write({
    event: "worker_result_ingested",
    ...ended,
    summary: "done",
    evidence: [],
    usage: { tokens: 1, usd: 0 },
  });

  const asked = buildApprovalQuestion(made.state.tasks[id] ?? never());
  made.write({
    event: "block_opened",
    block_id: "block-1",
    project_id: "proj-shop",
    task_id: id,
    ...shown,
    ...asked,
    content: "approve:1",
  });

  return made;
}
const never = (): never => {
  throw new Error("it is there");
};
const taskIn = (state: Portfolio) => state.tasks[id] ?? never();
const answer = { event: "block_resolved", block_id: "block-1", content: "approve:1" } as const;

test.each([
  ["its criteria", { acceptance_criteria: [{ text: "it is fast", command: null }] }],
  ["its objective", { objective: "something else" }],
  ["its scope", { touches: ["elsewhere/**"] }],
])(
  "an approval is asked again when %s changed, and one given before counts no more",
  (_what, changes) => {
    const open = waiting();
    expect(findOutdatedQuestions(open.state)).toEqual([]);
    open.write({ event: "task_updated", task_id: id, changes: { priority: 1 } });
    expect(findOutdatedQuestions(open.state)).toEqual([]);
    open.write({ event: "task_updated", task_id: id, changes });
    expect(findOutdatedQuestions(open.state)).toMatchObject([
      { block: { block_id: "block-1" }, currentText: buildApprovalQuestion(taskIn(open.state)) },
    ]);

    const given = waiting();
    given.write({ ...answer, answer: "A" });
    expect(isApproved(given.state, taskIn(given.state))).toBe(true);
    given.write({ event: "task_updated", task_id: id, changes });
    expect(isApproved(given.state, taskIn(given.state))).toBe(false);
  },
);

test("approved work that the merge queue gives back is not approved any more", () => {
  const { state, write } = waiting();
  write({ ...answer, answer: "yes" });
  expect(isApproved(state, taskIn(state))).toBe(true);
  write(dispatched(id, 1), { event: "merge_queued", task_id: id, run_id, commit: "1".repeat(40) });
  write({
    event: "merge_rejected",
    task_id: id,
    kind: "conflict",
    with: [],
    because: "it conflicts",
    evidence: ["conflict: a.txt"],
  });

  write({ event: "task_status_changed", task_id: id, to_status: "ready", because: "retry" });
  expect(isApproved(state, taskIn(state))).toBe(false);
  expect(taskIn(state).feedback).toContain("conflict: a.txt");
});

test.each([
  ["A", "A"],
  [" a. ", "A"],
  ["yes!", "A"],
  ["B", "B"],
  ["no, the title is missing", "B"],
  ["b: the title is missing", "B"],
  ["yes, but fix the typo first", null],
  ["a: no", null],
  ["A, as you like", null],
  ["A bit more blue, please", null],
  ["yes but not like this", null],
  ["no problem", null],
  ["C", null],
  ["ok", null],
  ["", null],
])(
  "the answer %j to an approval chooses %s; only A by itself approves, and what chooses nothing is refused",
  (text, choice) => {
    const { state, write } = waiting();
    const block = state.blocks["block-1"] ?? never();
    expect(findChosenOption(block, text)).toBe(choice);
    expect(whyNotAnswer(block, text) === null).toBe(choice !== null);
    write({ ...answer, answer: text });
    expect(isApproved(state, taskIn(state))).toBe(choice === "A");
  },
);

test("whether a project is done is asked of its objective and its tasks as they are; a task that is wanted answers it, a proposal does not", () => {
  const { state, write } = waiting();
  write(
    { ...answer, answer: "A" },
    { event: "task_status_changed", task_id: id, to_status: "canceled", because: "not wanted" },
  );

  const shop = () => state.projects["proj-shop"] ?? never();
  const asked = buildIdleQuestion(state, shop());
  expect(asked.question).toContain("sell");
  expect(wasAsked(state, "idle", asked)).toBe(false);

  const block = {
    block_id: "block-2",
    project_id: "proj-shop",
    task_id: null,
    ...shown,
    ...asked,
    content: "idle:1",
  };

  write({ event: "block_opened", ...block });
  expect([wasAsked(state, "idle", asked), findOutdatedQuestions(state)]).toEqual([true, []]);
  write({ event: "project_updated", project_id: "proj-shop", changes: { objective: "sell more" } });
  expect(findOutdatedQuestions(state)).toMatchObject([
    { currentText: { question: expect.stringContaining("sell more") as string } },
  ]);

  write({ event: "project_updated", project_id: "proj-shop", changes: { objective: "sell" } });
  const more = {
    event: "task_created",
    task_id: "task-b-000001",
    project_id: "proj-shop",
    fields: task(),
  } as const;

  write({ ...more, status: "proposed" });
  expect(findOutdatedQuestions(state)).toEqual([]);
  write({
    event: "task_status_changed",
    task_id: "task-b-000001",
    to_status: "ready",
    because: "wanted",
  });

  expect(findOutdatedQuestions(state)).toMatchObject([{ currentText: null }]);
});

test.each(["idle", "rewound", "start", "provider", "approve"])(
  "a question that only the planner reads (%s) takes the answers it names, by themselves; an agent's takes any words",
  (kind) => {
    const block = {
      block_id: "block-1",
      project_id: "proj-shop",
      task_id: id,
      ...shown,
      content: `${kind}:1`,
    } as unknown as Block;
    const takes = (text: string) => whyNotAnswer(block, text) === null;
    expect(["A", "b", " a. ", "yes", "no"].map(takes)).toEqual([true, true, true, true, true]);
    expect(["A, it is", "a few are missing", "C", "whatever you like", ""].map(takes)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);

    expect(whyNotAnswer({ ...block, content: "run:1" }, "whatever you like")).toBeNull();
    expect(findChosenOption({ ...block, options: { A: "try again" } }, "no")).toBeNull();
  },
);

test("an agent's question is asked again when its task is changed: the run that asked doesn't go on", () => {
  const { state, write } = written(
    { event: "project_created", project_id: "proj-shop", fields: project() },
    {
      event: "task_created",
      task_id: id,
      project_id: "proj-shop",
      status: "ready",
      fields: task(),
    },
    dispatched(id, 1),
  );

  const asked_by = { run_id, block: "block:1" };
  const block = {
    block_id: "block-1",
    project_id: "proj-shop",
    task_id: id,
    ...shown,
    question: "Which?",
    about: "",
    asked_by,
  };

  write({ event: "block_opened", ...block, content: "run:1" });
  write({ event: "task_updated", task_id: id, changes: { priority: 1 } });
  expect(findOutdatedQuestions(state)).toEqual([]);
  write({ event: "task_updated", task_id: id, changes: { flow: "quality" } });
  const [first] = findOutdatedQuestions(state);
  expect(first?.currentText).toMatchObject({
    question: "Which?",
    asked_by: null,
    about: expect.stringContaining("quality") as string,
  });

  write({
    event: "block_opened",
    ...block,
    ...first?.currentText,
    block_id: "block-2",
    content: "run:2",
    replaces: "block-1",
  });

  write({ event: "block_resolved", block_id: "block-1", content: "run:1", answer: "asked again" });
  expect([findOutdatedQuestions(state), taskIn(state).status]).toEqual([[], "blocked_human"]);
});

describe("a cause that holds up several tasks", () => {
  const cause: SharedCause = {
    kind: "start",
    question: "No agent. Try again?",
    expected_action: "install it",
    about: "no agent",
  };

  const ids = ["task-a-000001", "task-a-000002", "task-a-000003"];
  const nowIs = "2026-01-01T00:00:00.000Z";

  function held() {
    const made = written({ event: "project_created", project_id: "proj-shop", fields: project() });
    for (const task_id of ids) {
      made.write({
        event: "task_created",
        task_id,
        project_id: "proj-shop",
        status: "ready",
        fields: task(),
      });

      made.write(...blockTask(made.state, cause, task_id, nowIs));
    }

    const statuses = () => ids.map((one) => made.state.tasks[one]?.status);
    const settle = () => made.write(...replaceOutdatedQuestions(made.state, nowIs));
    return { ...made, statuses, settle, block: listOpenBlocks(made.state)[0] ?? never() };
  }

  test("is asked about once, whoever it meets; the answer frees them all, each with a line of its own", () => {
    const { state, write, statuses, settle, entries, block } = held();
    expect(listOpenBlocks(state)).toHaveLength(1);
    expect([listWaitingIds(block), statuses()]).toEqual([ids, ids.map(() => "blocked_human")]);
    expect(
      plan(state, { now: nowIs, jobs: 9, withoutWorker: new Set(), perAgent: {}, agent: "codex" })
        .waiting[2]?.because,
    ).toContain(block.block_id);

    settle();
    expect(statuses()).toEqual(ids.map(() => "blocked_human"));
    write({
      event: "block_resolved",
      block_id: block.block_id,
      content: block.content,
      answer: "A",
    });

    const before = entries.length;
    settle();
    expect(statuses()).toEqual(ids.map(() => "ready"));
    expect(entries.slice(before).map((entry) => "task_id" in entry && entry.task_id)).toEqual(ids);
    expect(ids.map((one) => (state.tasks[one]?.blocked_duration_ms ?? 0) > 0)).toEqual([
      true,
      true,
      true,
    ]);

    expect(replaceOutdatedQuestions(state, nowIs)).toEqual([]);
    write(...blockTask(state, cause, ids[0] ?? "", nowIs));
    expect(listOpenBlocks(state).map(({ block_id }) => block_id)).not.toEqual([block.block_id]); // it is asked anew
  });

  test("holds no task that was changed or taken out; when none is left, nothing is asked any more", () => {
    const { state, write, statuses, settle } = held();
    write({ event: "task_updated", task_id: ids[0] ?? "", changes: { agent: "claude" } });
    settle();
    expect([statuses(), listOpenBlocks(state).length]).toEqual([
      ["ready", "blocked_human", "blocked_human"],
      1,
    ]);

    write({
      event: "task_status_changed",
      task_id: ids[1] ?? "",
      to_status: "canceled",
      because: "not wanted",
    });

    settle();
    expect(listOpenBlocks(state).map(listWaitingIds)).toEqual([[ids[2]]]);
    write({
      event: "task_status_changed",
      task_id: ids[2] ?? "",
      to_status: "ready",
      because: "again",
    });

    settle();
    expect([statuses(), listOpenBlocks(state)]).toEqual([["ready", "canceled", "ready"], []]);
  });

  test("holds no task whose project works elsewhere or with another agent now", () => {
    const { state, write, statuses, settle } = held();
    write({ event: "project_updated", project_id: "proj-shop", changes: { priority: 1 } });
    settle();
    expect(statuses()).toEqual(ids.map(() => "blocked_human"));
    write({ event: "project_updated", project_id: "proj-shop", changes: { agent: "claude" } });
    settle();
    expect([statuses(), listOpenBlocks(state)]).toEqual([ids.map(() => "ready"), []]);
  });

  test("another cause is another question", () => {
    const { state, write } = held();
    const task_id = "task-b-000001";
    write({
      event: "task_created",
      task_id,
      project_id: "proj-shop",
      status: "ready",
      fields: task(),
    });

    write(
      ...blockTask(
        state,
        { ...cause, about: "no repository", question: "No repository. Try again?" },
        task_id,
        nowIs,
      ),
    );

    expect(listOpenBlocks(state).map(listWaitingIds)).toEqual([ids, [task_id]]);
  });
});

test("a question that was asked again is found in the place of the old one", () => {
  const { state, write } = waiting();
  const asked = {
    project_id: "proj-shop",
    task_id: id,
    ...shown,
    question: "now?",
    content: "approve:2",
  };

  write(
    { event: "block_opened", block_id: "block-2", ...asked },
    { ...answer, answer: "it is asked again" },
  );

  expect(findSuccessor(state, state.blocks["block-1"] ?? never())?.block_id).toBe("block-2");
  expect(taskIn(state)).toMatchObject({ status: "blocked_human", feedback: "done" });
});
