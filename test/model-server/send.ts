// send: puts an answer on the wire as planned: at once or slowly, whole or cut off, or as a
// refusal.

import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Answer } from "./answer.ts";
import type { Asked } from "./conversation.ts";
import type { Json } from "./json.ts";
import type { Planned, Refusal } from "./script.ts";
import type { Vendor } from "./vendor.ts";

/** `left`: the client went away before the end. */
export type Outcome = "answered" | "refused" | "dropped" | "left";
export type Sent = {
  readonly status: number;
  readonly outcome: Outcome;
  readonly hasUsage: boolean;
};
type Order = {
  readonly answer: Answer;
  readonly asked: Asked;
  readonly url: URL;
  readonly planned: Planned;
};

export async function sendAnswer(
  response: ServerResponse,
  vendor: Vendor,
  request: Order,
): Promise<Sent> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());

  try {
    return await sent(response, vendor, request, gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
    return {
      status: response.headersSent ? 200 : 0,
      outcome: "left",
      hasUsage: isReportedEarly(request, response.headersSent),
    };
  }
}

async function sent(
  response: ServerResponse,
  vendor: Vendor,
  { answer, asked, url, planned }: Order,
  gone: AbortSignal,
): Promise<Sent> {
  const { hangMs, slowMs, isDropped, refusal } = planned;
  if (hangMs > 0) await wait(Math.min(hangMs, foreverMs), undefined, { signal: gone });
  if (refusal !== null && !(refusal.midStream && asked.isStream)) {
    sendRefusal(response, vendor, refusal);
    return { status: refusal.status, outcome: "refused", hasUsage: false };
  }

  if (!asked.isStream) {
    if (isDropped) return dropped(response, false);
    if (slowMs > 0) await wait(slowMs, undefined, { signal: gone });
    sendJson(response, 200, vendor.whole(answer));

    return { status: 200, outcome: "answered", hasUsage: true };
  }

  const isSse = asked.api !== "gemini" || url.searchParams.get("alt") === "sse";
  response.writeHead(200, {
    "content-type": isSse ? "text/event-stream; charset=utf-8" : "application/json",
    "cache-control": "no-cache",
  });

  response.flushHeaders();
  const frames = [...vendor.frames(answer, asked, url)];
  const isCutShort = isDropped || refusal !== null;
  for (const frame of isCutShort ? frames.slice(0, Math.ceil(frames.length / 2)) : frames) {
    if (slowMs > 0) await wait(slowMs, undefined, { signal: gone });
    if (!response.write(frame)) await drained(response, gone);
  }

  if (isDropped) {
    // What was written is given a moment to leave: a cut in mid-stream, not before it.
    await wait(20, undefined, { signal: gone });
    return dropped(response, isReportedAtBegin(asked));
  }

  if (refusal !== null) response.write(vendor.brokenFrame(refusal, Date.now()));
  response.end();

  if (refusal !== null) {
    return { status: refusal.status, outcome: "refused", hasUsage: isReportedAtBegin(asked) };
  }

  return { status: 200, outcome: "answered", hasUsage: asked.isUsageAsked };
}

/** Longer than any test; a timer cannot wait for ever. */
const foreverMs = 24 * 3600 * 1000;

/**
 * Anthropic and Gemini tell the input at the begin of a stream, OpenAI tells everything at its end.
 */
const isReportedAtBegin = ({ api }: Asked): boolean => api === "anthropic" || api === "gemini";
const isReportedEarly = ({ asked }: Order, isBegun: boolean): boolean =>
  isBegun && isReportedAtBegin(asked);

function dropped(response: ServerResponse, isUsageReported: boolean): Sent {
  response.socket?.destroy();
  return { status: 200, outcome: "dropped", hasUsage: isUsageReported };
}

function drained(response: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const left = (): void => reject(new Error("the client left"));
    if (gone.aborted) return left();
    gone.addEventListener("abort", left, { once: true });
    response.once("drain", () => {
      gone.removeEventListener("abort", left);
      resolve();
    });
  });
}

export function sendRefusal(response: ServerResponse, vendor: Vendor, refusal: Refusal): void {
  const { headers, body } = vendor.refused(refusal, Date.now());
  response.writeHead(refusal.status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

export function sendJson(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
