// replay: whether a loaded session already has a certain prompt.

import { type JsonObject, asRecord, asString } from "./untrusted-json.ts";

const charsMax = 2 * 1024 * 1024;
const sampleChars = 160;

export class Replay {
  #updates = 0;
  #asked: string[] = [];
  #chars = 0;

  take(update: JsonObject): void {
    this.#updates += 1;
    if (update["sessionUpdate"] !== "user_message_chunk" || this.#chars > charsMax) return;
    const text = asString(asRecord(update["content"])["text"]) ?? "";
    this.#chars += text.length;
    this.#asked.push(text);
  }

  /**
   * `no`: the session was replayed, and the prompt is not in it; or it is empty. `unknown`: the agent replayed only its own text. The
   * beginning and the end of the prompt are searched, because agents add their own text around and between.
   */
  hasPrompt(prompt: string): "yes" | "no" | "unknown" {
    if (this.#updates === 0) return "no";
    if (this.#asked.length === 0) return "unknown";
    const replayed = withoutBlanks(this.#asked.join(""));
    const wanted = withoutBlanks(prompt);
    return replayed.includes(wanted.slice(0, sampleChars)) && replayed.includes(wanted.slice(-sampleChars)) ? "yes" : "no";
  }
}

const withoutBlanks = (text: string): string => text.replaceAll(/\s+/g, "");
