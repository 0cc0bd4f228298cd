// statements: splits an agent's text into its own sentences and the command output it quotes.
//
// Invariants:
//   S1. Quotations, code, JSON and text that repeats the prompt aren't statements.
//   S2. No text takes long to parse: everything is bounded before it is searched.

import { claimLimits } from "./reported-claim.ts";

/** A command that the agent shows, and what it shows as the command's output. */
export type Transcript = { readonly command: string; readonly output: string };
export type Statements = {
  readonly sentences: readonly string[];
  readonly transcripts: readonly Transcript[];
};

const blockLinesMax = 400;
/** A shorter line or sentence may equal one of the prompt by chance. */
const echoCharsMin = 15;

export function parseStatements(text: string, prompt = ""): Statements {
  const promptLines = new Set(prompt.split("\n").map(withoutMarkup));
  const promptText = withoutMarkup(prompt.replaceAll(/\s+/g, " "));
  const { paragraphs, blocks } = splitBlocks(
    text.slice(-claimLimits.saidCharsMax).replaceAll("\r\n", "\n"),
    promptLines,
  ); // S2

  const sentences = paragraphs
    .flatMap((paragraph) => withoutQuotations(paragraph).split(/(?<=[.!?:;])\s+(?=[^a-z])/))
    .map((sentence) => sentence.trim().slice(0, claimLimits.sentenceCharsMax))
    .filter(
      (sentence) =>
        sentence !== "" &&
        !(sentence.length >= echoCharsMin && promptText.includes(withoutMarkup(sentence))),
    ); // S1

  return {
    sentences: sentences.slice(-claimLimits.sentencesMax),
    transcripts: blocks.flatMap(parseTranscripts),
  };
}

type Block = { readonly before: string; readonly lines: readonly string[] };

/**
 * Paragraphs of prose with their lines joined, and the fenced blocks, each with the line before it.
 */
function splitBlocks(
  text: string,
  promptLines: ReadonlySet<string>,
): { readonly paragraphs: readonly string[]; readonly blocks: readonly Block[] } {
  const paragraphs: string[] = [];
  const blocks: Block[] = [];
  let paragraphLines: string[] = [];
  let fence: { mark: string; before: string; lines: string[] } | null = null;
  const endParagraph = (): void => {
    if (paragraphLines.length > 0) paragraphs.push(paragraphLines.join(" "));
    paragraphLines = [];
  };

  for (const line of text.split("\n")) {
    const mark = /^[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== null) {
      if (mark?.startsWith(fence.mark) === true && /^[\s>]*[`~]+\s*$/.test(line)) {
        blocks.push({ before: fence.before, lines: fence.lines });
        fence = null;
      } else if (fence.lines.length < blockLinesMax) {
        fence.lines.push(line);
      }

      continue;
    }

    if (mark !== undefined) {
      endParagraph();
      fence = { mark, before: paragraphs.at(-1) ?? "", lines: [] };
      continue;
    }

    const isCode =
      /^(?: {4}|\t)/.test(line) &&
      paragraphLines.length === 0 &&
      !/^\s*(?:[-*+]|\d+[.)])\s/.test(line);
    if (line.trim() === "" || isCode) {
      endParagraph();
      continue;
    }

    if (
      /^\s*>/.test(line) ||
      /^\s*["{}[\]]/.test(line) ||
      (line.trim().length >= echoCharsMin && promptLines.has(withoutMarkup(line)))
    ) {
      endParagraph(); // S1
      continue;
    }

    if (/^\s*(?:[-*+#|]|\d+[.)])/.test(line)) endParagraph();
    paragraphLines.push(line.trim());
  }

  if (fence !== null) blocks.push({ before: fence.before, lines: fence.lines });
  endParagraph();
  return { paragraphs, blocks };
}

const withoutMarkup = (line: string): string => line.replaceAll(/[`*]/g, "").trim();

/** The spans are bounded, and a quotation leaves a space behind. S2 */
const withoutQuotations = (text: string): string =>
  text.replaceAll(
    /"[^"\n]{0,1000}"|“[^“”\n]{0,1000}”|„[^„“”\n]{0,1000}[“”]|«[^«»\n]{0,1000}»/g,
    " ",
  );

/**
 * Commands after a prompt sign, each with the lines up to the next; else the whole block, if the
 * line before it names its command.
 */
function parseTranscripts({ before, lines }: Block): readonly Transcript[] {
  const starts = lines.flatMap((line, index) =>
    /^\s*(?:[\w.@~:/-]*[$%❯])\s+\S/.test(line) ? [index] : [],
  );
  if (starts.length === 0) {
    const command = /\b(?:ran|run|running|output|result|executed)\b/i.test(before)
      ? /`([^`\n]{2,200})`/.exec(before)?.[1]
      : undefined;
    return command === undefined ? [] : [{ command, output: lines.join("\n") }];
  }

  return starts.map((start, position) => ({
    command: (lines[start] ?? "").replace(/^\s*[\w.@~:/-]*[$%❯]\s+/, "").trim(),
    output: lines.slice(start + 1, starts[position + 1] ?? lines.length).join("\n"),
  }));
}
