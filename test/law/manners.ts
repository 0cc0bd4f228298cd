// manners: sizes, names and words; what may not be in the repository at all.

import { emptyEndings, emptyFileWords, linesMax, properNames, wordsNotOurs } from "./house.ts";
import {
  isDeclared,
  isProduct,
  isTest,
  isTypeScript,
  lineOf,
  nodesOf,
  type SourceFile,
  type SyntaxNode,
} from "./source.ts";

export function longFilesIn(files: readonly SourceFile[]): string[] {
  return files.filter(isTypeScript).flatMap((file) => {
    const lines = file.text.trimEnd().split("\n").length;
    const most = isTest(file) ? linesMax.test : linesMax.source;
    return lines > most ? [`${file.path}: ${lines} lines, at most ${most}`] : [];
  });
}

/**
 * Source files that do not begin with their name and their purpose; what is written by a script
 * says so by itself.
 */
export function purposelessIn(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const name =
      file.path
        .split("/")
        .at(-1)
        ?.replace(/(?:\.test-support|\.d)?\.ts$/, "") ?? "";

    if (
      !isProduct(file) ||
      !isTypeScript(file) ||
      file.text.startsWith(`// ${name}: `) ||
      /^\/\/ (?:Generated|Written) by /.test(file.text)
    ) {
      return [];
    }

    return [`${file.path}: begin with "// ${name}: what it is for."`];
  });
}

export function badFileNamesIn(files: readonly SourceFile[]): string[] {
  return files.filter(isTypeScript).flatMap((file) => {
    const name =
      file.path
        .split("/")
        .at(-1)
        ?.replace(/(\.test)?\.ts$/, "") ?? "";
    if (name === "index") return [`${file.path}: import the file itself, not a folder`];
    if (!/^[a-z0-9]+([.-][a-z0-9]+)*$/.test(name)) {
      return [`${file.path}: file names are kebab-case`];
    }

    return name
      .split(/[.-]/)
      .flatMap((word) =>
        Object.hasOwn(emptyFileWords, word)
          ? [`${file.path}: "${word}" says nothing; ${emptyFileWords[word]}`]
          : [],
      );
  });
}

export function badNamesIn(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isTypeScript(file) && hasBadWord(file.text))
    .flatMap((file) =>
      [...nodesOf(file)].flatMap(({ node, parent, key }) => {
        if (!isDeclared(node, parent, key)) return [];
        const name = String(node["name"]);
        return faultsOf(name).map(
          (fault) => `${file.path}:${lineOf(file, node)} ${name}: ${fault}`,
        );
      }),
    );
}

/**
 * Whether any word of the text would be a bad name; most files have none, and are not searched for
 * what they declare.
 */
const hasBadWord = (text: string): boolean =>
  (text.match(/[\w$\u0080-\uffff]+/g) ?? []).some((word) => faultsOf(word).length > 0);

const faults = new Map<string, readonly string[]>();
function faultsOf(name: string): readonly string[] {
  const known = faults.get(name) ?? findFaults(name);
  faults.set(name, known);
  return known;
}

function findFaults(name: string): readonly string[] {
  const words = name.split(/(?<=[a-z0-9])(?=[A-Z])|_/).map((word) => word.toLowerCase());
  if (
    words.length > 1 &&
    emptyEndings.includes(words.at(-1) ?? "") &&
    !properNames.includes(name)
  ) {
    return ["say what it does"];
  }

  return words.flatMap((word) =>
    Object.hasOwn(wordsNotOurs, word) ? [`not "${word}" but ${wordsNotOurs[word]}`] : [],
  );
}

const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;

/**
 * Names in backticks that comments of the product cite, and no code has: what they meant was
 * renamed or is gone.
 */
export function goneNamesIn(files: readonly SourceFile[]): string[] {
  const cited = files.filter(isProduct).flatMap((file) =>
    [...file.text.matchAll(comments)].flatMap(({ 0: comment, index }) =>
      [...comment.matchAll(/`([a-z]+[A-Z][\w$]*)`/g)].map(([, name = ""]) => ({
        name,
        file,
        index,
      })),
    ),
  );
  const gone = new Set(cited.map(({ name }) => name));
  for (const { text } of files.filter(isTypeScript)) {
    const isNamed = (text.match(camelWords) ?? []).some((word) => gone.has(word));
    if (!isNamed) continue; // only what names one is freed of its comments
    for (const word of text.replaceAll(comments, "").match(camelWords) ?? []) gone.delete(word);
  }

  return cited
    .filter(({ name }) => gone.has(name))
    .map(
      ({ name, file, index }) =>
        `${file.path}:${file.text.slice(0, index).split("\n").length}: ${name}`,
    );
}

const camelWords = /(?<![\w$])[a-z]+[A-Z][\w$]*/g;

/** Most tests use these words of something else, and are not searched through. */
const maySilence = /\b(?:test|it|describe)\b[\s?!)]*\.\s*(?:only|skip|todo)\b/;

/**
 * Tests that would make the others or themselves silent. `skipIf` is allowed: its title says when
 * and why.
 */
export function silencedTestsIn(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isTypeScript(file) && isTest(file) && maySilence.test(file.text))
    .flatMap((file) =>
      [...nodesOf(file)].flatMap(({ node }) => {
        if (node.type !== "MemberExpression") return [];
        const object = node["object"] as SyntaxNode;
        const word = String((node["property"] as SyntaxNode)["name"]);
        const isSilenced =
          ["test", "it", "describe"].includes(String(object["name"])) &&
          ["only", "skip", "todo"].includes(word);

        return isSilenced
          ? [`${file.path}:${lineOf(file, node)}: ${String(object["name"])}.${word}`]
          : [];
      }),
    );
}

/**
 * A computed text that `replace` puts into another by itself, not by a function: a `$&` or `$1` in
 * it would be filled in. Literals are ours and may use them.
 */
export function filledReplacementsIn(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isProduct(file) && /\.replace(?:All)?\(/.test(file.text))
    .flatMap((file) =>
      [...nodesOf(file)].flatMap(({ node }) => {
        if (node.type !== "CallExpression") return [];
        const { name } = ((node["callee"] as SyntaxNode)["property"] ?? {}) as { name?: string };
        const [, replacement] = node["arguments"] as readonly SyntaxNode[];
        if (replacement === undefined || !/^replace(?:All)?$/.test(name ?? "")) return [];
        return isFixedReplacement(replacement)
          ? []
          : [`${file.path}:${lineOf(file, replacement)}: write it as () => …`];
      }),
    );
}

function isFixedReplacement(node: SyntaxNode): boolean {
  if (node.type === "TaggedTemplateExpression") {
    return isFixedReplacement(node["quasi"] as SyntaxNode);
  }

  if (node.type === "TemplateLiteral") return (node["expressions"] as readonly []).length === 0;
  return /^(?:Literal|ArrowFunctionExpression|FunctionExpression)$/.test(node.type);
}

/**
 * Work that was put off: it belongs into the work, not into a comment. A quoted mark is somebody's
 * test data.
 */
export function putOffIn(files: readonly SourceFile[]): string[] {
  const marks = /(\/\/[^"'`]*|^[^"'`]*)\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b/; // bracketed, so that this line is none
  return linesWith(
    files.filter(
      ({ path }) => /\.(ts|mjs|md|yaml)$|^\.ci\//.test(path) && !path.startsWith("test/fixtures/"),
    ),
    marks,
  );
}

/** The places where somebody worked: the checkout, what is beside it, home folders. */
export function machinePathsIn(files: readonly SourceFile[], places: readonly string[]): string[] {
  const escaped = places.map((place) => place.replaceAll(/[.+()]/g, "\\$&")).join("|");
  const place = new RegExp(
    `(?<![\\w.@}~*-])(${escaped})(?![\\w-])|/home/(?!(you|user|me|agent|runner|somebody)\\b)[a-z]\\w*/|/Users/(?!(you|user|me)\\b)\\w+/`,
  );

  return linesWith(
    files.filter(({ path }) => path !== "package-lock.json"),
    place,
  );
}

/**
 * Whole folders are deleted in one place, which copes with whatever modes a command left in them.
 * Folders that may not import it delete only what they made themselves.
 */
export function folderDeletionsIn(files: readonly SourceFile[]): string[] {
  const isElsewhere = ({ path }: SourceFile): boolean =>
    path !== "src/workspace/folder.ts" &&
    !path.endsWith(".test-support.ts") &&
    !/^src\/(agents|verify|journal|surfaces)\//.test(path);
  return linesWith(
    files.filter((file) => isProduct(file) && isElsewhere(file)),
    /(?<![.\w])rm(Sync)?\([^;]*recursive: true/,
  );
}

/** A registry's address in the lock file would tie the project to one machine's registry. */
export function registriesIn(files: readonly SourceFile[]): string[] {
  return linesWith(
    files.filter(({ path }) => path === "package-lock.json"),
    /"resolved":\s*"(?:https?|git)/,
  ).slice(0, 3);
}

function linesWith(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap((file) =>
    file.text
      .split("\n")
      .flatMap((line, at) =>
        pattern.test(line) ? [`${file.path}:${at + 1}: ${line.trim().slice(0, 120)}`] : [],
      ),
  );
}
