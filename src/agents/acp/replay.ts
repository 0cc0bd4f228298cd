// replay: collects what an agent replays of a session that it loads, to find out whether the session already has a certain prompt.

import { type JsonObject, asRecord, asString } from "./untrusted-json.ts";

const charsMax = 2 * 1024 * 1024;
/** How much of a prompt's beginning and end is compared. */
const sampleChars = 160;

export class Replay {
  #updateCount = 0;
  #prompts: string[] = [];
  #chars = 0;

  /** Receives a replayed update. */
  take(update: JsonObject): void {
    this.#updateCount += 1;
    if (update["sessionUpdate"] !== "user_message_chunk" || this.#chars > charsMax) return;
    const text = asString(asRecord(update["content"])["text"]) ?? "";
    this.#chars += text.length;
    this.#prompts.push(text);
  }

  /**
   * `no`: the session was replayed, and the prompt is not in it; or it is empty. `unknown`: the agent replayed only its own text. The
   * beginning and the end of the prompt are searched, because agents add their own text around and between.
   */
  hasPrompt(prompt: string): "yes" | "no" | "unknown" {
    if (this.#updateCount === 0) return "no";
    if (this.#prompts.length === 0) return "unknown";
    const replayed = removeBlanks(this.#prompts.join(""));
    const wanted = removeBlanks(prompt);
    return replayed.includes(wanted.slice(0, sampleChars)) && replayed.includes(wanted.slice(-sampleChars)) ? "yes" : "no";
  }
}

const removeBlanks = (text: string): string => text.replaceAll(/\s+/g, "");
