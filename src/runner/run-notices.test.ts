// A run whose user has hooks, and whose state folder can't be written.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandContext } from "../../test/support/command-context.ts";
import type { Entry } from "../contracts/event.ts";
import type { RunView } from "../core/state.ts";
import { openNoticeQueue } from "../project/notify/notice-queue.ts";
import { runFolder } from "../project/runs/project-paths.ts";
import { openNotices } from "./run-notices.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "run-notices-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a notice that can't be withdrawn ends no run, and is reported once", () => {
  const env = {
    HOME: folder,
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CONFIG_HOME: join(folder, "config"),
  };

  mkdirSync(join(folder, "config", "autopilot"), { recursive: true });
  writeFileSync(
    join(folder, "config", "autopilot", "config.yaml"),
    "notify: [{ name: a, run: [x] }]\n",
  );

  const queue = openNoticeQueue(env);
  const words = {
    project: "shop",
    at: "2026-01-01T00:00:00.000Z",
    reason: "ok",
    title: "t",
    text: "t",
    next: "autopilot inbox",
  };

  queue.add({ ...words, id: "run-1:b1", kind: "needs_you", run: "run-1" }, "a", 0);
  writeFileSync(join(queue.folder, "settled"), "a file where the folder should be");
  const shown: string[] = [];
  const paths = { root: folder, folder: join(folder, ".autopilot") };

  const onEntry = openNotices(
    commandContext({ cwd: folder, env, show: (line) => shown.push(line) }),
    paths,
    runFolder(paths, "run-1"),
  );

  const run = { drafted: { run_id: "run-1" }, blocks: {} } as unknown as RunView;
  for (const seq of [7, 8]) {
    onEntry({ event: "run_resumed", seq, reason_code: "ok" } as unknown as Entry, run);
  }

  expect(shown).toEqual([expect.stringMatching(/^! Nobody can be notified: .*settled/)]);
});
