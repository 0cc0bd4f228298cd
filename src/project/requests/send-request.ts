// send-request: sends a request to the process that owns a run. The file is the request; the socket
// only speeds it up and returns the result.

import { lstat } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunRequest } from "../../ports/request-queue.ts";
import { writeRequest } from "./request-files.ts";
import type { RequestResult } from "./request-socket.ts";
import { findSocketPath } from "./request-socket-path.ts";

/**
 * `journaled`: the owner has recorded it. `left`: no answer in time; the request is stored and will
 * be found. `gone`: the owner removed it without recording it again: it was recorded already, or no
 * longer fits.
 */
export type SendResult = RequestResult | "left";

const pollEveryMs = 100;
const answerBytesMax = 4096;

/** Leaves a request for a run and waits up to `waitMs` for its result. */
export async function sendRequest(
  runDir: string,
  request: RunRequest,
  { waitMs }: { readonly waitMs: number },
): Promise<SendResult> {
  const path = await writeRequest(runDir, request);
  const deadlineMs = performance.now() + waitMs;

  for (;;) {
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0) return "left";
    const socket = await findSocketPath(runDir).catch(() => null);
    const result = socket === null ? null : await nudge(socket, request.request, leftMs);
    if (result !== null) return result;
    // An owner without a socket still polls; one that has just ended may have a successor.
    if ((await lstat(path).catch(() => null)) === null) return "gone";
    await sleep(Math.max(1, Math.min(pollEveryMs, deadlineMs - performance.now())));
  }
}

/**
 * Asks the owner over its socket to read its folder. Returns the request's result, or null if the
 * owner doesn't answer.
 */
function nudge(socketPath: string, request: string, waitMs: number): Promise<RequestResult | null> {
  return new Promise((resolve) => {
    const socket = connect(socketPath, () =>
      socket.write(`${JSON.stringify({ nudge: request })}\n`),
    );

    let text = "";
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(parseResult(text, request));
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

function parseResult(text: string, request: string): RequestResult | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return null;
    if ("journaled" in value && value.journaled === request) return "journaled";

    return "gone" in value && value.gone === request ? "gone" : null;
  } catch {
    return null;
  }
}
