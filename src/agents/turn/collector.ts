// collector: collects what an agent reports while it works: text, tool calls, usage. It keeps a
// bounded amount, and counts the text beyond.
//
// Invariants:
//   C1. Only updates of this turn's session count. Updates from before the session has a name are
//       held back until it has one.
//   C2. A resumed session is replayed from its beginning: these updates are old, and none of them
//       is counted.

import type { AttemptId } from "../../contracts/ids.ts";
import type { LiveEvent } from "../../contracts/live-event.ts";
import { asNonNegativeNumber, type JsonObject, asRecord, asString } from "./untrusted-json.ts";
import { Replay } from "./replay.ts";
import { toLiveEvent, ToolCalls } from "./tool-calls.ts";
import type { UsageReport } from "./reported-usage.ts";

export const saidCharsMax = 4 * 1024 * 1024;
const earlyUpdatesMax = 1000;
const metasMax = 200;
const chunksMax = 10_000;

export class Collector {
  readonly tools = new ToolCalls();
  readonly #attempt: AttemptId;
  readonly #onLiveEvent: (signal: LiveEvent) => void;
  #session: string | null = null;
  #earlyUpdates: JsonObject[] = [];
  #replay: Replay | null = null;
  #allText: string[] = [];
  #answerText: string[] = [];
  #chars = 0;
  #droppedChars = 0;
  #costUsd: number | null = null;
  #usageUpdates = 0;
  #toolCountBefore = 0;
  #chunks: unknown[] = [];
  #metas: JsonObject[] = [];

  constructor(attempt: AttemptId, onLiveEvent: (signal: LiveEvent) => void) {
    this.#attempt = attempt;
    this.#onLiveEvent = onLiveEvent;
  }

  /** The session has a name: earlier updates are processed now. C1 */
  open(session: string): void {
    this.#session = session;
    const updates = this.#earlyUpdates.filter((params) => params["sessionId"] === session);
    this.#earlyUpdates = [];
    for (const params of updates) this.#take(asRecord(params["update"]));
  }

  /** A prompt is about to be sent: later text answers it. */
  begin(): void {
    this.#answerText = [];
    this.#usageUpdates = 0;
    this.#toolCountBefore = this.tools.seenCount;
    this.#chunks = [];
    this.#metas = [];
    if (this.#allText.length > 0) this.#keep("\n");
  }

  /**
   * Runs `work`, during which updates are the replay of an older session (C2): they are only
   * searched for prompts.
   */
  async whileReplaying<T>(
    work: () => Promise<T>,
  ): Promise<{ readonly value: T; readonly replay: Replay }> {
    const replay = new Replay();
    this.#replay = replay;

    try {
      return { value: await work(), replay };
    } finally {
      this.#replay = null;
      this.#earlyUpdates = [];
    }
  }

  /** Receives the parameters of a `session/update`. */
  take(params: JsonObject): void {
    if (this.#replay !== null) return this.#replay.addUpdate(asRecord(params["update"]));
    if (this.#session === null) {
      if (this.#earlyUpdates.length < earlyUpdatesMax) this.#earlyUpdates.push(params);
      return;
    }

    if (params["sessionId"] === this.#session) this.#take(asRecord(params["update"]));
  }

  /** Ends every open tool call: agents leave calls open when they are cancelled or die. */
  close(): void {
    for (const call of this.tools.closeOpen()) {
      this.#onLiveEvent(toLiveEvent(this.#attempt, call, "cancelled"));
    }
  }

  /** Everything said in this turn, all prompts together. */
  get said(): string {
    return this.#allText.join("");
  }

  /** The agent's text since the last prompt. */
  get answer(): string {
    return this.#answerText.join("");
  }

  /** How many characters of text were dropped because there was too much. */
  get droppedChars(): number {
    return this.#droppedChars;
  }

  /** The updates since the last prompt that carried a `_meta`. */
  get metas(): readonly JsonObject[] {
    return this.#metas;
  }

  /** What the agent reported about its usage since the last prompt, with its response to that. */
  composeUsageReport(response: unknown): UsageReport {
    return {
      response,
      chunks: this.#chunks,
      costUsd: this.#costUsd,
      updates: this.#usageUpdates,
      tools: this.tools.seenCount - this.#toolCountBefore,
    };
  }

  #take(update: JsonObject): void {
    if ("_meta" in update && this.#metas.length < metasMax) {
      this.#metas.push({ _meta: update["_meta"] });
    }

    switch (update["sessionUpdate"]) {
      case "agent_message_chunk": {
        const usage = asRecord(update["_meta"])["usage"];
        if (usage !== undefined && this.#chunks.length < chunksMax) this.#chunks.push(usage);
        return this.#addAnswer(asString(asRecord(update["content"])["text"]) ?? "");
      }
      case "agent_thought_chunk":
        return this.#onLiveEvent({
          signal: "thought",
          attempt: this.#attempt,
          text: asString(asRecord(update["content"])["text"]) ?? "",
        });
      case "tool_call":
      case "tool_call_update": {
        const call = this.tools.merge(update);
        if (call !== null) this.#onLiveEvent(toLiveEvent(this.#attempt, call));
        return;
      }
      case "usage_update": {
        this.#usageUpdates += 1;
        const cost = asRecord(update["cost"]);
        if (cost["currency"] === "USD") {
          this.#costUsd = asNonNegativeNumber(cost["amount"]) ?? this.#costUsd;
        }

        const tokens = asNonNegativeNumber(update["used"]);
        if (tokens !== null) this.#onLiveEvent({ signal: "usage", attempt: this.#attempt, tokens });
        return;
      }
      default:
    }
  }

  #addAnswer(text: string): void {
    const keptText = this.#keep(text);
    if (keptText === "") return;
    this.#answerText.push(keptText);
    this.#onLiveEvent({ signal: "said", attempt: this.#attempt, text: keptText });
  }

  /** Adds text to the turn's, as far as the limit allows; returns what was added. */
  #keep(text: string): string {
    const keptText = text.slice(0, saidCharsMax - this.#chars);
    this.#chars += keptText.length;
    this.#droppedChars += text.length - keptText.length;
    if (keptText !== "") this.#allText.push(keptText);

    return keptText;
  }
}
