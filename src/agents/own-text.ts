// own-text: extracts an agent's own text: its answer without code, quotations and what it repeats from the prompt.

/** How many places of one line in a prompt are inspected. */
const repeatsMax = 50;

/** Removed text leaves a space behind, so that the words around it do not join. */
export function extractOwnText(said: string, prompts: readonly string[]): string {
  // Code blocks are removed first: a prompt has fences too, and a fence taken for an echo would turn the code after it into text.
  const withoutEchoes = prompts.reduce(withoutEcho, withoutCodeBlocks(said.replaceAll("\r\n", "\n")));
  return withoutQuotations(withoutInlineCode(withoutEchoes));
}

function withoutCodeBlocks(text: string): string {
  const kept: string[] = [];
  let fence: string | null = null;
  let previousLine: "blank" | "code" | "text" = "blank";
  for (const line of text.split("\n")) {
    const fenceMark = /^\s*(?:>\s*)*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== null) {
      if (fenceMark !== undefined && fenceMark.startsWith(fence) && /^[\s>]*[`~]+\s*$/.test(line)) fence = null;
      continue;
    }
    if (fenceMark !== undefined && !(fenceMark.startsWith("`") && line.slice(line.indexOf(fenceMark) + fenceMark.length).includes("`"))) {
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
function withoutInlineCode(text: string): string {
  return text
    .split(/\n(?=[^\S\n]*\n)/)
    .map((paragraph) => paragraph.replaceAll(/(?<!`)(`+)(?!`)[^`]+\1(?!`)/g, " "))
    .join("\n")
    .replaceAll(/<(code|pre|blockquote|q)\b[^>]{0,100}>[\s\S]{0,400}?<\/\1>/gi, " ");
}

// The spans are bounded, so that no text, however it is made, takes long to read.
function withoutQuotations(text: string): string {
  return text
    .split("\n")
    .filter((line) => !/^\s*>/.test(line))
    .join("\n")
    .replaceAll(/"[^"\n]{0,1000}"|“[^“”\n]{0,1000}”|„[^„“”\n]{0,1000}[“”]|«[^«»\n]{0,1000}»|「[^「」\n]{0,1000}」/g, " ")
    .replaceAll(/(?<=^|[\s(:])['‘](?=\S)[^'’\n]{0,1000}['’](?=[\s.,;:!?)]|$)/gm, " ");
}

/**
 * Removes lines that repeat the prompt word for word, except for backticks, which agents often drop. A line that is in the prompt is an
 * echo if the line before or after it is the same in the prompt too, or if it has more than a tag. A bare tag alone on its line is how the
 * agent is asked to make the promise, so it is the agent's own.
 */
function withoutEcho(text: string, prompt: string): string {
  const promptLines = textLines(prompt);
  const places = new Map<string, number[]>();
  promptLines.forEach((line, index) => {
    const linePlaces = places.get(line);
    if (linePlaces === undefined) places.set(line, [index]);
    else if (linePlaces.length < repeatsMax) linePlaces.push(index);
  });
  const lines = text.split("\n");
  const nonBlankLines = lines.map((line, index) => ({ line: withoutTicks(line), at: index })).filter(({ line }) => line !== "");
  const echoed = new Set<number>();
  nonBlankLines.forEach(({ line, at }, nth) => {
    const promptPlaces = places.get(line) ?? [];
    if (promptPlaces.length === 0) {
      // A sentence cut out of a longer line of the prompt.
      if (hasTag(line) && !isBareTag(line) && promptLines.some((candidate) => candidate.includes(line))) echoed.add(at);
      return;
    }
    const previous = nonBlankLines[nth - 1]?.line;
    const next = nonBlankLines[nth + 1]?.line;
    const isInRun = promptPlaces.some(
      (place) => (previous !== undefined && promptLines[place - 1] === previous) || (next !== undefined && promptLines[place + 1] === next),
    );
    if (isInRun || !isBareTag(line)) echoed.add(at);
  });
  const kept = lines.filter((_, index) => !echoed.has(index)).join("\n");
  // A prompt's line repeated inside a longer one.
  const phrases = [...prompt.split("\n").map((line) => line.trim()), ...promptLines].filter(
    (line) => /<promise>/i.test(line) && !isBareTag(line),
  );
  return phrases.reduce((rest, phrase) => rest.replaceAll(phrase, " "), kept);
}

const textLines = (text: string): readonly string[] =>
  text
    .split("\n")
    .map(withoutTicks)
    .filter((line) => line !== "");

const withoutTicks = (line: string): string => line.replaceAll("`", "").trim();

const isBareTag = (line: string): boolean => /^\W*<promise>[^<]*<\/promise>\W*$/i.test(line);

function hasTag(line: string): boolean {
  const lower = line.toLowerCase();
  const index = lower.indexOf("<promise>");
  return index >= 0 && lower.includes("</promise>", index);
}
