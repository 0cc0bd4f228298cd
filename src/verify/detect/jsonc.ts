// jsonc: parses JSON with comments and trailing commas.

import { maskText } from "../protected/mask-text.ts";

/** Throws if the text isn't JSON otherwise. */
export function parseJsonc(text: string): unknown {
  const json = maskText(text.replace(/^\ufeff/, ""), "js", "comments") // comments become blank
    .replaceAll(/\/\/ *$/gm, "") // what is left of line comments
    .replaceAll(/\/\*\s*\*\//g, "") // and of block comments
    .replaceAll(/,(\s{0,200}[}\]])/g, "$1"); // trailing commas
  return JSON.parse(json);
}
