// conversation: what a request asks, told alike for all vendors, and where in its script it stands.
//
// Invariants:
//   C1. Where a conversation stands is read from it alone: the calls made since the last prompt
//       that holds the script. So retries, parallel sessions and sessions taken up after a crash
//       need no memory here.
//   C2. What a tool gave back is never read as a script: files and commands may hold anything.

import type { JsonObject } from "./json.ts";
import { hasScript } from "./script.ts";

export type Api = "anthropic" | "responses" | "chat" | "gemini";
export type Tool = {
  readonly name: string;
  readonly kind: "function" | "custom";
  /** The group it is in, where the vendor has groups. */
  readonly group: string | null;
  readonly properties: JsonObject;
  readonly required: readonly string[];
};
export type Said =
  /**
   * `isResult`: what a tool gave back, or what the agent's own program says on the side; nobody's
   * prompt.
   */
  | {
      readonly by: "user";
      readonly text: string;
      readonly isResult: boolean;
      readonly chars: number;
    }
  | { readonly by: "model"; readonly text: string; readonly calls: number; readonly chars: number };
export type Asked = {
  readonly api: Api;
  readonly model: string;
  readonly isStream: boolean;
  /** Chat Completions tells the usage of a stream only to those who ask. */
  readonly isUsageAsked: boolean;
  readonly system: string;
  readonly tools: readonly Tool[];
  readonly said: readonly Said[];
  /** Of the parts that do not change from call to call: instructions and tools. */
  readonly fixedChars: number;
};

/** The newest thing a person said, or an empty text. */
export const lastPromptOf = ({ said }: Asked): string =>
  ownText(said[lastIndex(said, isPrompt)]?.text ?? "");

/** The prompt that holds the script, and the number of calls made since. */
export function standingOf({
  said,
}: Asked): { readonly prompt: string; readonly calls: number } | null {
  const at = lastIndex(said, (item) => isPrompt(item) && hasScript(item.text));
  return at < 0 ? null : { prompt: said[at]?.text ?? "", calls: callsAfter(said, at) };
}

/** The number of calls made since the newest prompt, for scripts that are elsewhere. */
export const callsSincePrompt = ({ said }: Asked): number =>
  callsAfter(said, lastIndex(said, isPrompt));

const callsAfter = (said: readonly Said[], at: number): number =>
  said.slice(at + 1).reduce((sum, item) => sum + (item.by === "model" ? item.calls : 0), 0); // C1

const isPrompt = (said: Said): boolean =>
  said.by === "user" && !said.isResult && ownText(said.text) !== ""; // C2

/**
 * What remains of a message when the reminders are taken out that an agent's own program strews in.
 */
const ownText = (text: string): string =>
  text.replaceAll(/<(system-reminder|environment_context)>[\s\S]*?<\/\1>/g, "").trim();

const lastIndex = (said: readonly Said[], holds: (item: Said) => boolean): number =>
  said.findLastIndex(holds);

/** The folder an agent says it works in. Tools of several agents want whole paths. */
export function workFolderOf({ system, said }: Asked): string | null {
  const texts = [
    system,
    ...said
      .filter((candidate) => candidate.by === "user" && !candidate.isResult)
      .map(({ text }) => text),
  ];

  for (const pattern of folderPatterns) {
    for (const text of texts) {
      const found = pattern.exec(text)?.[1];
      if (found !== undefined) return found;
    }
  }

  return null;
}

const folder = "(/[\\w.@+-]+(?:/[\\w.@+-]+)*)/?";
const folderPatterns: readonly RegExp[] = [
  `<cwd>${folder}</cwd>`,
  `[Ww]orking directory(?: is)?:?\\s*[\`"']?${folder}(?![\\w/<>])`,
  `[Cc]urrent directory(?: is)?:?\\s*[\`"']?${folder}(?![\\w/<>])`,
  `working in the directory:?\\s*[\`"']?${folder}(?![\\w/<>])`,
  `directories:\\s*\\n\\s*- ${folder}(?![\\w/<>])`,
  `\\bcwd(?: is)?[:=]\\s*[\`"']?${folder}(?![\\w/<>])`,
].map((pattern) => new RegExp(pattern));
