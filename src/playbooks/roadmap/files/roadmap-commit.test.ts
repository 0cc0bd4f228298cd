// Which phases' pages are committed, and when.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Event } from "../../../contracts/event.ts";
import type { RunView } from "../../../core/state.ts";
import { entryOf, runView } from "../../../views/run-view.test-support.ts";
import type { PlaybookParts } from "../../contract/playbook.ts";
import { commitPagesOfEndedRun, findLandedPhases } from "./roadmap-commit.ts";
import { clearRooms, room } from "./roadmap-room.test-support.ts";

afterEach(clearRooms);

const view = (...statuses: readonly RunView["phases"][number]["status"][]): RunView => {
  const [one] = runView().phases;
  if (one === undefined) throw new Error("the view has a phase");
  return runView({
    phases: statuses.map((status, index) => ({
      ...one,
      id: String(index + 1),
      group: "phases",
      status,
    })),
  });
};
const completed = (cursorPath: string): Event =>
  ({ event: "phase_completed", walk: cursorPath }) as Event;
const land = (cursorPath: string, facts: object): Event =>
  ({ event: "step_completed", walk: cursorPath, step: "land", facts }) as unknown as Event;
const of = (...events: readonly Event[]) => events.map(entryOf);

test("a landing brings every phase completed before it; what landed nowhere, was run again since or failed is left out", () => {
  const entries = of(
    completed("1"),
    land("1/closing", { landed: false, why: "checkout_dirty" }),
    completed("2"),
    land("2/closing", { landed: true, commit: "aaa" }),
    completed("3"),
    land("3/closing", { landed: true, commit: "bbb" }),
    completed("4"),
    land("4/closing", { landed: true, commit: "ccc" }),
    completed("4"),
    completed("5"),
  );
  const landed = findLandedPhases(
    view("completed", "completed", "failed", "completed", "completed"),
    entries,
  );
  expect(Object.fromEntries(landed)).toEqual({ 1: "aaa", 2: "aaa" });
});

test("they are committed when the run has ended, not while it may go on, and never against the config", async () => {
  const here = room();
  const { root, home } = here;
  const write = (path: string, text: string): void => here.write(path, text);

  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd: root,
      encoding: "utf8",
    }).trimEnd();
  git("init", "-q", "-b", "main");
  write(".gitignore", ".autopilot\n.config\n");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  const commit = git("rev-parse", "HEAD");
  for (const id of ["1", "2"]) write(`.planning/phases/${id}/TRIAGE.json`, "{}\n");
  const entries = of(completed("1"), land("1/closing", { landed: true, commit }), completed("2"));
  const both = view("completed", "completed");
  const context = {
    env: { XDG_CONFIG_HOME: join(root, ".config") },
  } as unknown as PlaybookParts["context"];

  const rest = async (status: RunView["status"]): Promise<string> => {
    const drafted = { ...both.drafted, base: { ...both.drafted.base, commit, branch: "main" } };
    await commitPagesOfEndedRun({
      context,
      paths: home,
      root,
      entries: () => entries,
      view: { ...both, drafted, status },
    });

    return git("log", "-1", "--name-only", "--format=%s");
  };
  expect(await rest("paused")).toBe("first\n\n.gitignore");
  write(".config/autopilot/config.yaml", "roadmap: { commit_pages: false }\n");
  expect(await rest("completed")).toBe("first\n\n.gitignore");
  write(".config/autopilot/config.yaml", "");
  expect(await rest("stopped")).toBe(
    "autopilot: pages of phase 1\n\n.planning/phases/1/TRIAGE.json",
  );
});
