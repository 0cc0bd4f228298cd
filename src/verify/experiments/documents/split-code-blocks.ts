// split-code-blocks: splits a document into its blocks of code: fenced ones, and sessions of Python
// without fences.

import type { CodeBlock } from "./example-block.ts";
import { sessionPrompt } from "./usage-patterns.ts";

/** ` ```js `: the fence, and what stands behind it. */
const fenceLine = /^\s{0,9}(`{3,}|~{3,})\s*([^`]*)$/;

type OpenBlock = {
  readonly fence: string;
  readonly language: string;
  readonly introduction: string;
  readonly lines: string[];
};

export function splitCodeBlocks(text: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let openBlock: OpenBlock | null = null;
  let lastText = "";
  let session: string[] = [];

  const endSession = (): void => {
    if (session.length > 0) blocks.push({ language: "", introduction: lastText, lines: session });
    session = [];
  };

  for (const line of text.split("\n")) {
    const [, fence = "", language = ""] = fenceLine.exec(line) ?? [];

    if (openBlock !== null) {
      const isEnd = fence.startsWith(openBlock.fence) && language.trim() === "";
      if (!isEnd) {
        openBlock.lines.push(line);
        continue;
      }

      blocks.push(openBlock);
      openBlock = null;
      continue;
    }

    if (fence !== "") {
      endSession();
      openBlock = { fence, language: language.trim(), introduction: lastText, lines: [] };
      continue;
    }

    const isInSession = session.length > 0 && line.trim() !== "";
    if (isInSession || sessionPrompt.test(line)) {
      session.push(line);
      continue;
    }

    endSession();
    if (line.trim() !== "") lastText = line;
  }

  endSession();
  return blocks;
}
