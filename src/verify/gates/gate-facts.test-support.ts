// gate-facts: facts of a tree that is written down in a test.

import type { GateFacts } from "./gate-facts.ts";
import { openMatcher } from "./pattern.ts";
import type { Entry, Text } from "./tree-facts.ts";

const kinds: Readonly<Record<string, Entry["kind"]>> = {
  "<link>": "link",
  "<folder>": "folder",
  "<pipe>": "other",
};
/** Texts that stand for a file in which something is wrong. */
const faults: Readonly<Record<string, Partial<Text>>> = {
  "<bytes>": { fault: "no text: bytes that are not UTF-8" },
  "<nul>": { fault: "no text: a NUL at byte 3" },
  "<grows>": { fault: "a file that changed while it was read", isWhole: false },
  "<huge>": { text: "begin\n", isWhole: false },
};

/**
 * A text is a regular file, a word in pointed brackets that kind of entry, or a file in which that
 * is wrong.
 */
export function facts(
  tree: Readonly<Record<string, string>>,
  more: Partial<GateFacts> = {},
): GateFacts {
  const files = new Map(
    Object.entries(tree).map(([path, text]): [string, Entry] => [
      path,
      { kind: kinds[text] ?? "file", size: Buffer.byteLength(text) },
    ]),
  );

  const read = (path: string): Text | null => {
    const text = tree[path];
    return text === undefined || kinds[text] !== undefined
      ? null
      : { text, isWhole: true, ...faults[text] };
  };

  return {
    files,
    isWhole: true,
    read,
    match: openMatcher(),
    changed: new Set(),
    isNewer: () => undefined,
    commandResult: () => undefined,
    ...more,
  };
}
