// collector: gathers what an agent tells while it works. It keeps a bounded amount and counts the rest.

import type { AttemptId } from "../../contracts/ids.ts";
import type { Signal } from "../../contracts/signal.ts";
import { amountOf, type Loose, recordOf, textOf } from "./loose.ts";
import { ToolCalls } from "./tool-calls.ts";

export const saidCharsMax = 4 * 1024 * 1024;

export class Collector {
  readonly tools = new ToolCalls();
  readonly #attempt: AttemptId;
  readonly #onSignal: (signal: Signal) => void;
  #all: string[] = [];
  #lastPrompt: string[] = [];
  #chars = 0;
  #beyondChars = 0;
  #costUsd: number | null = null;
  #updates = 0;
  #isReplaying = false;

  constructor(attempt: AttemptId, onSignal: (signal: Signal) => void) {
    this.#attempt = attempt;
    this.#onSignal = onSignal;
  }

  /** A prompt is about to be sent: what is said from here on answers it. */
  begin(): void {
    this.#lastPrompt = [];
    this.#updates = 0;
    if (this.#all.length > 0) this.#keep("\n");
  }

  /** A session taken up again is told once more from its beginning; that is no news. */
  async whileReplaying<T>(work: () => Promise<T>): Promise<T> {
    this.#isReplaying = true;
    try {
      return await work();
    } finally {
      this.#isReplaying = false;
    }
  }

  take(params: Loose): void {
    if (this.#isReplaying) return;
    const update = recordOf(params["update"]);
    switch (update["sessionUpdate"]) {
      case "agent_message_chunk":
        return this.#hear(textOf(recordOf(update["content"])["text"]) ?? "");
      case "agent_thought_chunk":
        return this.#onSignal({ signal: "thought", attempt: this.#attempt, text: textOf(recordOf(update["content"])["text"]) ?? "" });
      case "tool_call":
      case "tool_call_update": {
        const call = this.tools.merge(update);
        if (call !== null) this.#onSignal({ signal: "tool", attempt: this.#attempt, title: call.title, status: call.status });
        return;
      }
      case "usage_update": {
        this.#updates += 1;
        const cost = recordOf(update["cost"]);
        if (cost["currency"] === "USD") this.#costUsd = amountOf(cost["amount"]) ?? this.#costUsd;
        const tokens = amountOf(update["used"]);
        if (tokens !== null) this.#onSignal({ signal: "usage", attempt: this.#attempt, tokens });
        return;
      }
      default:
    }
  }

  /** Everything said in this turn, all prompts together. */
  get said(): string {
    return this.#all.join("");
  }

  /** What was said since the last prompt. */
  get answer(): string {
    return this.#lastPrompt.join("");
  }

  get beyondChars(): number {
    return this.#beyondChars;
  }

  usageReport(raw: unknown): { readonly raw: unknown; readonly costUsd: number | null; readonly updates: number } {
    return { raw, costUsd: this.#costUsd, updates: this.#updates };
  }

  #hear(text: string): void {
    const kept = this.#keep(text);
    if (kept === "") return;
    this.#lastPrompt.push(kept);
    this.#onSignal({ signal: "said", attempt: this.#attempt, text: kept });
  }

  #keep(text: string): string {
    const kept = text.slice(0, saidCharsMax - this.#chars);
    this.#chars += kept.length;
    this.#beyondChars += text.length - kept.length;
    if (kept !== "") this.#all.push(kept);
    return kept;
  }
}
