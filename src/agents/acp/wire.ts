// wire: turns the agent's stdout and stdin into a stream of protocol messages, with a limit on
// everything the agent controls.
//
// The protocol's SDK trusts its peer: it queues without bound, answers every line that isn't JSON
// and logs what it does not know. An agent is not trusted, so this file stands between the two.
//
// Invariants:
//   W1. Of an unfinished line no more than the limit is held in memory; a longer line breaks the
//       wire.
//   W2. What isn't a protocol message is counted and dropped, and breaks the wire when there is too
//       much of it.
//   W3. Updates are delivered in order, before any answer that came after them.
//   W4. Only requests, and answers to requests that were sent, reach the SDK.

import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import type { Readable, Writable } from "node:stream";
import { createLineSplitter } from "../process/line-splitter.ts";
import { type WireLimits, wireLimits } from "../turn/turn-limits.ts";
import { asRecord, type JsonObject } from "../turn/untrusted-json.ts";

export type Wire = {
  readonly stream: Stream;
  /** Resolves with a sentence when the agent broke a limit. */
  readonly broken: Promise<string>;
  /** Resolves when the agent's stdout has ended. */
  readonly ended: Promise<void>;
  readonly garbage: () => { readonly lines: number; readonly bytes: number };
};

/**
 * Connects the SDK to an agent. Updates of the session go to `handlers` alone, as does every sign
 * of life.
 */
export function openWire(
  stdout: Readable,
  stdin: Writable,
  handlers: { readonly update: (params: JsonObject) => void; readonly life: () => void },
  limits: WireLimits = wireLimits,
): Wire {
  const garbage = { lines: 0, bytes: 0 };
  const sentRequests = new Set<unknown>();
  const inbox = openInbox();
  let requestCount = 0;
  let allBytes = 0;
  let reportBroken: (sentence: string) => void = () => undefined;
  const broken = new Promise<string>((resolve) => (reportBroken = resolve));

  const breakOff = (sentence: string): void => {
    lines.drop();
    stdout.destroy();
    inbox.close();
    reportBroken(sentence);
  };

  // W2
  const dropGarbage = (line: Buffer): void => {
    garbage.lines += 1;
    garbage.bytes += line.length;
    if (garbage.bytes <= limits.garbageBytesMax) return;

    breakOff(
      `flooded its output: more than ${formatMib(limits.garbageBytesMax)} that isn't a protocol message`,
    );
  };

  const handleLine = (line: Buffer): void => {
    const message = parseMessage(line);
    if (message === null) return dropGarbage(line);
    handlers.life();
    if (message["method"] === "session/update") return handlers.update(asRecord(message["params"])); // W3

    // W4: only these two kinds go on to the SDK.
    const isAnswer = !("method" in message) && sentRequests.delete(message["id"]);
    const isRequest = typeof message["method"] === "string" && "id" in message;
    if (!isAnswer && !isRequest) return;

    if (isRequest) requestCount += 1;
    if (requestCount > limits.requestsMax) {
      return breakOff(`flooded the runner with more than ${limits.requestsMax} requests`);
    }

    inbox.deliver(message as unknown as AnyMessage);
  };

  // W1
  const lines = createLineSplitter(limits.lineBytesMax, handleLine, () =>
    breakOff(`printed a line longer than ${formatMib(limits.lineBytesMax)}`),
  );

  stdout.on("data", (chunk: Buffer) => {
    allBytes += chunk.length;
    if (allBytes > limits.allBytesMax) {
      return breakOff(`printed more than ${formatMib(limits.allBytesMax)} in one turn`);
    }

    lines.push(chunk);
  });

  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      inbox.close();
      resolve();
    };
    stdout.once("end", end);
    stdout.once("close", end);
  });

  const writable = new WritableStream<AnyMessage>({
    write: (message) => {
      if ("method" in message && "id" in message) sentRequests.add(message.id);
      return writeLine(stdin, JSON.stringify(message));
    },
  });

  return {
    stream: { readable: inbox.readable, writable },
    broken,
    ended,
    garbage: () => ({ ...garbage }),
  };
}

type Inbox = {
  readonly readable: ReadableStream<AnyMessage>;
  readonly deliver: (message: AnyMessage) => void;
  readonly close: () => void;
};

/** The messages that the SDK reads; once it is closed by either side, none are delivered. */
function openInbox(): Inbox {
  let controller: ReadableStreamDefaultController<AnyMessage> | null = null;
  const readable = new ReadableStream<AnyMessage>({
    start: (streamController) => {
      controller = streamController;
    },
    cancel: () => {
      controller = null;
    },
  });

  return {
    readable,
    deliver: (message) => controller?.enqueue(message),
    close: () => {
      try {
        controller?.close();
      } catch {
        // It was closed by the other side already.
      }

      controller = null;
    },
  };
}

const writeLine = (stdin: Writable, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stdin.write(`${text}\n`, (error) => (error ? reject(error) : resolve()));
  });

const openingBrace = 0x7b;

function parseMessage(line: Buffer): JsonObject | null {
  let first = 0;
  while (first < line.length && (line[first] ?? 0) <= 0x20) first += 1;
  // Most garbage is rejected by its first byte, without decoding it.
  if (line[first] !== openingBrace) return null;
  try {
    const message = asRecord(JSON.parse(line.toString("utf8")));
    return message["jsonrpc"] === "2.0" ? message : null;
  } catch {
    return null;
  }
}

export const formatMib = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${Math.round(bytes / 1024 / 1024)} MiB` : `${bytes} bytes`;
