// usage-examples: finds examples in a document that call a function and say what comes back:
// `mean([1, 2]) // => 1.5`, or `>>> mean([1, 2])` with its value below. Pure.
//
// Invariants:
//   A1. Only calls whose arguments are literals, or constants that the example writes out, and only
//       values that are written out themselves.
//   A2. What an example does before is done too, if it is such a call. Behind anything else that
//       calls something, the rest of the block is left out: what it sets may matter.
//   A3. An example that is introduced as wrong, old or planned, or as one from elsewhere ("on
//       Windows"), says nothing of what is.

import type { CodeBlock, ExampleBlock, ExampleLanguage } from "./example-block.ts";
import { findNamespacePrefixes, withoutForeignNames } from "./imported-names.ts";
import { parseScript } from "./script-examples.ts";
import { parseSession } from "./session-examples.ts";
import { splitCodeBlocks } from "./split-code-blocks.ts";
import { notAboutNow, sessionPrompt } from "./usage-patterns.ts";

/** A block with more steps is left out. */
const stepsMax = 300;
/** Languages of fenced blocks, as they stand behind the fence. */
const scriptLanguage = /^(?:js|javascript|mjs|cjs|jsx|ts|typescript|mts|tsx|node)\b/i;
const sessionLanguage = /^(?:$|(?:py|python\d?|pycon|doctest|console|text)\b)/i;

export type KnownFunctions = {
  /** The functions that the project exports. */
  readonly names: Readonly<Record<ExampleLanguage, ReadonlySet<string>>>;
  /** Whether a module that an example imports from is one of the project. */
  readonly isOwnModule: (module: string) => boolean;
};

/** The blocks of a document that call any of these functions and say what comes back. */
export function findUsageExamples(text: string, known: KnownFunctions): readonly ExampleBlock[] {
  const { names, isOwnModule } = known;
  const namespaces = findNamespacePrefixes(text, isOwnModule);
  const usableNames = {
    js: withoutForeignNames(text, names.js, isOwnModule),
    py: withoutForeignNames(text, names.py, isOwnModule),
  };

  const blocks = splitCodeBlocks(text).filter(
    ({ introduction }) => !notAboutNow.test(introduction),
  ); // A3
  const examples = blocks.map((block) =>
    parseBlock(block.language, removeNamespaces(block, namespaces), usableNames),
  );
  return examples.filter(
    ({ steps }) => steps.length <= stepsMax && steps.some(({ expected }) => expected !== null),
  );
}

/** `mean([1, 2])` of `stats.mean([1, 2])`. */
const removeNamespaces = ({ lines }: CodeBlock, namespaces: RegExp | null): readonly string[] =>
  namespaces === null ? lines : lines.map((line) => line.replaceAll(namespaces, ""));

function parseBlock(
  language: string,
  lines: readonly string[],
  names: KnownFunctions["names"],
): ExampleBlock {
  if (scriptLanguage.test(language)) {
    return { language: "js", steps: parseScript(lines, names.js) };
  }

  const isSession =
    sessionLanguage.test(language) && lines.some((line) => sessionPrompt.test(line));
  return { language: "py", steps: isSession ? parseSession(lines, names.py) : [] };
}
