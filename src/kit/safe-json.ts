// safe-json: JSON that is safe to print on a terminal and still parses to the same value.

/**
 * JSON that is safe to print: it parses to the same value, and holds no character that steers a terminal or turns the reading direction.
 * JSON.stringify escapes the first control characters itself; what is replaced here is only inside strings.
 */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(dangerous, (found) =>
    Array.from({ length: found.length }, (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, "0")}`).join(""),
  );
}

// As `visible` has them, without what JSON.stringify has escaped already.
const dangerous = /[\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
