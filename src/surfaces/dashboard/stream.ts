// stream: notifies every open page that something changed, and never what: a page requests what it
// shows, so a lost message loses nothing.
//
// Invariants:
//   S1. Polls only while a page listens; notifies at most a few times a second.
//   S2. A page that does not read is dropped: only a little is buffered for it.

import type { ServerResponse } from "node:http";
import type { Facts } from "../../commands/dashboard/facts.ts";

const pollEveryMs = 400;
/**
 * A message without content, so that nothing between here and the page takes the connection for
 * dead.
 */
const beatEveryMs = 15_000;
const unreadBytesMax = 256 * 1024;
const pagesMax = 32;
/** A page loads anew whatever changed, so a longer list would tell it nothing more. */
const changedMax = 500;

export type EventStream = {
  readonly join: (response: ServerResponse) => boolean;
  readonly close: () => void;
};

export function openStream(facts: Pick<Facts, "marks">): EventStream {
  const pages = new Set<ServerResponse>();
  let knownMarks: Readonly<Record<string, string>> = {};
  let timer: NodeJS.Timeout | null = null;
  let sinceBeatMs = 0;

  const send = (text: string): void => {
    for (const page of pages) {
      if (page.writableLength > unreadBytesMax) page.destroy(); // S2
      else page.write(text);
    }
  };

  const pollMarks = (): void => {
    const marks = facts.marks();
    const changed = Object.keys({ ...knownMarks, ...marks }).filter(
      (key) => knownMarks[key] !== marks[key],
    );

    knownMarks = marks;
    sinceBeatMs += pollEveryMs;

    if (changed.length > 0) {
      send(`data: ${JSON.stringify({ changed: changed.slice(0, changedMax) })}\n\n`);
    } else if (sinceBeatMs >= beatEveryMs) {
      send(": still here\n\n");
    } else {
      return;
    }

    sinceBeatMs = 0;
  };

  const leave = (page: ServerResponse): void => {
    pages.delete(page);
    if (pages.size > 0 || timer === null) return;
    clearInterval(timer); // S1
    timer = null;
  };

  return {
    join: (response) => {
      if (pages.size >= pagesMax) return false;
      response.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" });
      response.write('data: {"changed":[]}\n\n');
      pages.add(response);
      response.on("close", () => leave(response));
      response.on("error", () => leave(response));

      if (timer === null) {
        knownMarks = facts.marks();
        timer = setInterval(pollMarks, pollEveryMs);
      }

      return true;
    },
    close: () => {
      for (const page of pages) page.end();
      if (timer !== null) clearInterval(timer);
    },
  };
}
