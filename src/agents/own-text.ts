// own-text: extracts an agent's own text: its answer without code, quotations and what it repeats from the prompt.

/** How many places of one line in a prompt are inspected. */
const repeatsMax = 50;

/** Removed text leaves a space behind, so that the words around it do not join. */
export function ownText(said: string, prompts: readonly string[]): string {
  // Code blocks are removed first: a prompt has fences too, and a fence taken for an echo would turn the code after it into text.
  const unechoed = prompts.reduce(withoutEcho, withoutCodeBlocks(said.replaceAll("\r\n", "\n")));
  return withoutQuotations(withoutInlineCode(unechoed));
}

function withoutCodeBlocks(text: string): string {
  const kept: string[] = [];
  let fence: string | null = null;
  let before: "blank" | "code" | "text" = "blank";
  for (const line of text.split("\n")) {
    const mark = /^\s*(?:>\s*)*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== null) {
      if (mark !== undefined && mark.startsWith(fence) && /^[\s>]*[`~]+\s*$/.test(line)) fence = null;
      continue;
    }
    if (mark !== undefined && !(mark.startsWith("`") && line.slice(line.indexOf(mark) + mark.length).includes("`"))) {
      fence = mark;
      continue;
    }
    if (line.trim() === "") {
      before = before === "code" ? "code" : "blank";
      kept.push("");
      continue;
    }
    // Four blanks make a block of code, unless they carry on a paragraph.
    const isCode: boolean = /^(?: {4}|\t)/.test(line) && before !== "text";
    before = isCode ? "code" : "text";
    if (!isCode) kept.push(line);
  }
  return kept.join("\n");
}

/** Code in a line ends with its paragraph; a tick left alone in one isn't a beginning for the next. */
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
 * Takes out what is the prompt's, word for word (ticks apart, which are often lost in repeating). A line that is in the prompt is an echo if it comes with a neighbour of its
 * there, or if it holds more than a tag; a bare tag alone on its line is how an agent is asked to speak, so it is the agent's own.
 */
function withoutEcho(text: string, prompt: string): string {
  const asked = textLines(prompt);
  const places = new Map<string, number[]>();
  asked.forEach((line, index) => {
    const known = places.get(line);
    if (known === undefined) places.set(line, [index]);
    else if (known.length < repeatsMax) known.push(index);
  });
  const said = text.split("\n");
  const worded = said.map((line, index) => ({ line: plain(line), at: index })).filter(({ line }) => line !== "");
  const echoed = new Set<number>();
  worded.forEach(({ line, at }, nth) => {
    const here = places.get(line) ?? [];
    if (here.length === 0) {
      // A sentence cut out of a longer line of the prompt.
      if (holdsTag(line) && !isBareTag(line) && asked.some((candidate) => candidate.includes(line))) echoed.add(at);
      return;
    }
    const last = worded[nth - 1]?.line;
    const next = worded[nth + 1]?.line;
    const inRun = here.some(
      (place) => (last !== undefined && asked[place - 1] === last) || (next !== undefined && asked[place + 1] === next),
    );
    if (inRun || !isBareTag(line)) echoed.add(at);
  });
  const kept = said.filter((_, index) => !echoed.has(index)).join("\n");
  // A prompt's line repeated inside a longer one.
  const phrases = [...prompt.split("\n").map((line) => line.trim()), ...asked].filter(
    (line) => /<promise>/i.test(line) && !isBareTag(line),
  );
  return phrases.reduce((rest, phrase) => rest.replaceAll(phrase, " "), kept);
}

const textLines = (text: string): readonly string[] =>
  text
    .split("\n")
    .map(plain)
    .filter((line) => line !== "");

const plain = (line: string): string => line.replaceAll("`", "").trim();

const isBareTag = (line: string): boolean => /^\W*<promise>[^<]*<\/promise>\W*$/i.test(line);

function holdsTag(line: string): boolean {
  const lower = line.toLowerCase();
  const index = lower.indexOf("<promise>");
  return index >= 0 && lower.includes("</promise>", index);
}
