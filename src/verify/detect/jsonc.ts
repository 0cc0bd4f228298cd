// jsonc: parses JSON with comments and trailing commas.

import { maskText } from "../protected/masked.ts";

/** JSON that may have comments and trailing commas. Throws otherwise. */
export function parseJsonc(text: string): unknown {
  const json = maskText(text.replace(/^\ufeff/, ""), "js", "comments")
    .replaceAll(/\/\/ *$/gm, "")
    .replaceAll(/\/\*\s*\*\//g, "")
    .replaceAll(/,(\s{0,200}[}\]])/g, "$1");
  return JSON.parse(json);
}
