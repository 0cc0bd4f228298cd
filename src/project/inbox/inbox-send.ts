// inbox-send: how another process reaches a run's owner. The file is the request; the socket only makes it quick and tells the end.

import { lstat } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Request } from "../../ports/inbox.ts";
import { leaveRequest } from "./inbox-files.ts";
import { findSocketPath } from "./inbox-socket-path.ts";

/**
 * `journaled`: the owner has written it down. `left`: nobody has answered in time; the request is there and will be found.
 * `gone`: the owner took it away without writing it down anew: it was there already, or no longer fits.
 */
export type Sent = "journaled" | "left" | "gone";

const lookEveryMs = 100;
const answerBytesMax = 4096;

/** Leaves a request with a run and waits up to `waitMs` to hear what became of it. */
export async function sendRequest(runDir: string, request: Request, { waitMs }: { readonly waitMs: number }): Promise<Sent> {
  const path = await leaveRequest(runDir, request);
  const until = performance.now() + waitMs;
  for (;;) {
    const leftMs = until - performance.now();
    if (leftMs <= 0) return "left";
    const socket = await findSocketPath(runDir).catch(() => null);
    const word = socket === null ? null : await nudge(socket, request.request, leftMs);
    if (word !== null) return word;
    // An owner that hears nothing still looks; one that has just gone may have a successor.
    if ((await lstat(path).catch(() => null)) === null) return "gone";
    await sleep(Math.max(1, Math.min(lookEveryMs, until - performance.now())));
  }
}

/** One connection: a nudge, and the answer to it; null if there is none. */
function nudge(socketPath: string, request: string, waitMs: number): Promise<"journaled" | "gone" | null> {
  return new Promise((resolve) => {
    const socket = connect(socketPath, () => socket.write(`${JSON.stringify({ nudge: request })}\n`));
    let text = "";
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(wordIn(text, request));
    };
    const timer = setTimeout(end, waitMs);
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n") || text.length > answerBytesMax) end();
    });
    socket.on("error", end);
    socket.on("close", end);
  });
}

function wordIn(text: string, request: string): "journaled" | "gone" | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return null;
    if ("journaled" in value && value.journaled === request) return "journaled";
    return "gone" in value && value.gone === request ? "gone" : null;
  } catch {
    return null;
  }
}
