// test-configuration: modules that the settings of tests load, and that the work changed: a helper for aliases, a preset, a file of set-up,
// a plugin. The check is run with copies of them as they were, which only the settings lead to; code and tests see the work. Pure.
//
// Invariants:
//   G1. Which modules those are follows from the settings: what they import, and every text in them that is the path of a file. A path that
//       is only mentioned (left out of coverage, say) leads to a copy that nobody loads.
//   G2. A Python module is meant only if it speaks to pytest itself: set-up for tests imports the code under test as well.

import { dirname, join } from "node:path/posix";
import type { Edit } from "../laboratory.ts";

/** Settings that name other files. */
export const isSettings = /\.(?:[cm]?[jt]s|json5?|py|ini|toml|cfg)$|(?:^|\/)\.(?:mocharc|babelrc|swcrc|taprc)$/;
const speaksToPytest = /^\s*def pytest_\w+|@pytest\.(?:fixture|hookimpl)/m;
const endings = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", "/index.js", "/index.ts"];
const depthMax = 4;

export type ConfiguredBy = { readonly paths: readonly string[]; readonly edits: readonly Edit[] };

type Before = {
  /** Whether a file was there before the work, and its text. */
  readonly isThere: (path: string) => boolean;
  readonly was: (path: string) => Promise<string | null>;
};

/** `changed`: code that the work changed. */
export async function configurationAsBefore(
  settings: readonly string[],
  changed: ReadonlySet<string>,
  { isThere, was }: Before,
  nonce: string,
): Promise<ConfiguredBy | null> {
  const copies = new Map<string, string>();
  const found = new Set<string>();
  /** The text with every name of a module that leads to a changed one replaced by that of its copy; null if there is none. */
  const led = async (path: string, depth: number): Promise<string | null> => {
    const text = await was(path);
    if (text === null || depth > depthMax) return null;
    let edited = text;
    for (const { name, to, copied } of namesIn(path, text)) {
      const target = to.find(isThere);
      if (target === undefined || target === path) continue;
      if (!copies.has(target)) {
        copies.set(target, ""); // modules may import each other
        const own = await led(target, depth + 1);
        const before = await was(target);
        const isMeant = changed.has(target) && before !== null && (!target.endsWith(".py") || speaksToPytest.test(before)); // G2
        if (isMeant) found.add(target);
        copies.set(target, isMeant ? (own ?? before) : (own ?? ""));
      }
      if (copies.get(target) !== "") edited = withName(edited, name, copied(target, nonce));
    }
    return edited === text ? null : edited;
  };
  const edits: Edit[] = [];
  for (const path of settings) {
    const text = await led(path, 0);
    if (text !== null) edits.push({ path, text });
  }
  if (found.size === 0) return null;
  for (const [path, text] of copies) if (text !== "") edits.push({ path: copyOf(path, nonce), text });
  return { paths: [...found].toSorted(), edits };
}

/** Where it stands as a whole. */
const withName = (text: string, name: string, other: string): string =>
  text.split(name).reduce((all, part) => `${all}${/^[\w./]/.test(part) && /\w$/.test(name) ? name : other}${part}`);

const copyOf = (path: string, nonce: string): string => path.replace(/\.(\w+)$/, `_${nonce}.$1`);

type Name = {
  /** As it is written, with its quotes or spaces. */
  readonly name: string;
  readonly to: readonly string[];
  readonly copied: (target: string, nonce: string) => string;
};

/** Every text that may be a file's path, or a module of Python's (G1). */
function namesIn(path: string, text: string): readonly Name[] {
  const folder = dirname(path);
  const quoted = [...text.matchAll(/(["'`])((?:<rootDir>\/)?[\w@./-]{2,200})\1/g)].map(([name, quote = "", inner = ""]): Name => {
    const [, before = "", plain = inner] = /^(<rootDir>\/)?(.*)$/.exec(inner) ?? [];
    const places = [join(folder, plain), join(plain)];
    return {
      name,
      to: places.flatMap((place) => endings.map((ending) => `${place}${ending}`)),
      copied: (target, nonce) => {
        const file = copyOf(target, nonce).split("/");
        const up = /\/index\.\w+$/.test(target) && !/index(?:\.\w+)?$/.test(plain) ? `${plain}/` : plain.replace(/[^/]*$/, "");
        return `${quote}${before}${up}${file.at(-1) ?? ""}${quote}`;
      },
    };
  });
  if (!/\.(?:py|ini|toml|cfg)$/.test(path)) return quoted;
  const dotted = [...text.matchAll(/(\bfrom\s+|["']|-p[\s=]+)([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?![\w./])/g)].map(
    ([name, before = "", module = ""]): Name => ({
      name,
      to: [`${module.replaceAll(".", "/")}.py`, join(folder, `${module.replaceAll(".", "/")}.py`)],
      copied: (_target, nonce) => `${before}${module}_${nonce}`,
    }),
  );
  return [...dotted, ...quoted];
}

export const configurationWords = (paths: readonly string[]): string =>
  `it passes only with what the work changed in ${paths.join(", ")}, which sets up its tests, so a person has to look at that`;
