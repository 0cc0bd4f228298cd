// Which copies are emptied, which go for a quota, and which are never touched.

import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { dispatched, project, task, written } from "../planner/portfolio.test-support.ts";
import { portfolioAt } from "../store/folder.ts";
import { emptyCopies, makeRoom } from "./collect-copies.ts";

const folder = mkdtempSync(join(tmpdir(), "autopilot-copies-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("copies of tasks that are over are emptied, removed oldest first for the quota, and beyond it nothing new starts", () => {
  const paths = portfolioAt(folder);
  const { state, write } = written({
    event: "project_created",
    project_id: "proj-p",
    fields: project(),
  });

  for (const [at, name] of ["old", "older", "open", "unborn"].entries()) {
    const task_id = `task-${name}-aaaaaa`;
    write({
      event: "task_created",
      task_id,
      project_id: "proj-p",
      status: "ready",
      fields: task(),
    });

    if (name !== "unborn") {
      write({ ...dispatched(task_id, at + 1), copy: `${task_id}.1` } as ReturnType<
        typeof dispatched
      >);
    }

    if (name.startsWith("old")) {
      write({ event: "task_status_changed", task_id, to_status: "canceled", because: "x" });
    }

    const copy = join(paths.ownFolder, "copies", `${task_id}.1`);
    for (const part of [".git", ".autopilot", "src"]) {
      mkdirSync(join(copy, part), { recursive: true });
    }

    for (const part of [".git", "src"]) {
      writeFileSync(join(copy, part, "bytes"), Buffer.alloc(600_000));
    }

    utimesSync(copy, 1000 - at, 1000 - at);
  }

  const has = (name: string, part = ""): boolean =>
    existsSync(join(paths.ownFolder, "copies", `task-${name}-aaaaaa.1`, part));
  expect(emptyCopies(paths, state)).toEqual(["task-older-aaaaaa", "task-old-aaaaaa"]);
  expect(["old", "older", "open", "unborn"].map((name) => has(name, "src"))).toEqual([
    false,
    false,
    true,
    true,
  ]);

  expect(["old", "older"].map((name) => has(name, ".git"))).toEqual([true, true]);
  utimesSync(join(paths.ownFolder, "copies/task-older-aaaaaa.1"), 1, 1);
  expect(makeRoom({ env: {} }, paths, state, undefined)).toBeNull();
  expect(makeRoom({ env: {} }, paths, state, 3)).toBeNull();
  expect(["old", "older"].map((name) => has(name))).toEqual([true, false]);
  expect(makeRoom({ env: {} }, paths, state, 1)).toContain("disk_quota (1 MB)");
  expect(["old", "open", "unborn"].map((name) => has(name))).toEqual([false, true, true]);
});

test("the copy of an unfinished task's earlier attempt is emptied too, its current one is not", () => {
  const paths = portfolioAt(mkdtempSync(join(folder, "attempts-")));
  const task_id = "task-again-aaaaaa";

  const { state, write } = written({
    event: "project_created",
    project_id: "proj-p",
    fields: project(),
  });
  write({ event: "task_created", task_id, project_id: "proj-p", status: "ready", fields: task() });

  for (const attempt of [1, 2]) {
    write({ ...dispatched(task_id, attempt), copy: `${task_id}.${attempt}` } as ReturnType<
      typeof dispatched
    >);

    if (attempt === 1) {
      write({ event: "task_status_changed", task_id, to_status: "ready", because: "again" });
    }
  }

  for (const attempt of ["1", "2", "3-7"]) {
    mkdirSync(join(paths.ownFolder, "copies", `${task_id}.${attempt}`, "src"), { recursive: true });
  }

  expect(emptyCopies(paths, state)).toEqual([task_id]);
  expect(
    ["1", "2", "3-7"].map((attempt) =>
      existsSync(join(paths.ownFolder, "copies", `${task_id}.${attempt}`, "src")),
    ),
  ).toEqual([false, true, true]);
});
