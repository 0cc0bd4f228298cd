// close-after-exit: closes the pipes of a program that has ended, even if a process that it left
// behind, in a session of its own, holds them open.

import type { ChildProcess } from "node:child_process";

/** How long a pipe may be silent after the exit before nothing more is expected of it. */
const silenceMs = 300;

/** From then on `close` follows `exit`, with all that the program itself has printed. */
export function closeAfterExit(child: ChildProcess): void {
  child.once("exit", () => {
    let hasPrinted = false;
    const note = (): void => void (hasPrinted = true);
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", note);

    const check = (): void => {
      // What lies in the pipe is read before this runs, however late the timer was.
      setImmediate(() => {
        if (!hasPrinted) return closePipes(child);
        hasPrinted = false;
        timer = setTimeout(check, silenceMs);
      });
    };
    let timer = setTimeout(check, silenceMs);
    child.once("close", () => clearTimeout(timer));
  });
}

/** Closes them at once: what is still in them is lost. */
export function closePipes({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}
