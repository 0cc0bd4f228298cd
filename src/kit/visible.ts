// visible: escapes untrusted text so that it cannot control the terminal or change the reading
// direction.

/**
 * Makes text from agents, files and other tools safe to show in a terminal: one line stays one
 * line, and nothing in it moves the cursor, sets colours, the title or the clipboard (OSC 52), or
 * changes the reading direction. Such characters are shown as escapes (`\x1b`, `\u{202e}`). Doing
 * it twice changes nothing more.
 */
export function visible(text: string): string {
  return text.replace(dangerous, (letter) => {
    const name = names[letter];
    if (name !== undefined) return name;
    const code = letter.codePointAt(0) ?? 0;
    const hex = code.toString(16);

    return code < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`;
  });
}

const names: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\0": "\\0" };

// Control characters but the tab; soft hyphen; direction marks, embeddings, overrides and isolates;
// zero-width space, word joiner and invisible operators; line and paragraph separator; byte order
// mark; interlinear marks; tag characters; lone surrogates. The zero-width joiner and non-joiner
// stay: scripts and emoji are spelled with them, and they move nothing.
const dangerous =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;
