// request-socket: the socket on which a run's owner learns at once of a new request file. A sender
// writes `{"nudge":"<request>"}` and gets `{"journaled":"<request>"}` or `{"gone":"<request>"}`.
// The request itself is never sent over the socket: only its file counts.
//
// Invariants:
//   S1. Nothing that is sent can do more than make the owner read its folder.
//   S2. Bytes per connection, connections and waiting times are bounded.

import { chmod, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import * as v from "valibot";
import { chooseSocketPath, clearSocket } from "./request-socket-path.ts";

export const lineBytesMax = 1024 * 1024;
const connectionsMax = 64;
const lineTimeoutMs = 5_000;
const resultTimeoutMs = 10 * 60_000;
const resultsMax = 1_000;
const closeTimeoutMs = 100;

const Nudge = v.strictObject({ nudge: v.pipe(v.string(), v.minLength(1), v.maxLength(128)) });

/** What became of a request: recorded, or removed without being recorded. */
export type RequestResult = "journaled" | "gone";

export type RequestSocket = {
  /** Notifies those who wait for this request of its result; later callers get the same answer. */
  readonly report: (request: string, result: RequestResult) => void;
  readonly close: () => Promise<void>;
};

/** Starts to listen. Null if no socket can be made; the owner watches the folder anyway. */
export async function openRequestSocket(
  runDir: string,
  onNudge: () => void,
): Promise<RequestSocket | null> {
  const path = await chooseSocketPath(runDir).catch(() => null);
  if (path === null || !(await clearSocket(path))) return null;
  const sockets = new Set<Socket>();
  const results = openResults();

  const onLine = (socket: Socket, line: string): void => {
    const request = parseNudge(line);
    if (request === null) {
      socket.destroy(); // S1
      return;
    }

    if (results.sendTo(socket, request) === "waits") onNudge();
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setTimeout(lineTimeoutMs, () => socket.destroy()); // S2
    onFirstLine(socket, (line) => onLine(socket, line));
  });
  server.maxConnections = connectionsMax; // S2
  if (!(await listen(server, path))) return null;

  return {
    report: results.report,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));

      // An answer on its way is still sent; a sender that does not read it is cut off.
      for (const socket of sockets) {
        if (!socket.writableEnded) socket.destroy();
      }

      const cutOffTimer = setTimeout(
        () => sockets.forEach((socket) => socket.destroy()),
        closeTimeoutMs,
      );

      await closed;
      clearTimeout(cutOffTimer);
      await rm(path, { force: true });
    },
  };
}

type Results = {
  readonly report: RequestSocket["report"];
  /** Sends the request's result, now if there is one, or once it is reported. */
  readonly sendTo: (socket: Socket, request: string) => "sent" | "waits";
};

/** The latest results, and the sockets that wait for one. */
function openResults(): Results {
  const results = new Map<string, RequestResult>();
  const waiters = new Map<string, Set<Socket>>();

  const addWaiter = (socket: Socket, request: string): void => {
    const socketsOfRequest = waiters.get(request) ?? new Set();
    waiters.set(request, socketsOfRequest.add(socket));

    socket.setTimeout(resultTimeoutMs);
    socket.once("close", () => {
      socketsOfRequest.delete(socket);
      if (socketsOfRequest.size === 0) waiters.delete(request);
    });
  };

  return {
    report: (request, result) => {
      if (results.has(request)) return;
      results.set(request, result);
      for (const oldest of results.keys()) {
        if (results.size <= resultsMax) break;
        results.delete(oldest);
      }

      for (const socket of waiters.get(request) ?? []) sendResult(socket, request, result);
    },
    sendTo: (socket, request) => {
      const result = results.get(request);
      if (result === undefined) {
        addWaiter(socket, request);
        return "waits";
      }

      sendResult(socket, request, result);
      return "sent";
    },
  };
}

/** Starts the server on a path that only the user can open. Returns whether it listens. */
async function listen(server: Server, path: string): Promise<boolean> {
  const isUp = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(path, () => resolve(true));
  });
  if (isUp) await chmod(path, 0o600);
  // A server that fails later is not fatal: the folder is watched as well.
  server.on("error", () => undefined);

  return isUp;
}

function sendResult(socket: Socket, request: string, result: RequestResult): void {
  socket.end(`${JSON.stringify({ [result]: request })}\n`);
}

/**
 * Passes on the first line and nothing after it; more than the limit without a line break ends the
 * connection.
 */
function onFirstLine(socket: Socket, onLine: (line: string) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;

  const onData = (chunk: Buffer): void => {
    const end = chunk.indexOf(10);
    chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
    bytes += chunk.length;
    if (end === -1 && bytes <= lineBytesMax) return;
    socket.off("data", onData);
    // Anything else is read and dropped, so that the other side's close is seen.
    socket.resume();
    if (bytes > lineBytesMax) socket.destroy(); // S2
    else onLine(Buffer.concat(chunks.splice(0)).toString("utf8"));
  };
  socket.on("data", onData);
}

function parseNudge(line: string): string | null {
  try {
    const parsed = v.safeParse(Nudge, JSON.parse(line));
    return parsed.success ? parsed.output.nudge : null;
  } catch {
    return null;
  }
}
