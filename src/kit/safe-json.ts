// safe-json: JSON that is safe to print on a terminal and still parses to the same value.

/**
 * No character in it controls a terminal or changes the reading direction. JSON.stringify already
 * escapes the first control characters.
 */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(dangerous, (letter) =>
    Array.from(
      { length: letter.length },
      (_, index) => `\\u${letter.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** Those of visible.ts, without the ones that JSON.stringify escapes. */
const dangerous =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
