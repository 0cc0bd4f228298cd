// own-text: extracts an agent's own text: its answer without code, quotations and what it repeats
// from the prompt.

/** How many occurrences of one line in a prompt are inspected. */
const occurrencesMax = 50;

/**
 * Only the agent's own text. Removed text leaves a space behind, so that the words around it do not
 * join.
 */
export function extractOwnText(said: string, prompts: readonly string[]): string {
  // Code blocks are removed first: a prompt has fences too, and a fence taken for an echo would
  // turn the code after it into text.
  const withoutEchoes = prompts.reduce(removeEcho, removeCodeBlocks(said.replaceAll("\r\n", "\n")));
  return removeQuotations(removeInlineCode(withoutEchoes));
}

/**
 * The beginning of a fenced block, also in a quotation or a list item: "```ts", "> ~~~", "- ```".
 */
const fenceStart = /^\s*(?:>\s*)*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})/;

function removeCodeBlocks(text: string): string {
  const kept: string[] = [];
  let fence: string | null = null;
  let previousLine: "blank" | "code" | "text" = "blank";

  for (const line of text.split("\n")) {
    const fenceMark = fenceStart.exec(line)?.[1];
    if (fence !== null) {
      if (fenceMark !== undefined && fenceMark.startsWith(fence) && /^[\s>]*[`~]+\s*$/.test(line)) {
        fence = null;
      }

      continue;
    }

    // "```code```" on one line is inline code.
    const isInline =
      fenceMark?.startsWith("`") === true &&
      line.slice(line.indexOf(fenceMark) + fenceMark.length).includes("`");
    if (fenceMark !== undefined && !isInline) {
      fence = fenceMark;
      continue;
    }

    if (line.trim() === "") {
      previousLine = previousLine === "code" ? "code" : "blank";
      kept.push("");
      continue;
    }

    // Four blanks make a block of code, unless they carry on a paragraph.
    const isCode: boolean = /^(?: {4}|\t)/.test(line) && previousLine !== "text";
    previousLine = isCode ? "code" : "text";
    if (!isCode) kept.push(line);
  }

  return kept.join("\n");
}

/** Inline code ends with its paragraph: an unpaired backtick doesn't open code in the next one. */
function removeInlineCode(text: string): string {
  return text
    .split(/\n(?=[^\S\n]*\n)/)
    .map((paragraph) => paragraph.replaceAll(/(?<!`)(`+)(?!`)[^`]+\1(?!`)/g, " "))
    .join("\n")
    .replaceAll(/<(code|pre|blockquote|q)\b[^>]{0,100}>[\s\S]{0,400}?<\/\1>/gi, " ");
}

/**
 * Quoted lines, and text between quotation marks. The spans are bounded, so that no text takes long
 * to match.
 */
function removeQuotations(text: string): string {
  return text
    .split("\n")
    .filter((line) => !/^\s*>/.test(line))
    .join("\n")
    .replaceAll(
      /"[^"\n]{0,1000}"|“[^“”\n]{0,1000}”|„[^„“”\n]{0,1000}[“”]|«[^«»\n]{0,1000}»|「[^「」\n]{0,1000}」/g,
      " ",
    )
    .replaceAll(/(?<=^|[\s(:])['‘](?=\S)[^'’\n]{0,1000}['’](?=[\s.,;:!?)]|$)/gm, " ");
}

/**
 * Removes lines that repeat the prompt word for word, except for backticks, which agents often
 * drop. A line that is in the prompt is an echo if the line before or after it is the same in the
 * prompt too, or if it has more than a tag. A bare tag alone on its line is how the agent is asked
 * to make the promise, so it is the agent's own.
 */
function removeEcho(text: string, prompt: string): string {
  const promptLines = listTextLines(prompt);
  const occurrences = indexLines(promptLines);
  const lines = text.split("\n");
  const nonBlankLines = lines
    .map((line, index) => ({ line: removeTicks(line), index }))
    .filter(({ line }) => line !== "");

  const echoed = new Set<number>();
  nonBlankLines.forEach(({ line, index }, position) => {
    const promptIndexes = occurrences.get(line) ?? [];
    if (promptIndexes.length === 0) {
      // A sentence cut out of a longer line of the prompt.
      if (
        hasTag(line) &&
        !isBareTag(line) &&
        promptLines.some((candidate) => candidate.includes(line))
      ) {
        echoed.add(index);
      }

      return;
    }

    const previous = nonBlankLines[position - 1]?.line;
    const next = nonBlankLines[position + 1]?.line;
    const hasSameNeighbour = (promptIndex: number): boolean =>
      (previous !== undefined && promptLines[promptIndex - 1] === previous) ||
      (next !== undefined && promptLines[promptIndex + 1] === next);
    if (promptIndexes.some(hasSameNeighbour) || !isBareTag(line)) echoed.add(index);
  });

  const keptText = lines.filter((_, index) => !echoed.has(index)).join("\n");
  // A prompt's line repeated inside a longer one.
  const phrases = [...prompt.split("\n").map((line) => line.trim()), ...promptLines].filter(
    (line) => /<promise>/i.test(line) && !isBareTag(line),
  );
  return phrases.reduce((remaining, phrase) => remaining.replaceAll(phrase, " "), keptText);
}

/** Where each line occurs. */
function indexLines(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const occurrences = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const indexes = occurrences.get(line) ?? [];
    occurrences.set(line, indexes);
    if (indexes.length < occurrencesMax) indexes.push(index);
  }

  return occurrences;
}

const listTextLines = (text: string): readonly string[] =>
  text
    .split("\n")
    .map(removeTicks)
    .filter((line) => line !== "");

const removeTicks = (line: string): string => line.replaceAll("`", "").trim();

const isBareTag = (line: string): boolean => /^\W*<promise>[^<]*<\/promise>\W*$/i.test(line);

function hasTag(line: string): boolean {
  const lower = line.toLowerCase();
  const index = lower.indexOf("<promise>");
  return index >= 0 && lower.includes("</promise>", index);
}
