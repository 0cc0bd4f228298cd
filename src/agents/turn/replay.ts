// replay: collects what an agent replays of a session that it loads after a crash, to find out
// whether the session already has the prompt of this turn: sent twice, it would be worked on and
// paid for twice.

import { type JsonObject, asRecord, asString } from "./untrusted-json.ts";

/** When so much of the replayed prompts is kept, no more is added. */
const promptCharsMax = 2 * 1024 * 1024;
/** How much of a prompt's beginning and end is compared. */
const sampleChars = 160;

export class Replay {
  #updateCount = 0;
  #promptChunks: string[] = [];
  #promptChars = 0;

  addUpdate(update: JsonObject): void {
    this.#updateCount += 1;
    if (update["sessionUpdate"] !== "user_message_chunk" || this.#promptChars > promptCharsMax) {
      return;
    }

    const text = asString(asRecord(update["content"])["text"]) ?? "";
    this.#promptChars += text.length;
    this.#promptChunks.push(text);
  }

  /**
   * Whether the prompt is in the session. `no`: the session was replayed, and the prompt is not in
   * it; or it is empty. `unknown`: the agent replayed only its own text, or more prompts than are
   * kept. The beginning and the end of the prompt are searched, because agents add their own text
   * around and between.
   */
  searchPrompt(prompt: string): "yes" | "no" | "unknown" {
    if (this.#updateCount === 0) return "no";
    if (this.#promptChunks.length === 0) return "unknown";
    const replayed = removeBlanks(this.#promptChunks.join(""));
    const wanted = removeBlanks(prompt);
    if (
      replayed.includes(wanted.slice(0, sampleChars)) &&
      replayed.includes(wanted.slice(-sampleChars))
    ) {
      return "yes";
    }

    return this.#promptChars > promptCharsMax ? "unknown" : "no";
  }
}

const removeBlanks = (text: string): string => text.replaceAll(/\s+/g, "");
