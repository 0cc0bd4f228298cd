// test-configuration: restores modules that the settings of tests load and that the work changed: a
// helper for aliases, a preset, a set-up file, a plugin. The check is run with copies of them as
// they were, which only the settings load; code and tests load the work's. Pure.
//
// Invariants:
//   G1. Which modules those are follows from the settings: what they import, and every text in them
//       that is the path of a file. A path that is only mentioned (left out of coverage, say) leads
//       to a copy that nobody loads.
//       Tests that they load stay where they are: a runner may load them by itself, too.
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
  /** Settings and set-up that load those. */
  readonly loaders: readonly string[];
  readonly edits: readonly Edit[];
};

type BaseFiles = {
  /** Whether a file was there before the work, and its text. */
  readonly exists: (path: string) => boolean;
  readonly textOf: (path: string) => Promise<string | null>;
  readonly isTest: (path: string) => boolean;
};

/** `changed`: code that the work changed. */
export async function restoreConfiguration(
  settings: readonly string[],
  changed: ReadonlySet<string>,
  files: BaseFiles,
  nonce: string,
): Promise<RestoredConfiguration | null> {
  const copies: Copies = { changed, files, nonce, texts: new Map(), restored: new Set() };
  const edits: Edit[] = [];

  for (const path of settings) {
    const text = await redirectToCopies(path, copies);
    if (text !== null) edits.push({ path, text });
  }

  if (copies.restored.size === 0) return null;
  for (const [path, text] of copies.texts) {
    if (text !== null) edits.push({ path: pathOfCopy(path, copies), text });
  }

  const copied = [...copies.texts].flatMap(([path, text]) => (text === null ? [] : [path]));
  return {
    paths: [...copies.restored].toSorted(),
    loaders: [...settings, ...copied.filter((path) => !copies.restored.has(path))],
    edits,
  };
}

/** The modules that were looked at so far. */
type Copies = {
  readonly changed: ReadonlySet<string>;
  readonly files: BaseFiles;
  readonly nonce: string;
  /** By a module's path, the text of its copy; null if it needs none. */
  readonly texts: Map<string, string | null>;
  /** Modules whose copy has the text from before the work. */
  readonly restored: Set<string>;
};

/**
 * The text of a file with every name of a module that has a copy replaced by that of the copy; null
 * if there is none.
 */
async function redirectToCopies(path: string, copies: Copies, depth = 0): Promise<string | null> {
  const { files, nonce, texts } = copies;
  const text = await files.textOf(path);
  if (text === null || depth > depthMax) return null;
  let redirected = text;

  for (const { name, targets, nameOfCopy } of findModuleNames(path, text)) {
    const target = targets.find(files.exists);
    if (target === undefined || target === path) continue;
    if (!texts.has(target)) await addCopy(target, copies, depth + 1);

    const hasCopy = texts.get(target) !== null;
    const isElsewhere = hasCopy && pathOfCopy(target, copies) !== target;
    if (isElsewhere) redirected = replaceName(redirected, name, nameOfCopy(target, nonce));
  }

  return redirected === text ? null : redirected;
}

/** Adds the copy of a module, if the work changed it or it leads to one that the work changed. */
async function addCopy(module: string, copies: Copies, depth: number): Promise<void> {
  const { changed, files, texts, restored } = copies;
  texts.set(module, null); // modules may import each other
  const redirected = await redirectToCopies(module, copies, depth);
  const was = changed.has(module) ? await files.textOf(module) : null;
  const isRestored = was !== null && (!module.endsWith(".py") || speaksToPytest.test(was)); // G2

  if (isRestored) restored.add(module);
  texts.set(module, redirected ?? (isRestored ? was : null));
}

const pathOfCopy = (path: string, { files, nonce }: Copies): string =>
  files.isTest(path) ? path : copyPath(path, nonce);

/** Replaces a name wherever it isn't a part of a longer one. */
const replaceName = (text: string, name: string, newName: string): string =>
  text
    .split(name)
    .reduce(
      (done, part) => `${done}${/^[\w./]/.test(part) && /\w$/.test(name) ? name : newName}${part}`,
    );

const copyPath = (path: string, nonce: string): string =>
  path.replace(/\.\w+$/, (ending) => `_${nonce}${ending}`);

type ModuleName = {
  /** As it is written, with its quotes or spaces. */
  readonly name: string;
  readonly targets: readonly string[];
  readonly nameOfCopy: (target: string, nonce: string) => string;
};

/** Every text that may be a file's path, or a module of Python's (G1). */
function findModuleNames(file: string, text: string): readonly ModuleName[] {
  const folder = dirname(file);
  const quoted = [...text.matchAll(quotedPath)].map(([name, quote = "", path = ""]) =>
    readQuotedPath(name, quote, path, folder),
  );
  if (!/\.(?:py|ini|toml|cfg)$/.test(file)) return quoted;

  const dotted = [...text.matchAll(pythonModule)].map(([name, before = "", module = ""]) =>
    readPythonModule(name, before, module, folder),
  );
  return [...dotted, ...quoted];
}

/** `"./tools/hooks.cjs"`, `'<rootDir>/setup'` */
const quotedPath = /(["'`])((?:<rootDir>\/)?[\w@./-]{2,200})\1/g;
/** `from tools.hooks`, `"tools.hooks"`, `-p tools.hooks` */
const pythonModule = /(\bfrom\s+|["']|-p[\s=]+)([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?![\w./])/g;

function readQuotedPath(name: string, quote: string, path: string, folder: string): ModuleName {
  const isFromRoot = path.startsWith("<rootDir>/");
  const plain = isFromRoot ? path.slice("<rootDir>/".length) : path;
  const places = [join(folder, plain), join(plain)];

  return {
    name,
    targets: places.flatMap((place) => endings.map((ending) => `${place}${ending}`)),
    nameOfCopy: (target, nonce) => {
      const isFolderOfIndex = /\/index\.\w+$/.test(target) && !/index(?:\.\w+)?$/.test(plain);
      const prefix = isFolderOfIndex ? `${plain}/` : plain.replace(/[^/]*$/, "");
      const copy = copyPath(target, nonce).split("/").at(-1) ?? "";
      return `${quote}${isFromRoot ? "<rootDir>/" : ""}${prefix}${copy}${quote}`;
    },
  };
}

function readPythonModule(
  name: string,
  before: string,
  module: string,
  folder: string,
): ModuleName {
  const path = `${module.replaceAll(".", "/")}.py`;
  return {
    name,
    targets: [path, join(folder, path)],
    nameOfCopy: (_target, nonce) => `${before}${module}_${nonce}`,
  };
}

export const describeConfiguration = (paths: readonly string[]): string =>
  `it passes only with what the work changed in ${paths.join(", ")}, which sets up its tests, so a person has to look at that`;
