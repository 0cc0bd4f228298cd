// returned-json: finds the JSON that an agent returns in its text: the last fenced block that is
// marked as JSON, else the last one that is; without such a block, the last object or array.

export type ReturnedJson =
  | { readonly isFound: true; readonly value: unknown; readonly raw: string }
  | { readonly isFound: false; readonly why: string };

// Limits for the search of unfenced JSON, whose cost grows with the number of brackets.
const tailCharsMax = 256 * 1024;
const triesMax = 500;
const closersMax = 100;

/** The returned object or array; or why there is none. */
export function findReturnedJson(answer: string): ReturnedJson {
  const blocks = findFencedBlocks(answer);
  const jsonBlock = blocks.findLast(({ info }) => /^json/i.test(info));
  const block = jsonBlock ?? blocks.findLast(({ text }) => isContainer(parse(text).value));
  if (block !== undefined) {
    const { value, error } = parse(block.text);
    if (isContainer(value)) return { isFound: true, value, raw: block.text };
    return {
      isFound: false,
      why: `the last JSON block is not a JSON object or array${error === undefined ? "" : `: ${error}`}`,
    };
  }

  return (
    findLastBalanced(answer.slice(-tailCharsMax)) ?? {
      isFound: false,
      why: "no JSON was handed back",
    }
  );
}

function findFencedBlocks(
  answer: string,
): readonly { readonly info: string; readonly text: string }[] {
  const blocks: { info: string; text: string }[] = [];
  let openBlock: { fence: string; info: string; lines: string[] } | null = null;

  for (const line of answer.split("\n")) {
    const match = /^\s*(`{3,}|~{3,})\s*([^`]*)$/.exec(line);
    const fence = match?.[1] ?? "";

    if (openBlock === null) {
      if (fence !== "") openBlock = { fence, info: (match?.[2] ?? "").trim(), lines: [] };
      continue;
    }

    if (fence.startsWith(openBlock.fence) && (match?.[2] ?? "").trim() === "") {
      blocks.push({ info: openBlock.info, text: openBlock.lines.join("\n") });
      openBlock = null;
      continue;
    }

    openBlock.lines.push(line);
  }

  // An answer that was cut off, or an unclosed block: it may still be complete.
  if (openBlock !== null) blocks.push({ info: openBlock.info, text: openBlock.lines.join("\n") });
  return blocks;
}

/** The last text between brackets that parses as JSON. */
function findLastBalanced(text: string): ReturnedJson | null {
  let tries = 0;
  let closers = 0;

  for (let end = text.length - 1; end >= 0; end -= 1) {
    const opener = openers[text[end] ?? ""];
    if (opener === undefined) continue;
    if ((closers += 1) > closersMax) return null;
    for (
      let start = text.lastIndexOf(opener, end);
      start >= 0;
      start = start === 0 ? -1 : text.lastIndexOf(opener, start - 1)
    ) {
      if ((tries += 1) > triesMax) return null;
      const raw = text.slice(start, end + 1);
      const { value } = parse(raw);
      if (isContainer(value)) return { isFound: true, value, raw };
    }
  }

  return null;
}

/** The opening bracket for each closing one. */
const openers: Readonly<Record<string, string>> = { "}": "{", "]": "[" };

function parse(text: string): { readonly value: unknown; readonly error?: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { value: undefined, error: error instanceof Error ? error.message : String(error) };
  }
}

const isContainer = (value: unknown): boolean => typeof value === "object" && value !== null;
