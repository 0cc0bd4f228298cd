// rust-examples: finds, breaks and restores the code blocks in the documentation comments of a Rust
// file, which are run as tests. Pure.
// Invariants O1 and on: verify/experiments/broken-expectations/examples.ts.

import type { TestCase } from "../source-text/test-cases.ts";
import { createAssertionFlips } from "./assertion-flips.ts";
import type { Flip } from "./flip.ts";

/** Each code block that is run, as a test. */
export function findRustExampleCases(path: string, text: string): readonly TestCase[] {
  const lines = text.split("\n");
  const escapedPath = path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

  return parseRustBlocks(lines).map(({ from, to }) => ({
    path,
    name: `the example in line ${from}`,
    title: new RegExp(`${escapedPath} - (?:.* )?\\(line ${from}\\)`),
    from,
    to,
    text: lines.slice(from - 1, to).join("\n"),
    isSkipped: false,
  }));
}

/** The assertions in the code blocks, each broken (O1). */
export function createRustExampleFlips(path: string, text: string, nonce: string): readonly Flip[] {
  const lines = text.split("\n");
  const blocks = parseRustBlocks(lines);
  const isInBlock = (index: number): boolean =>
    blocks.some(({ from, to }) => from <= index && index < to - 1);

  const code = lines.map((line, index) =>
    isInBlock(index) ? line.replace(/\/\/[/!]/, "   ") : "",
  );
  const flips = createAssertionFlips(path, code.join("\n"), nonce);

  return flips.map(({ line, was, broken, score }) => {
    const originals = lines.slice(line - 1, line - 1 + was.split("\n").length);
    const brokenLines = broken.split("\n").map((brokenLine, index) => {
      const mark = readCommentMark(originals[index] ?? "");
      return mark + brokenLine.slice(mark.length);
    });

    return { path, line, was: originals.join("\n"), broken: brokenLines.join("\n"), score };
  });
}

/**
 * The file with each lost example as the documentation of an empty function at its end; null if
 * none is lost (O2).
 */
export function restoreRustExamples(was: string, is: string): string | null {
  const kept = new Set(listExamples(is));
  const lost = listExamples(was).filter((example) => !kept.has(example));
  if (lost.length === 0) return null;

  const restored = lost.map((example, index) => {
    const comment = example.split("\n").map((line) => `/// ${line}`);
    return `${comment.join("\n")}\n#[allow(dead_code)]\nfn as_before_${index}() {}\n`;
  });
  return `${is}\n${restored.join("\n")}`;
}

/** The code blocks without the marks of comments. */
function listExamples(text: string): readonly string[] {
  const lines = text.split("\n");
  const plainLines = lines.map((line) => line.trim().replace(/^\/\/[/!] ?/, ""));
  return parseRustBlocks(lines).map(({ from, to }) => plainLines.slice(from - 1, to).join("\n"));
}

/** Lines of a code block in documentation, from 1, including its fences. */
type Block = { readonly from: number; readonly to: number };

function parseRustBlocks(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  let open: { readonly from: number; readonly isRun: boolean } | null = null;

  for (const [index, line] of lines.entries()) {
    const fence = /^\s*\/\/[/!]\s*```(.*)$/.exec(line)?.[1];
    if (readCommentMark(line) === "") {
      open = null;
    } else if (fence !== undefined && open === null) {
      open = { from: index + 1, isRun: /^\s*(?:rust\b.*|edition\w*)?\s*$/.test(fence) };
    } else if (fence !== undefined && open !== null) {
      if (open.isRun) blocks.push({ from: open.from, to: index + 1 });
      open = null;
    }
  }

  return blocks;
}

/** `///` or `//!`, and what stands before it. */
const readCommentMark = (line: string): string => /^\s*\/\/[/!]/.exec(line)?.[0] ?? "";
