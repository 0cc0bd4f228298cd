// deliver: sends one model call to its provider and the answer back to the agent, chunk by chunk,
// at the pace of the slower of the two.
//
// Invariants:
//   D1. Each call ends once, and its end is recorded once.
//   D2. For a slow reader only one chunk and the socket buffers are kept.
//   D3. When one side closes, the other is closed at once.

import type {
  ClientRequest,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import type { Readable } from "node:stream";
import type { ModelCall, Upstream } from "../ports/meter.ts";
import type { OpenAccount } from "./account.ts";
import { type AnswerScan, openAnswerScan } from "./answer-scan.ts";
import { collectError, describeError, removeKey } from "./describe-error.ts";
import { endWithRefusal } from "./abort-stream.ts";
import type { UsageCounter } from "./call-usage.ts";
import { selectAgentHeaders } from "./headers.ts";
import { callTotalMs, providerIdleMs } from "./limits.ts";
import type { Dial } from "./dial.ts";
import { refuse } from "./refusal.ts";
import { findRetryAt } from "./retry-at.ts";
import type { Route } from "./routes.ts";
import { decompress } from "./decompress.ts";

/** How a call ended, as it is recorded. */
type CallEnd = Pick<ModelCall, "status" | "ended" | "error" | "retryAt">;
/** One judged call, ready to be sent. */
export type Delivery = {
  readonly context: { readonly dial: Dial; readonly now: () => number };
  readonly account: OpenAccount;
  readonly route: Route;
  readonly usageCounter: UsageCounter;
  readonly upstream: Upstream;
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body: readonly Buffer[];
  /** Called when the body is no longer needed, so that its memory can be freed. */
  readonly release: () => void;
  readonly response: ServerResponse;
  /** Why the call must end now because a budget is used up; null while there is some left. */
  readonly explainUsedUp: () => string | null;
  /** Records how the call ended. */
  readonly recordEnd: (end: CallEnd) => void;
};

export function deliver(delivery: Delivery): void {
  new CallDelivery(delivery).start();
}

/** An answer on its way to the agent. */
type AnswerStream = {
  readonly source: Readable;
  readonly scan: AnswerScan;
  readonly isEventStream: boolean;
  /**
   * Whether the answer may be ended early: only one that the provider streams, which agents read
   * part by part.
   */
  readonly mayCut: boolean;
  /** Whether all that was sent to the agent so far is whole events. */
  isBetweenEvents: boolean;
};

class CallDelivery {
  readonly #delivery: Delivery;
  readonly #bodyBytes: number;
  #body: readonly Buffer[];
  #outgoing: ClientRequest | null = null;
  #status: number | null = null;
  #hasSent = false;
  #isOver = false;
  #detach: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
    this.#body = delivery.body;
    this.#bodyBytes = delivery.body.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  start(): void {
    const { account, response, usageCounter } = this.#delivery;
    this.#detach = account.attach("call", () => this.#stop("cut", "The turn is over."));
    this.#timer = setTimeout(
      () => this.#stop("broken", `The call took longer than ${callTotalMs / 60_000} minutes.`),
      callTotalMs,
    );

    this.#timer.unref();
    response.on("close", () => {
      if (response.writableFinished) return;
      if (!this.#hasSent) usageCounter.forgive();
      this.#stop("broken", "The agent went away.");
    });

    this.#send(false);
  }

  #send(isRetry: boolean): void {
    const { context, url, route, headers } = this.#delivery;
    const length = route.method === "POST" ? { "content-length": this.#bodyBytes } : {};
    const request = context.dial.call({
      url,
      method: route.method,
      headers: { ...headers, ...length },
      onAnswer: (incoming) => this.#onAnswer(incoming),
    });

    this.#outgoing = request;
    request.setTimeout(providerIdleMs, () =>
      request.destroy(new Error(`silent for ${providerIdleMs / 60_000} minutes`)),
    );
    request.on("finish", () => (this.#hasSent = true));
    request.on("error", (error: NodeJS.ErrnoException) =>
      this.#onSendError(request, error, isRetry),
    );

    for (const chunk of this.#body) request.write(chunk);
    request.end();
  }

  #onSendError(request: ClientRequest, error: NodeJS.ErrnoException, isRetry: boolean): void {
    if (this.#isOver || this.#status !== null) return;
    // The provider had closed a connection that we kept open before it answered anything: the
    // request is sent again on a new one.
    const isReset = error.code === "ECONNRESET" || error.code === "EPIPE";
    if (request.reusedSocket && isReset && !isRetry) this.#send(true);
    else this.#failToConnect(error);
  }

  #failToConnect(error: NodeJS.ErrnoException): void {
    const { usageCounter, url, upstream, response, route } = this.#delivery;
    if (!this.#hasSent || error.code === "ECONNREFUSED" || error.code === "ENOTFOUND") {
      usageCounter.forgive();
    }

    const cause = removeKey(error.code ?? error.message, upstream.key);
    const sentence = `The provider at ${url.host} does not answer: ${cause}.`;
    if (this.#finish({ ended: "broken", error: sentence, retryAt: null })) {
      refuse(response, route.api, { status: 502, sentence });
    }
  }

  #onAnswer(incoming: IncomingMessage): void {
    if (this.#isOver) return void incoming.destroy();
    const { account, route, usageCounter } = this.#delivery;
    const status = incoming.statusCode ?? 0;
    this.#status = status;
    this.#releaseBody();
    account.request.onLife();

    incoming.on("error", (error: NodeJS.ErrnoException) =>
      this.#loseProvider(error.code ?? error.message),
    );

    incoming.on("aborted", () => this.#loseProvider("the connection broke"));
    if (status < 200 || status > 299) return void this.#forwardError(incoming, status);
    const source = decompress(incoming);
    if (source === null) {
      return this.#stop("broken", "The provider packs its answer in a way that cannot be read.");
    }

    const contentType = incoming.headers["content-type"] ?? ""; // "text/event-stream; charset=utf-8"
    const isEventStream = /text\/event-stream/i.test(contentType);
    this.#streamAnswer(incoming, status, {
      source,
      scan: openAnswerScan(route.api, isEventStream ? "events" : "json", usageCounter),
      isEventStream,
      mayCut: isEventStream || route.path.endsWith(":streamGenerateContent"),
      isBetweenEvents: true,
    });
  }

  #streamAnswer(incoming: IncomingMessage, status: number, answer: AnswerStream): void {
    const { response, upstream } = this.#delivery;
    response.writeHead(status, selectAgentHeaders(incoming.headers, upstream.key));
    response.flushHeaders();
    answer.source.on("data", (chunk: Buffer) => this.#onChunk(answer, chunk));
    answer.source.on("error", (error: NodeJS.ErrnoException) =>
      this.#loseProvider(error.code ?? error.message),
    );

    answer.source.on("end", () => {
      if (incoming.complete) this.#endAnswer(answer);
      else this.#loseProvider("the connection broke");
    });
  }

  #onChunk(answer: AnswerStream, chunk: Buffer): void {
    if (this.#isOver) return;
    const { account, response, explainUsedUp } = this.#delivery;
    const { source, scan } = answer;
    account.request.onLife();
    scan.feed(chunk);
    const sentence = answer.mayCut && !scan.hasEnded() ? explainUsedUp() : null;
    if (sentence !== null) return this.#cutAnswer(answer, chunk, sentence);
    answer.isBetweenEvents = scan.isBetweenEvents();
    if (response.write(chunk)) return;
    source.pause(); // D2
    response.once("drain", () => source.resume());
  }

  #endAnswer({ scan, isEventStream }: AnswerStream): void {
    const { usageCounter, upstream, response } = this.#delivery;
    if (!isEventStream) usageCounter.finish(); // an answer in one piece has its figures somewhere; a stream's end settles them itself
    const error = scan.error();
    if (error === null) {
      this.#finish({ ended: "whole", error: null, retryAt: null });
    } else {
      this.#finish({
        ended: "broken",
        error: describeError(error, upstream.key),
        retryAt: this.#retryAt({}, { error }),
      });
    }

    response.end();
  }

  /**
   * Ends the answer early, after the last whole event of this chunk, with a message that says why.
   */
  #cutAnswer(
    { scan, isEventStream, isBetweenEvents }: AnswerStream,
    chunk: Buffer,
    sentence: string,
  ): void {
    if (!this.#finish({ ended: "cut", error: sentence, retryAt: null })) return;
    const { response, route, account } = this.#delivery;
    this.#outgoing?.destroy(); // D3
    const wholeEvents = chunk.subarray(0, scan.wholeEventBytes());

    if (isEventStream) {
      endWithRefusal(
        response,
        route.api,
        { status: 402, sentence },
        { wholeEvents, isBetweenEvents: isBetweenEvents || wholeEvents.length > 0 },
      );
    } else {
      response.destroy();
    }

    account.cut(sentence); // last, because its listener may close the account
  }

  /**
   * The provider refuses: its message is read first, up to a limit, so that a key in it is removed
   * before the agent sees it.
   */
  async #forwardError(incoming: IncomingMessage, status: number): Promise<void> {
    const { usageCounter, upstream, account, response } = this.#delivery;
    usageCounter.forgive();
    const { value, text } = await collectError(incoming, upstream.key);
    const error = describeError(value, upstream.key, status);

    if (!this.#finish({ ended: "whole", error, retryAt: this.#retryAt(incoming.headers, value) })) {
      return;
    }

    const redacted = Buffer.from(removeKey(text, upstream.key, account.token));
    response.writeHead(status, {
      ...selectAgentHeaders(incoming.headers, upstream.key),
      "content-length": redacted.length,
    });

    response.end(redacted);
  }

  #loseProvider(cause: string): void {
    this.#stop(
      "broken",
      `The provider broke off: ${removeKey(cause, this.#delivery.upstream.key)}.`,
    );
  }

  #stop(ended: "cut" | "broken", error: string): void {
    if (!this.#finish({ ended, error, retryAt: null })) return;
    this.#outgoing?.destroy(); // D3
    this.#delivery.response.destroy();
  }

  /** Records the end of the call. False if it had ended before. */
  #finish(end: Omit<CallEnd, "status">): boolean {
    if (this.#isOver) return false;
    this.#isOver = true; // D1
    clearTimeout(this.#timer);
    this.#detach();
    this.#releaseBody();
    this.#delivery.recordEnd({ status: this.#status, ...end });

    return true;
  }

  #releaseBody(): void {
    this.#body = [];
    this.#delivery.release();
  }

  #retryAt(headers: IncomingMessage["headers"], value: unknown): string | null {
    return findRetryAt(headers, value, this.#delivery.context.now());
  }
}
