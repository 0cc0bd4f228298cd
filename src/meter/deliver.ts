// deliver: sends one call to its provider and the answer back, chunk by chunk, at the pace of the slower of the two.
//
// Invariants:
//   D1. Each call ends once, and its end is recorded once.
//   D2. For a slow reader only one chunk and the socket buffers are kept.
//   D3. When one side closes, the other is closed at once.

import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { ModelCall, Upstream } from "../ports/meter.ts";
import type { OpenAccount } from "./account.ts";
import { type AnswerScan, openAnswerScan } from "./answer-scan.ts";
import { collectError, errorText, withoutKey } from "./error-text.ts";
import { endWithMessage } from "./abort-stream.ts";
import type { Figures } from "./figures.ts";
import { headersToAgent } from "./headers.ts";
import { callTotalMs, providerIdleMs } from "./limits.ts";
import type { Dial } from "./dial.ts";
import { refuse } from "./refusal.ts";
import { findRetryAt } from "./retry-at.ts";
import type { Route } from "./routes.ts";
import { decompress } from "./unpack.ts";

type End = Pick<ModelCall, "status" | "ended" | "error" | "retryAt">;
export type Delivery = {
  readonly floor: { readonly dial: Dial; readonly now: () => number };
  readonly account: OpenAccount;
  readonly route: Route;
  readonly figures: Figures;
  readonly upstream: Upstream;
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body: readonly Buffer[];
  readonly letGo: () => void;
  readonly response: ServerResponse;
  readonly spent: () => string | null;
  readonly settle: (end: End) => void;
};

export function deliver(delivery: Delivery): void {
  const { account, route, figures, upstream, response, floor } = delivery;
  let body = delivery.body;
  let outgoing: ClientRequest | null = null;
  let status: number | null = null;
  let hasSent = false;
  let isOver = false;
  const bytes = body.reduce((sum, chunk) => sum + chunk.length, 0);

  const finish = (end: Omit<End, "status">): boolean => {
    if (isOver) return false;
    isOver = true; // D1
    clearTimeout(timer);
    detach();
    releaseBody();
    delivery.settle({ status, ...end });
    return true;
  };
  const releaseBody = (): void => {
    body = [];
    delivery.letGo();
  };
  const stop = (end: "cut" | "broken", error: string): void => {
    if (!finish({ ended: end, error, retryAt: null })) return;
    outgoing?.destroy(); // D3
    response.destroy();
  };
  const detach = account.attach("call", () => stop("cut", "The turn is over."));
  const timer = setTimeout(() => stop("broken", `The call took longer than ${callTotalMs / 60_000} minutes.`), callTotalMs);
  timer.unref();
  response.on("close", () => {
    if (response.writableFinished) return;
    if (!hasSent) figures.forgive();
    stop("broken", "The agent went away.");
  });

  function send(isRetry: boolean): void {
    const request = floor.dial.call({
      url: delivery.url,
      method: route.method,
      headers: route.method === "POST" ? { ...delivery.headers, "content-length": bytes } : delivery.headers,
      onAnswer,
    });
    outgoing = request;
    request.setTimeout(providerIdleMs, () => request.destroy(new Error(`silent for ${providerIdleMs / 60_000} minutes`)));
    request.on("finish", () => (hasSent = true));
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (isOver || status !== null) return;
      // A kept-alive connection that the provider had closed: nothing was sent yet.
      if (!isRetry && request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE")) return send(true);
      if (!hasSent || error.code === "ECONNREFUSED" || error.code === "ENOTFOUND") figures.forgive();
      const sentence = `The provider at ${delivery.url.host} does not answer: ${withoutKey(error.code ?? error.message, upstream.key)}.`;
      if (finish({ ended: "broken", error: sentence, retryAt: null })) refuse(response, route.api, { status: 502, sentence });
    });
    for (const chunk of body) request.write(chunk);
    request.end();
  }

  function onAnswer(incoming: IncomingMessage): void {
    if (isOver) return void incoming.destroy();
    status = incoming.statusCode ?? 0;
    releaseBody();
    account.request.onLife();
    incoming.on("error", (error: NodeJS.ErrnoException) => providerLost(error.code ?? error.message));
    incoming.on("aborted", () => providerLost("the connection broke"));
    if (status < 200 || status > 299) return void forwardError(incoming);
    const source = decompress(incoming);
    if (source === null) return stop("broken", "The provider packs its answer in a way that cannot be read.");
    const isEvents = /text\/event-stream/i.test(incoming.headers["content-type"] ?? "");
    const scan = openAnswerScan(route.api, isEvents ? "events" : "json", figures);
    const mayCut = isEvents || route.path.endsWith(":streamGenerateContent");
    let isBetweenEvents = true;
    response.writeHead(status, headersToAgent(incoming.headers, upstream.key));
    response.flushHeaders();

    source.on("data", (chunk: Buffer) => {
      if (isOver) return;
      account.request.onLife();
      scan.feed(chunk);
      const spent = mayCut && !scan.hasEnded() ? delivery.spent() : null;
      if (spent !== null) return cut(scan, chunk, isEvents, isBetweenEvents, spent);
      isBetweenEvents = scan.isBetweenEvents();
      if (response.write(chunk)) return;
      source.pause(); // D2
      response.once("drain", () => source.resume());
    });
    source.on("error", (error: NodeJS.ErrnoException) => providerLost(error.code ?? error.message));
    source.on("end", () => {
      if (!incoming.complete) return providerLost("the connection broke");
      if (!isEvents) figures.settle();
      const error = scan.error();
      const text = error === null ? null : withoutKey(errorText(error), upstream.key);
      finish({ ended: text === null ? "whole" : "broken", error: text, retryAt: error === null ? null : retryAt({}, { error }) });
      response.end();
    });
  }

  function providerLost(why: string): void {
    stop("broken", `The provider broke off: ${withoutKey(why, upstream.key)}.`);
  }

  function cut(scan: AnswerScan, chunk: Buffer, isEvents: boolean, isBetweenEvents: boolean, sentence: string): void {
    if (!finish({ ended: "cut", error: sentence, retryAt: null })) return;
    outgoing?.destroy(); // D3
    const whole = chunk.subarray(0, scan.wholeEventBytes());
    if (isEvents)
      endWithMessage(response, route.api, { status: 402, sentence }, { whole, isBetweenEvents: isBetweenEvents || whole.length > 0 });
    else response.destroy();
    account.cut(sentence); // Last: its listener may close the account.
  }

  /** The provider refuses: its message is read whole, so that the agent sees no key in it. */
  async function forwardError(incoming: IncomingMessage): Promise<void> {
    figures.forgive();
    const errorBody = await collectError(incoming);
    const error = errorBody.value;
    if (!finish({ ended: "whole", error: withoutKey(errorText(error, status), upstream.key), retryAt: retryAt(incoming.headers, error) }))
      return;
    const redacted = Buffer.from(withoutKey(errorBody.text, upstream.key, account.token));
    response.writeHead(status ?? 502, { ...headersToAgent(incoming.headers, upstream.key), "content-length": redacted.length });
    response.end(redacted);
  }

  function retryAt(headers: IncomingMessage["headers"], value: unknown): string | null {
    return findRetryAt(headers, value, floor.now());
  }

  send(false);
}
