// The merge queue on real repositories, with commits made by hand: nothing here starts an agent.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runPortfolio } from "../../src/commands/portfolio/pool.ts";
import { portfolioInbox } from "../../src/commands/portfolio/inbox.ts";
import { showPortfolio } from "../../src/commands/portfolio/show.ts";
import { tickPortfolio } from "../../src/commands/portfolio/tick.ts";
import type { CommandResponse } from "../../src/contracts/command-response.ts";
import type { PortfolioChange } from "../../src/contracts/portfolio/portfolio-journal.ts";
import type { CommandContext } from "../../src/project/command-context.ts";
import { commandContext } from "../support/command-context.ts";
import { dispatched, project, task } from "../../src/portfolio/planner/portfolio.test-support.ts";
import { plan } from "../../src/portfolio/planner/plan.ts";
import {
  bindPortfolio,
  type PortfolioPaths,
  portfolioAt,
} from "../../src/portfolio/store/folder.ts";
import { followPortfolio, readPortfolio } from "../../src/portfolio/store/fold.ts";
import { listOpenBlocks } from "../../src/portfolio/planner/state.ts";
import { withPortfolio } from "../../src/portfolio/store/open.ts";
import { clearLeftovers } from "../../src/portfolio/merge/clear-leftovers.ts";
import { landingName, settleBatches } from "../../src/portfolio/merge/land-batch.ts";
import { proveAndLandBatch } from "../../src/portfolio/merge/prove-and-land.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-queue-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const contextAt = (cwd: string): CommandContext =>
  commandContext({ cwd, env: { HOME: folder, PATH: process.env["PATH"] } });
const said = { actor: "system", reason_code: "ok" } as const;
const id = (name: string): string => `task-${name}-aaaaaa`;

type Scene = {
  readonly parts: {
    readonly context: CommandContext;
    readonly paths: PortfolioPaths;
    readonly isolation: "clone";
  };
  readonly git: (...args: readonly string[]) => string;
  readonly write: (...changes: readonly PortfolioChange[]) => Promise<void>;
  readonly status: (name: string) => string | undefined;
  readonly merge: () => ReturnType<typeof proveAndLandBatch>;
};

let scenes = 0;
/**
 * A repository whose check is `check.sh`, and tasks in the queue, each with a commit that writes
 * its files.
 */
async function scene(
  check: string,
  tasks: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<Scene> {
  const root = join(folder, `s${++scenes}`);
  const repository = join(root, "repo");
  mkdirSync(repository, { recursive: true });

  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=S", "-c", "user.email=s@example.invalid", ...args], {
      cwd: repository,
      encoding: "utf8",
    }).trim();

  const commit = (files: Readonly<Record<string, string>>): string => {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(repository, path), text);
    // One start from this process, which has much to copy, instead of three.
    const words = ["-c", "user.name=S", "-c", "user.email=s@example.invalid"];
    const command = 'git add -A && git "$@" commit -q -m work && git rev-parse HEAD';
    return execFileSync("sh", ["-c", command, "sh", ...words], {
      cwd: repository,
      encoding: "utf8",
    }).trim();
  };

  git("init", "-q", "-b", "main");
  const base = commit({ "check.sh": check, "shared.txt": "base\n" });
  const paths = portfolioAt(root);
  mkdirSync(paths.ownFolder, { recursive: true });
  const write = (...changes: readonly PortfolioChange[]): Promise<void> =>
    withPortfolio(contextAt(root), paths, (open) => open.write(...changes));
  await write(
    { ...said, event: "portfolio_created", name: "q", budget: {}, day_budget: {} },
    { ...said, event: "project_created", project_id: "proj-a", fields: project({ repository }) },
  );

  for (const [at, [name, files]] of Object.entries(tasks).entries()) {
    git("checkout", "-q", "-b", `work-${name}`, base);
    const made = commit(files);
    const run_id = `run-2026-01-01-${String(at).padStart(6, "0")}`;
    await write(
      {
        ...said,
        event: "task_created",
        task_id: id(name),
        project_id: "proj-a",
        status: "ready",
        fields: task({
          touches: [name],
          acceptance_criteria: [{ text: "holds", command: "sh check.sh" }],
        }),
      },
      { ...dispatched(id(name), at), ...said },
      { ...said, event: "merge_queued", task_id: id(name), run_id, commit: made },
    );
  }

  git("checkout", "-q", "main");
  const now = followPortfolio(paths);
  const parts = { context: contextAt(root), paths, isolation: "clone" } as const;

  const merge = (): ReturnType<typeof proveAndLandBatch> => {
    const { actions } = plan(now(), {
      now: "2026-01-01T00:00:00.000Z",
      jobs: 1,
      withoutWorker: new Set(),
      perAgent: {},
      agent: "codex",
    });
    const action = actions.find((one) => one.do === "merge");
    if (action?.do !== "merge") throw new Error("nothing to merge");

    return proveAndLandBatch(parts, action);
  };

  return { parts, git, write, merge, status: (name) => now().tasks[id(name)]?.status };
}

test("a batch of eight with one culprit: seven land, and the culprit goes back with what failed", async () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const { merge, git, status, parts } = await scene(
    "! test -f bad.txt || { echo bad is there; exit 1; }\n",
    Object.fromEntries(
      names.map((name) => [name, { [name === "e" ? "bad.txt" : `${name}.txt`]: name }]),
    ),
  );
  const end = await merge();
  expect(end).toMatchObject({ landed: 7, rejected: 1, obstacle: null });
  expect(end.proofs).toBeLessThanOrEqual(5);
  expect(names.map((name) => status(name))).toEqual(
    names.map((name) => (name === "e" ? "needs_adjustment" : "done")),
  );

  expect((await readPortfolio(parts.paths)).tasks[id("e")]?.feedback).toContain("bad is there");
  expect(git("ls-tree", "--name-only", "main").split("\n")).toEqual([
    "a.txt",
    "b.txt",
    "c.txt",
    "check.sh",
    "d.txt",
    "f.txt",
    "g.txt",
    "h.txt",
    "shared.txt",
  ]);

  expect(git("status", "--porcelain")).toBe("");
});

test("a textual conflict goes back with the paths and the other's name; the first one lands", async () => {
  const { merge, status, parts } = await scene("true\n", {
    one: { "shared.txt": "one\n" },
    two: { "shared.txt": "two\n" },
  });
  expect(await merge()).toMatchObject({ landed: 1, rejected: 1 });
  expect([status("one"), status("two")]).toEqual(["done", "needs_adjustment"]);
  expect((await readPortfolio(parts.paths)).tasks[id("two")]?.feedback).toContain("shared.txt");
});

test("nothing lands under uncommitted work, and a branch that is gone or was moved is never overwritten", async () => {
  const { merge, git, status, parts } = await scene("true\n", { one: { "one.txt": "1" } });
  const repository = join(parts.paths.root, "repo");
  writeFileSync(join(repository, "shared.txt"), "mine\n");
  const before = git("rev-parse", "main");
  expect((await merge()).obstacle?.why).toContain("shared.txt");
  expect(git("rev-parse", "main")).toBe(before);
  git("checkout", "-q", "--", "shared.txt");
  git("checkout", "-q", "--detach");
  git("branch", "-q", "-m", "main", "away");
  expect((await merge()).obstacle?.why).toContain("no branch main");
  git("branch", "-q", "-m", "away", "main");
  expect(await merge()).toMatchObject({ landed: 1, obstacle: null });
  expect(status("one")).toBe("done");
});

test("a pool that is to end when nothing goes on by itself ends while a branch is gone, and lands when it is back", async () => {
  const { git, status, parts } = await scene("true\n", { one: { "one.txt": "1" } });
  git("checkout", "-q", "--detach");
  git("branch", "-q", "-m", "main", "away");
  chmodSync(parts.paths.ownFolder, 0o700);
  bindPortfolio(parts.context, parts.paths);
  const pool = (): Promise<CommandResponse> =>
    runPortfolio(parts.context, { untilIdle: true, isolation: "clone", everyMs: 50 });
  expect(await pool()).toMatchObject({
    data: { held: expect.stringContaining("no branch main") as string },
  });

  git("branch", "-q", "-m", "away", "main");
  expect((await pool()).data).toMatchObject({ done: 1, held: null });
  expect(status("one")).toBe("done");
});

test("a landing that waits for its user is shown wherever something waits, with what to do, and no more once it went on", async () => {
  const { git, status, parts } = await scene("true\n", {
    one: { "one.txt": "1" },
    two: { "two.txt": "2" },
  });

  const { context, paths } = parts;
  chmodSync(paths.ownFolder, 0o700);
  bindPortfolio(context, paths);
  const repository = join(paths.root, "repo");
  const pool = (): Promise<CommandResponse> =>
    runPortfolio(context, { untilIdle: true, isolation: "clone", everyMs: 50 });
  const page = (): string => readFileSync(join(paths.pagesFolder, "portfolio.md"), "utf8");
  const tick = (): Promise<CommandResponse> => tickPortfolio(context, { dryRun: true });
  const rows = async (): Promise<unknown> => (await portfolioInbox(context)).data?.["tasks"];
  const dirty = "Uncommitted changes: shared.txt";
  writeFileSync(join(repository, "shared.txt"), "mine\n");
  // Before anybody has tried.
  expect((await tick()).data).toMatchObject({
    actions: [],
    waiting: [{ code: "landing" }, { code: "landing" }],
  });

  expect((await pool()).data).toMatchObject({ held: expect.stringContaining(dirty) as string });
  const [why, command] = [`landing waits: ${repository}: ${dirty}`, `git -C ${repository} status`];

  const waits = {
    task: id("one"),
    why: `it is finished, and ${why} (1 more waits behind it)`,
    commands: [command],
  };
  expect(await rows()).toMatchObject([waits]);
  const shown = await showPortfolio(context, {});
  expect(shown.data).toMatchObject({
    needs_you: 1,
    held: [{ repository, target: "main", command, tasks: [id("one"), id("two")] }],
  });

  expect(shown.page?.join("\n")).toMatch(
    /1 task waits for you: autopilot inbox[\s\S]*2 tasks wait: landing waits for you/,
  );

  expect(page()).toContain(`- landing on main (2 tasks, since `);
  expect(page()).toContain(`${dirty}: \`${command}\``);
  expect(readFileSync(join(paths.pagesFolder, "projects/proj-a.md"), "utf8")).toContain(dirty);
  expect((await tick()).page?.join("\n")).not.toContain("would merge");
  // Another reason is told in its place.
  git("checkout", "-q", "--", "shared.txt");
  git("checkout", "-q", "--detach");
  git("branch", "-q", "-m", "main", "away");
  expect((await tick()).page?.join("\n")).toContain("no branch main");
  await pool();
  expect(await rows()).toMatchObject([
    { commands: ["autopilot portfolio edit proj-a --target BRANCH"] },
  ]);

  git("branch", "-q", "-m", "away", "main");
  expect((await tick()).page?.join("\n")).toContain(`would merge ${id("one")}, ${id("two")}`);
  await pool();
  expect([status("one"), status("two"), await rows()]).toEqual(["done", "done", []]);
  expect((await showPortfolio(context, {})).data).toMatchObject({ held: [], needs_you: 1 }); // whether the project is done
  expect(page()).not.toContain("landing on main");
});

test("a landing that an untracked or ignored file holds up, or a branch that was moved back, is shown before and after anybody tries", async () => {
  const here = await scene("true\n", { one: { "one.txt": "1" }, two: { "two.txt": "2" } });
  const { git, status, parts, merge } = here;
  const { context, paths } = parts;
  chmodSync(paths.ownFolder, 0o700);
  bindPortfolio(context, paths);
  const repository = join(paths.root, "repo");
  const pool = (): Promise<CommandResponse> =>
    runPortfolio(context, { untilIdle: true, isolation: "clone", everyMs: 50 });

  const looks = async (): Promise<{ dry: string; board: string; inbox: string }> => {
    const [tick, shown, inbox] = [
      await tickPortfolio(context, { dryRun: true }),
      await showPortfolio(context, {}),
      await portfolioInbox(context),
    ];

    return {
      dry: (tick.page ?? []).join("\n"),
      board: (shown.page ?? []).join("\n"),
      inbox: (inbox.page ?? []).join("\n"),
    };
  };

  writeFileSync(join(repository, ".git/info/exclude"), "two.txt\n");
  for (const name of ["one.txt", "two.txt"]) {
    writeFileSync(join(repository, name), "mine\n");
    for (const isTried of [false, true]) {
      if (isTried) await pool();
      const { dry, board, inbox } = await looks();
      const why = `Files git does not track (ignored ones too: .gitignore, .git/info/exclude) are in the way; move them away: ${name}`;
      expect(dry).toContain(`landing waits for you: ${repository}: ${why}`);
      expect(dry).not.toContain("would merge");
      expect(board).toMatch(
        /1 task waits for you: autopilot inbox[\s\S]*2 tasks wait: landing waits for you: /,
      );

      expect(inbox).toContain(`${why} (1 more waits behind it)`);
      expect(inbox).toContain(`  git -C ${repository} status --ignored`);
    }

    expect(readFileSync(join(repository, name), "utf8")).toBe("mine\n");
    rmSync(join(repository, name));
    expect((await looks()).dry).toMatch(/would merge [\s\S]*the last try was held up: /);
  }

  const base = git("rev-parse", "main");
  await pool();
  expect([status("one"), status("two")]).toEqual(["done", "done"]);
  git("reset", "-q", "--hard", base);
  await queued(here, "three", base, [{ "three.txt": "3" }]);
  const lost = "landed and are not on it any more";
  const untried = await looks();
  expect(untried.dry).toMatch(
    new RegExp(`landing waits for you: main of .* was moved back: .*${lost}`),
  );

  expect(untried.inbox).toContain("  autopilot portfolio tick");
  await pool();
  const tried = await looks();
  for (const page of Object.values(tried)) {
    expect(page).toContain(page === tried.board ? "was moved back" : lost);
  }

  expect(tried.dry).not.toContain("would merge");
  expect(tried.inbox.split(lost)).toHaveLength(2); // one question, and no task beside it
  expect((await merge()).obstacle?.why).toContain(lost);
});

test("a landing that was killed leaves neither its branch nor a checkout half moved", async () => {
  const { write, git, status, parts } = await scene("true\n", {
    one: { "one.txt": "1" },
    two: { "two.txt": "2" },
  });

  const { paths } = parts;
  const repository = join(paths.root, "repo");
  const [from, commit, other] = ["main", "work-one", "work-two"].map((name) =>
    git("rev-parse", name),
  );

  const verified = (name: string, to = ""): Promise<void> =>
    write({
      ...said,
      event: "merge_verified",
      repository,
      tasks: [id(name)],
      from: from ?? "",
      commit: to,
      evidence: [],
    });

  /** As it is when the files are there and the branch has not moved yet. */
  const cut = (to = ""): void => {
    const name = landingName(paths, { from: from ?? "", commit: to });
    mkdirSync(join(paths.ownFolder, "landings", name, "land"), { recursive: true, mode: 0o700 });
    writeFileSync(
      join(paths.ownFolder, "landings", name, "land/landing.json"),
      JSON.stringify({ version: 1, from, to }),
    );

    git("update-ref", `refs/heads/autopilot/${name}`, to);
  };

  await verified("two", other);
  cut(other);
  await write({
    ...said,
    event: "task_status_changed",
    task_id: id("two"),
    to_status: "canceled",
    because: "not wanted",
  }); // its batch is gone

  await verified("one", commit);
  cut(commit);
  git("read-tree", "-m", "-u", from ?? "", commit ?? "");
  expect(git("status", "--porcelain")).not.toBe("");
  await clearLeftovers(paths, await readPortfolio(paths));
  expect(git("branch", "--list", "autopilot/*").split("\n")).toHaveLength(1); // that of the batch that goes on
  expect(await settleBatches(parts)).toEqual([]);
  expect([status("one"), git("rev-parse", "main"), git("status", "--porcelain")]).toEqual([
    "done",
    commit,
    "",
  ]);

  expect(git("branch", "--list", "autopilot/*")).toBe("");
  expect(readdirSync(join(paths.ownFolder, "landings"))).toEqual([]);
});

test("killed between proof, branch and journal, what landed is recorded and what did not is landed, once", async () => {
  const { write, git, status, parts } = await scene("true\n", {
    one: { "one.txt": "1" },
    two: { "two.txt": "2" },
  });
  const repository = (await readPortfolio(parts.paths)).projects["proj-a"]?.repository ?? "";
  const from = git("rev-parse", "main");
  const commit = git("rev-parse", "work-one");
  await write({
    ...said,
    event: "merge_verified",
    repository,
    tasks: [id("one")],
    from,
    commit,
    evidence: [],
  });

  await settleBatches(parts); // killed before the branch moved
  expect([status("one"), git("rev-parse", "main")]).toEqual(["done", commit]);
  const next = git("rev-parse", "work-two");
  git("merge", "-q", "--no-edit", "work-two");
  await write({
    ...said,
    event: "merge_verified",
    repository,
    tasks: [id("two")],
    from: commit,
    commit: next,
    evidence: [],
  });

  const tip = git("rev-parse", "main");
  git("update-ref", `refs/autopilot/portfolio/${id("one")}`, next);
  git("update-ref", `refs/autopilot/portfolio/${id("two")}`, next);
  git("update-ref", "refs/autopilot/portfolio/task-else-aaaaaa", next);
  mkdirSync(join(parts.paths.ownFolder, "merge-cut/prove"), { recursive: true });
  await settleBatches(parts); // killed after it
  await settleBatches(parts);
  await clearLeftovers(parts.paths, await readPortfolio(parts.paths));
  expect(git("for-each-ref", "--format=%(refname)", "refs/autopilot")).toBe(
    "refs/autopilot/portfolio/task-else-aaaaaa",
  );

  expect(readdirSync(parts.paths.ownFolder).filter((name) => name.startsWith("merge-"))).toEqual(
    [],
  );

  expect([status("two"), git("rev-parse", "main")]).toEqual(["done", tip]);
  expect(git("status", "--porcelain")).toBe("");
});

/** A task at the end of the queue whose work is on `tip`: each of `steps` is a commit. */
async function queued(
  { git, write, parts }: Scene,
  name: string,
  tip: string,
  steps: readonly Readonly<Record<string, string>>[],
): Promise<void> {
  const repository = join(parts.paths.root, "repo");
  git("checkout", "-q", "-B", `work-${name}`, tip);

  for (const files of steps) {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(repository, path), text);
    git("add", "-A");
    git("commit", "-q", "-m", `work on ${name}`);
  }

  const commit = git("rev-parse", "HEAD");
  git("checkout", "-q", "main");
  const fields = task({
    touches: [name],
    acceptance_criteria: [{ text: "holds", command: "sh check.sh" }],
  });

  const run_id = "run-2026-01-01-000009";
  await write(
    {
      ...said,
      event: "task_created",
      task_id: id(name),
      project_id: "proj-a",
      status: "ready",
      fields,
    },
    { ...dispatched(id(name), 9), ...said, tip } as PortfolioChange,
    { ...said, event: "merge_queued", task_id: id(name), run_id, commit },
  );
}

test("what somebody took out of the branch does not come back with work that stood on it", async () => {
  const here = await scene("true\n", {});
  const { git, merge, status, parts } = here;
  const base = git("rev-parse", "main");
  writeFileSync(join(parts.paths.root, "repo/secret.txt"), "a key\n");
  git("add", "-A");
  git("commit", "-q", "-m", "by mistake");
  await queued(here, "one", git("rev-parse", "main"), [{ "one.txt": "1" }]);
  git("reset", "-q", "--hard", base); // pushed by force
  expect(await merge()).toMatchObject({ landed: 1, obstacle: null });
  expect(status("one")).toBe("done");
  expect(git("ls-tree", "--name-only", "main").split("\n")).toEqual([
    "check.sh",
    "one.txt",
    "shared.txt",
  ]);

  expect(git("log", "--format=%s", "main")).not.toContain("by mistake");
});

test("a branch that lost what had landed on it is asked about once, and nothing lands before", async () => {
  const here = await scene("true\n", { one: { "one.txt": "1" } });
  const { git, merge, status, parts, write } = here;
  const base = git("rev-parse", "main");
  await merge();
  git("reset", "-q", "--hard", base);
  await queued(here, "two", base, [{ "two.txt": "2" }]);

  for (let n = 0; n < 2; n++) {
    expect((await merge()).obstacle?.why).toContain(
      `${id("one")} landed and is not on it any more`,
    );
  }

  const blocks = Object.values((await readPortfolio(parts.paths)).blocks);
  expect(blocks).toMatchObject([{ project_id: "proj-a", resolved_at: null }]);
  expect([status("two"), git("rev-parse", "main")]).toEqual(["running", base]);
  const [{ block_id, content } = { block_id: "", content: "" }] = blocks;
  await write({ ...said, event: "block_resolved", block_id, content, answer: "A" });
  expect(await merge()).toMatchObject({ landed: 1, obstacle: null });
  expect([status("one"), status("two")]).toEqual(["done", "done"]);
});

test("the question about a branch that was moved back is asked again when it is moved further, and closed when it is put back", async () => {
  const here = await scene("true\n", { one: { "one.txt": "1" } });
  const { git, merge, status, parts } = here;
  const base = git("rev-parse", "main");
  await merge();
  const first = git("rev-parse", "main");
  await queued(here, "two", first, [{ "two.txt": "2" }]);
  await merge();
  const second = git("rev-parse", "main");
  await queued(here, "three", base, [{ "three.txt": "3" }]);
  const open = async () => listOpenBlocks(await readPortfolio(parts.paths));
  const asked: string[] = [];

  for (const tip of [first, base, first]) {
    git("reset", "-q", "--hard", tip);
    expect((await merge()).obstacle?.why).toContain("was moved back");
    const [block, ...more] = await open();
    expect([block?.about.split("\n").length, more]).toEqual([tip === base ? 2 : 1, []]);
    expect(block?.replaces).toBe(asked.at(-1) ?? null);
    asked.push(block?.block_id ?? "");
  }

  expect(new Set(asked).size).toBe(3);
  git("reset", "-q", "--hard", second);
  expect(await merge()).toMatchObject({ landed: 1, obstacle: null });
  expect([await open(), status("three")]).toEqual([[], "done"]);
});

test("what cannot be merged is rebased first: a step that the branch has already is no conflict", async () => {
  const here = await scene("true\n", {});
  const { git, merge, status, parts } = here;
  await queued(here, "one", git("rev-parse", "main"), [
    { "shared.txt": "first\n" },
    { "shared.txt": "second\n" },
  ]);

  writeFileSync(join(parts.paths.root, "repo/shared.txt"), "first\n");
  git("commit", "-qam", "the same first step");
  expect(await merge()).toMatchObject({ landed: 1, rejected: 0 });
  expect([status("one"), git("show", "main:shared.txt")]).toEqual(["done", "second"]);
});
