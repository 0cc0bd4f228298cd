// markdown: builds Markdown tables, lists and sections, and escapes untrusted text in them.

import { oneLine } from "./wording.ts";

/**
 * Foreign text inside our Markdown: on one line, escaped so that it cannot end a cell, open a
 * heading or begin a link.
 */
export const escapeMarkdown = (text: string, charsMax = 200): string =>
  oneLine(text, charsMax).replaceAll(/[\\`*[\]<>#|]/g, "\\$&");

/** Foreign text as inline code; a text with backticks in it gets longer fences. */
export function markdownCode(text: string, charsMax = 200): string {
  const plain = oneLine(text, charsMax).replaceAll("|", "\\|");
  const longest = Math.max(0, ...[...plain.matchAll(/`+/g)].map(([backticks]) => backticks.length));
  if (longest === 0) return `\`${plain}\``;
  const fence = "`".repeat(longest + 1);

  return `${fence} ${plain} ${fence}`;
}

export function markdownTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  if (rows.length === 0) return ["None."];
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)];
}

export const markdownList = (items: readonly string[]): readonly string[] =>
  items.length === 0 ? ["None."] : items.map((item) => `- ${item}`);

export const markdownSection = (title: string, lines: readonly string[]): readonly string[] => [
  "",
  `## ${title}`,
  "",
  ...lines,
];
