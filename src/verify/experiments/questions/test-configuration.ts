// test-configuration: restores modules that the settings of tests load and that the work changed: a
// helper for aliases, a preset, a set-up file, a plugin. The check is run with copies of them as
// they were, which only the settings load; code and tests load the work's. Pure.
//
// Invariants:
//   G1. Which modules those are follows from the settings: what they import, and every text in them
//       that is the path of a file. A path that is only mentioned (left out of coverage, say) leads
//       to a copy that nobody loads.
//   G2. A Python module is restored only if it defines something for pytest: set-up for tests also
//       imports the code under test.

import { dirname, join } from "node:path/posix";
import type { Edit } from "../lab.ts";

/** Settings that name other files. */
export const settingsFile =
  /\.(?:[cm]?[jt]s|json5?|py|ini|toml|cfg)$|(?:^|\/)\.(?:mocharc|babelrc|swcrc|taprc)$/;
const speaksToPytest = /^\s*def pytest_\w+|@pytest\.(?:fixture|hookimpl)/m;
const endings = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", "/index.js", "/index.ts"];
const depthMax = 4;

export type RestoredConfiguration = {
  readonly paths: readonly string[];
  readonly edits: readonly Edit[];
};

type BaseFiles = {
  /** Whether a file was there before the work, and its text. */
  readonly exists: (path: string) => boolean;
  readonly textOf: (path: string) => Promise<string | null>;
};

/** `changed`: code that the work changed. */
export async function restoreConfiguration(
  settings: readonly string[],
  changed: ReadonlySet<string>,
  { exists, textOf: was }: BaseFiles,
  nonce: string,
): Promise<RestoredConfiguration | null> {
  const copies = new Map<string, string>();
  const restored = new Set<string>();

  /**
   * The text with every name of a module that leads to a changed one replaced by that of its copy;
   * null if there is none.
   */
  const redirectToCopies = async (path: string, depth: number): Promise<string | null> => {
    const text = await was(path);
    if (text === null || depth > depthMax) return null;
    let edited = text;

    for (const { name, targets, nameOfCopy } of findModuleNames(path, text)) {
      const target = targets.find(exists);
      if (target === undefined || target === path) continue;
      if (!copies.has(target)) {
        copies.set(target, ""); // modules may import each other
        const redirected = await redirectToCopies(target, depth + 1);
        const before = await was(target);
        const isRestored =
          changed.has(target) &&
          before !== null &&
          (!target.endsWith(".py") || speaksToPytest.test(before)); // G2
        if (isRestored) restored.add(target);
        copies.set(target, isRestored ? (redirected ?? before) : (redirected ?? ""));
      }

      if (copies.get(target) !== "") edited = replaceName(edited, name, nameOfCopy(target, nonce));
    }

    return edited === text ? null : edited;
  };

  const edits: Edit[] = [];
  for (const path of settings) {
    const text = await redirectToCopies(path, 0);
    if (text !== null) edits.push({ path, text });
  }

  if (restored.size === 0) return null;
  for (const [path, text] of copies) {
    if (text !== "") edits.push({ path: copyPath(path, nonce), text });
  }

  return { paths: [...restored].toSorted(), edits };
}

/** Replaces a name wherever it isn't a part of a longer one. */
const replaceName = (text: string, name: string, newName: string): string =>
  text
    .split(name)
    .reduce(
      (done, part) => `${done}${/^[\w./]/.test(part) && /\w$/.test(name) ? name : newName}${part}`,
    );

const copyPath = (path: string, nonce: string): string => path.replace(/\.(\w+)$/, `_${nonce}.$1`);

type ModuleName = {
  /** As it is written, with its quotes or spaces. */
  readonly name: string;
  readonly targets: readonly string[];
  readonly nameOfCopy: (target: string, nonce: string) => string;
};

/** Every text that may be a file's path, or a module of Python's (G1). */
function findModuleNames(path: string, text: string): readonly ModuleName[] {
  const folder = dirname(path);
  const quoted = [...text.matchAll(/(["'`])((?:<rootDir>\/)?[\w@./-]{2,200})\1/g)].map(
    ([name, quote = "", inner = ""]): ModuleName => {
      const [, before = "", plain = inner] = /^(<rootDir>\/)?(.*)$/.exec(inner) ?? [];
      const places = [join(folder, plain), join(plain)];
      return {
        name,
        targets: places.flatMap((place) => endings.map((ending) => `${place}${ending}`)),
        nameOfCopy: (target, nonce) => {
          const file = copyPath(target, nonce).split("/");
          const up =
            /\/index\.\w+$/.test(target) && !/index(?:\.\w+)?$/.test(plain)
              ? `${plain}/`
              : plain.replace(/[^/]*$/, "");

          return `${quote}${before}${up}${file.at(-1) ?? ""}${quote}`;
        },
      };
    },
  );
  if (!/\.(?:py|ini|toml|cfg)$/.test(path)) return quoted;

  const dotted = [
    ...text.matchAll(/(\bfrom\s+|["']|-p[\s=]+)([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?![\w./])/g),
  ].map(([name, before = "", module = ""]): ModuleName => ({
    name,
    targets: [
      `${module.replaceAll(".", "/")}.py`,
      join(folder, `${module.replaceAll(".", "/")}.py`),
    ],
    nameOfCopy: (_target, nonce) => `${before}${module}_${nonce}`,
  }));
  return [...dotted, ...quoted];
}

export const describeConfiguration = (paths: readonly string[]): string =>
  `it passes only with what the work changed in ${paths.join(", ")}, which sets up its tests, so a person has to look at that`;
