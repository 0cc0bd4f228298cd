// left-behind: a program that leaves a process behind, in a session of its own, which holds the
// program's output open. Whoever waits for the end of that output waits for that process.

import { spawnSync } from "node:child_process";

export const hasSetsid = spawnSync("setsid", ["true"]).status === 0;

/** Lines of a shell: starts the process that stays, prints its pid, and goes on once it is there. */
export const leaveBehind = (stays = "sleep 600"): string =>
  `f=$(mktemp); setsid sh -c 'echo "pid $$" | tee "$0"; ${stays}' "$f" & ` +
  `while ! test -s "$f"; do sleep 0.01; done; rm "$f"`;

/** Ends the process that the output names; whether it was still alive. */
export function endLeftBehind(output: string): boolean {
  const pid = Number(/pid (\d+)/.exec(output)?.[1]);
  try {
    return process.kill(-pid, "SIGKILL");
  } catch {
    return false;
  }
}
