// run-notices: queues notifications as events are journaled, and starts a courier that delivers
// them.
//
// Invariants:
//   T1. A run waits for no delivery: this writes one small file, and the courier is a separate
//       process.
//   T2. No failure here ends or changes a run; it is reported once.

import { spawn } from "node:child_process";
import { basename } from "node:path";
import type { Entry } from "../contracts/event.ts";
import type { RunView } from "../core/state.ts";
import type { CommandContext } from "../project/command-context.ts";
import { type Hook, readHooks } from "../project/notify/hooks.ts";
import { openNoticeQueue, type NoticeQueue } from "../project/notify/notice-queue.ts";
import { type ProjectPaths, runFolder } from "../project/runs/project-paths.ts";
import { answeredBy, buildNotices, type Notice } from "../views/outbound/notices.ts";
import { findAutopilot } from "./shipped-programs.ts";

/**
 * Returns the function that queues an entry's notices. A child run queues none: its parent does.
 */
export function openNotices(
  context: CommandContext,
  paths: ProjectPaths,
  folder: string,
): (entry: Entry, run: RunView) => void {
  const { hooks } = readHooks(context.env);
  if (hooks.length === 0 || context.callerNotifies === true) return () => undefined;
  const queue = openNoticeQueue(context.env);
  const reported = new Set<string>();
  let isBroken = false;

  return (entry, run) => {
    if (folder !== runFolder(paths, run.drafted.run_id)) return;
    try {
      const isAnswered = answeredBy(entry, run);
      if (isAnswered !== null) queue.withdraw(isAnswered);
      const unsent = buildNotices(entry, run, basename(paths.root)).filter(
        ({ id }) => !reported.has(id),
      );
      queueForHooks(context.env, queue, hooks, unsent);
      for (const { id } of unsent) reported.add(id);
    } catch (error) {
      if (!isBroken) {
        context.show(
          `! Nobody can be notified: ${error instanceof Error ? error.message : String(error)}`,
        );
      } // T2

      isBroken = true;
    }
  };
}

/**
 * Queues each notice for the hooks that want its kind, and starts a courier if one of them was not
 * queued before.
 */
export function queueForHooks(
  env: NodeJS.ProcessEnv,
  queue: NoticeQueue,
  hooks: readonly Hook[],
  notices: readonly Notice[],
): void {
  let isAnyNew = false;
  for (const notice of notices) {
    for (const { name, on } of hooks) {
      if (on.includes(notice.kind) && queue.add(notice, name, Date.now())) isAnyNew = true;
    }
  }

  if (isAnyNew) startCourier(env);
}

/** Withdraws the notice of a question that has been answered, whichever process queued it. T2 */
export function withdrawNotice({ env }: Pick<CommandContext, "env">, id: string): void {
  try {
    openNoticeQueue(env).withdraw((notice) => notice.id === id);
  } catch {
    return; // the notice goes out anyway; the answer still counts
  }
}

/**
 * Starts the process that delivers notices. It outlives this one, and ends when every notice is
 * delivered or given up.
 */
function startCourier(env: NodeJS.ProcessEnv): void {
  const child = spawn(process.execPath, [findAutopilot(), "notify", "send", "--wait"], {
    cwd: "/",
    detached: true,
    stdio: "ignore",
    env,
  }); // T1
  child.on("error", () => undefined); // the next notice, or `autopilot notify send`, starts another
  child.unref();
}
