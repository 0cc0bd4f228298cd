// The files of a portfolio: whole after each command, drawn again where somebody changed them, and
// shared with other tools.

import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { addProject, addTask, initPortfolio } from "./add.ts";
import { moveTask, pausePortfolio } from "./change.ts";
import { editPortfolio } from "./edit.ts";
import { draw } from "../../portfolio/store/draw.ts";
import { findCopy, portfolioAt } from "../../portfolio/store/folder.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { compactPortfolio, rebuildPortfolio } from "./rebuild.ts";
import { portfolioInbox } from "./inbox.ts";
import { showPortfolio } from "./show.ts";
import { tickPortfolio } from "./tick.ts";
import { everything, idOf, openRoom } from "../../../test/support/portfolio-room.ts";

const { begun, folder, placeIn, repository, remove } = openRoom();
afterAll(remove);

test("every file is there and whole after each command, and a rebuild is the same byte for byte", async () => {
  const { context, root, shown } = await begun();
  const first = idOf(
    await addTask(context, {
      project: "proj-shop",
      objective: "Make it",
      accept: ["it is :: test -f x"],
    }),
  );

  const second = idOf(
    await addTask(context, { project: "Shop", objective: "日本", after: [first], propose: true }),
  );

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

  for (const line of `${before["events/events.jsonl"] ?? ""}${before["events/checkpoints.jsonl"] ?? ""}`
    .trimEnd()
    .split("\n")) {
    expect(() => JSON.parse(line) as unknown).not.toThrow();
  }

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
    expect(
      (before["events/events.jsonl"] ?? "")
        .split("\n")
        .find((line) => line.includes("task_created")),
    ).toContain(`"${field}":`);
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
  expect(
    kept.map((name) => readFileSync(join(root, ".autopilot/portfolio/kept", name), "utf8")),
  ).toEqual(["status: done, honest\n"]);

  expect(readFileSync(shown(`tasks/${id}.md`), "utf8")).toContain('status: "ready"');
});

test("a tick tells once what it finds in the files and does not follow: lines set aside, lines that would move a task, pages changed by hand", async () => {
  const { context, shown, root } = await begun();
  const id = idOf(await addTask(context, { project: "proj-shop", objective: "Make it" }));
  await moveTask(context, { task: id, to: "canceled", because: "not wanted" });
  await pausePortfolio(context, { paused: true });
  const events = shown("events/events.jsonl");
  const count = readFileSync(events, "utf8").split("\n").length - 1;

  const moves = {
    ts: "2026-02-27T09:30:00Z",
    event_type: "task_status_changed",
    project_id: "proj-shop",
    task_id: id,
    block_id: null,
  };

  const line = {
    ...moves,
    from_status: "canceled",
    to_status: "ready",
    actor: "human",
    summary: "again",
    evidence: [],
  };

  appendFileSync(events, `garbage\n${JSON.stringify(line)}\n`);
  const pages = [`tasks/${id}.md`, "projects/proj-shop.md", "portfolio.md"];
  const before = pages.map((name) => readFileSync(shown(name), "utf8"));
  writeFileSync(
    shown(pages[0] ?? ""),
    (before[0] ?? "").replace('status: "canceled"', 'status: "done"'),
  );

  rmSync(shown(pages[1] ?? ""));
  const tick = (): Promise<CommandResponse> => tickPortfolio(context, { dryRun: false });
  const { warnings } = await tick();
  expect(warnings).toMatchObject([
    expect.stringMatching(
      new RegExp(`^events/events\\.jsonl:${count + 1}: set aside in .*: not JSON$`),
    ) as string,
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
  const task = (await showPortfolio(context, {})).data?.["tasks"] as readonly {
    readonly id: string;
    readonly status: string;
  }[];
  expect(task.find(({ id }) => id === "task-theirs-abc123")?.status).toBe("proposed");
  expect((await rebuildPortfolio(context)).data).toEqual({ different: [] });
});

test("lines that are none are told with file and line and set aside, in both logs; a torn checkpoint is written again", async () => {
  const { context, shown, root } = await begun();
  await compactPortfolio(context);
  await compactPortfolio(context);
  const whole = readFileSync(shown("events/checkpoints.jsonl"), "utf8");
  const theirs = JSON.stringify({
    ...(JSON.parse(whole.split("\n")[0] ?? "") as object),
    summary: "another tool's",
  });

  writeFileSync(
    shown("events/checkpoints.jsonl"),
    `${theirs}\n${whole.slice(0, whole.length - 40)}`,
  );

  const lines = readFileSync(shown("events/events.jsonl"), "utf8").split("\n").length - 1;
  appendFileSync(shown("events/events.jsonl"), 'nonsense\n{"ts":"2026-02-27T09:30:00Z"}\n');
  const { warnings } = await addProject(context, { name: "Site", repo: repository });
  expect(
    warnings.filter((one) => one.includes("set aside")).map((one) => one.replace(/ in .*: /, ": ")),
  ).toEqual([
    `events/events.jsonl:${lines + 1}: set aside: not JSON`,
    `events/events.jsonl:${lines + 2}: set aside: event_type is missing`,
    "events/checkpoints.jsonl:3: set aside: the file ended in the middle of a line",
  ]);

  expect(readFileSync(shown("events/checkpoints.jsonl"), "utf8")).toBe(`${theirs}\n${whole}`);
  const kept = readdirSync(join(root, ".autopilot/portfolio/kept")).map((name) =>
    name.replace(/\.[0-9a-f]{12}$/, ""),
  );
  expect(kept.toSorted()).toEqual(["checkpoints.jsonl", "events.jsonl"]);
  expect(
    (await addTask(context, { project: "proj-shop", objective: "more" })).warnings.join(),
  ).not.toContain("set aside");

  expect((await rebuildPortfolio(context)).data).toEqual({ different: [] });
});

test("a checkpoint that another tool appends while an invalid line is set aside stays", async () => {
  const { context, root, shown } = await begun();
  await compactPortfolio(context);
  const path = shown("events/checkpoints.jsonl");
  const ours = readFileSync(path, "utf8");
  const theirs = `${JSON.stringify({ ...(JSON.parse(ours) as object), summary: "another tool's" })}\n`;
  appendFileSync(path, "nonsense\n");
  const paths = portfolioAt(root);
  let late = theirs;

  const racing = {
    ...paths,
    /** Asked for between the reading and the writing, to set the invalid line aside. */
    get ownFolder() {
      appendFileSync(path, late);
      late = "";
      return paths.ownFolder;
    },
  };

  const cursor = { seq: 0, bytes: 0, crc: 0, fileMark: "" };
  draw({ paths: racing, state: await readPortfolio(paths), seq: 0, cursor, events: null });
  expect(readFileSync(path, "utf8")).toBe(ours + theirs);
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
  expect(await initPortfolio(context, {})).toMatchObject({
    result: "PASS",
    data: { taken_up: true },
  });

  const state = await readPortfolio(portfolioAt(root));
  expect(state.tasks["task-old-abc123"]).toMatchObject({
    status: "proposed",
    objective: "Finish the old work",
    acceptance_criteria: [{ text: "it is", command: "make test" }],
  });

  expect(
    readFileSync(join(root, ".openclaw-autopilot/events/events.jsonl"), "utf8").startsWith(
      `${events}\n`,
    ),
  ).toBe(true);

  expect(readdirSync(join(root, ".autopilot/portfolio/kept"))).toHaveLength(1);
  expect((await rebuildPortfolio(context)).data).toEqual({ different: [] });
});

test("a line of another tool's starts nothing, names no repository, and moves nothing of ours", async () => {
  const { context, shown } = await begun();
  const ours = idOf(
    await addTask(context, { project: "proj-shop", objective: "Ours", propose: true }),
  );

  const line = (fields: Readonly<Record<string, unknown>>): string =>
    `${JSON.stringify({ ts: "2026-02-27T09:30:00Z", event_type: "task_status_changed", project_id: "proj-evil", task_id: null, block_id: null, from_status: null, to_status: null, actor: "human", summary: "x", evidence: [], ...fields })}\n`;
  const lines = (["ready", "running", "failed", "needs_adjustment"] as const).map((to_status, at) =>
    line({
      task_id: `task-theirs-abc12${at}`,
      to_status,
      meta: {
        repository,
        target: "main",
        ...(at === 0
          ? { acceptance_criteria: ["it is blue", { text: "c :: test -f never" }] }
          : {}),
      },
    }),
  );

  const onOurs = (["ready", "done", "failed"] as const).map((to_status) =>
    line({ project_id: "proj-shop", task_id: ours, to_status }),
  );
  appendFileSync(shown("events/events.jsonl"), [...lines, ...onOurs].join(""));
  await portfolioInbox(context); // takes them in
  const { data } = await tickPortfolio(context, { dryRun: true });
  expect(data?.["actions"]).toEqual([]);
  const state = await readPortfolio(portfolioAt(context.cwd));
  expect(Object.keys(state.tasks)).toHaveLength(5);
  expect(state.projects["proj-evil"]?.repository).toBeNull();
  expect(state.tasks[ours]?.status).toBe("proposed");
  // What they ask for is a text that a person judges; no command of theirs is run, and nothing
  // lands because nothing was asked.
  expect(
    ["task-theirs-abc120", "task-theirs-abc121"].map((id) => state.tasks[id]?.acceptance_criteria),
  ).toEqual([
    [
      { text: "it is blue", command: null },
      { text: "c", command: null },
    ],
    [{ text: "x", command: null }],
  ]);
});

test("a link or a pipe where a log belongs is refused, and nothing is written through it", async () => {
  const { context, root } = await begun();
  const outside = join(folder, "outside");
  writeFileSync(outside, "mine\n");

  for (const name of ["events.jsonl", "checkpoints.jsonl"]) {
    const path = join(root, ".openclaw-autopilot/events", name);
    const kept = readFileSync(path);
    rmSync(path);
    symlinkSync(outside, path);
    expect(await addTask(context, { project: "proj-shop", objective: "One" })).toMatchObject({
      reason_code: "workspace_unusable",
    });

    expect(readFileSync(outside, "utf8")).toBe("mine\n");
    rmSync(path);
    writeFileSync(path, kept);
  }

  expect(await addTask(context, { project: "proj-shop", objective: "One" })).toMatchObject({
    result: "PASS",
  });
});

test("a copy that the journal places elsewhere is never looked for there", () => {
  const paths = portfolioAt("/p");
  expect(findCopy(paths, { copy: "/elsewhere" })).toBeNull();
  expect(findCopy(paths, { copy: "/elsewhere/.." })).toBeNull();
  expect(findCopy(paths, { copy: "/elsewhere/task-a-b.1" })).toBe(
    "/p/.autopilot/portfolio/copies/task-a-b.1",
  );
});

test("a rebuild names every file that it drew anew: another one would find none", async () => {
  const { context, shown } = await begun();
  for (const n of [1, 2, 3, 4, 5, 6, 7]) {
    writeFileSync(
      shown(`tasks/${idOf(await addTask(context, { project: "Shop", objective: `t${n}` }))}.md`),
      "mine\n",
    );
  }

  const { message, page, data } = await rebuildPortfolio(context);
  expect(data?.["different"]).toHaveLength(7);
  expect([message, page?.slice(2)]).toEqual([
    expect.stringMatching(/^7 files were different .* and 2 more\.$/),
    data?.["different"],
  ]);
});

const note = (summary: string): string =>
  JSON.stringify({
    ts: "2026-02-27T09:30:00Z",
    event_type: "note",
    project_id: null,
    task_id: null,
    block_id: null,
    from_status: null,
    to_status: null,
    actor: "human",
    summary,
    evidence: [],
  });

test("whatever is done to the events file, another tool's lines are taken in and a person's words are kept", async () => {
  const { context, shown, root } = await begun();
  const events = shown("events/events.jsonl");
  const id = idOf(await addTask(context, { project: "proj-shop", objective: "Make it" }));
  let priority = 1;
  const change = (): Promise<CommandResponse> =>
    editPortfolio(context, { id, priority: (priority++ % 5) + 1 });
  const rows = (): string[] => readFileSync(events, "utf8").trimEnd().split("\n");
  const kept = (): string =>
    readdirSync(join(root, ".autopilot/portfolio/kept"))
      .map((name) => readFileSync(join(root, ".autopilot/portfolio/kept", name), "utf8"))
      .join();

  const edits: Record<string, () => string[]> = {
    inserted: () => rows().toSpliced(2, 0, note("inserted")),
    truncated: () => [...rows().slice(0, 1), note("truncated")],
    replaced: () => [note("replaced")],
    twice: () => [...rows(), note("replaced")],
    written: () => [...rows().slice(0, 1), "written by a person"],
    edited: () => rows().map((row) => row.replace("Project Shop created", "Project edit created")),
  };
  for (const edit of Object.values(edits)) {
    writeFileSync(events, `${edit().join("\n")}\n`);
    await change();
    expect((await rebuildPortfolio(context)).data).toEqual({ different: [] });
  }

  const notes = rows().filter((row) => row.includes('"note"'));
  expect(notes.toSorted()).toEqual(["inserted", "replaced", "replaced", "truncated"].map(note));
  expect(kept()).toContain("written by a person");
  expect(kept()).toContain("Project edit created");
  const edited = readFileSync(events, "utf8");
  writeFileSync(events, edited.replace("Project Shop created", "Project EDIT created"));
  expect((await rebuildPortfolio(context)).warnings.join()).toContain(
    "it says that it is ours, and the journal does not know it",
  );

  expect(readFileSync(events, "utf8")).toBe(edited);
  expect(kept()).toContain("Project EDIT created");
});

test("lines that another tool appends while a command is at work are taken in once each, wherever they came to stand", async () => {
  const { context, shown } = await begun();
  const events = shown("events/events.jsonl");

  for (let n = 0; n < 4; n++) {
    await withPortfolio(context, portfolioAt(context.cwd), async (open) => {
      appendFileSync(events, `${note(`before ${n}`)}\n`); // after the file was read, before ours is appended
      await open.write({
        event: "checkpoint_compacted",
        actor: "planner",
        reason_code: "ok",
        window_start: open.now(),
        window_end: open.now(),
      });

      appendFileSync(events, `${note(`again`)}\n`);
    });
  }

  const rows = (): string[] => readFileSync(events, "utf8").trimEnd().split("\n");
  const expected = [0, 1, 2, 3].flatMap((n) => [note(`before ${n}`), note("again")]).toSorted();
  expect(
    rows()
      .filter((row) => row.includes('"note"'))
      .toSorted(),
  ).toEqual(expected);

  expect(rows().filter((row) => row.includes("checkpoint_compacted"))).toHaveLength(4);
  const drawn = readFileSync(events, "utf8");
  expect((await rebuildPortfolio(context)).data).toEqual({ different: [] });
  expect(readFileSync(events, "utf8")).toBe(drawn);
});
