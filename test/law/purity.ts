// purity: what a pure folder may not touch, and whom the folders of the engine may not know.

import {
  impureNames,
  namelessFolders,
  onlyBeside,
  ordinaryWords,
  pureFolders,
  vocabularyOf,
} from "./house.ts";
import {
  importsOf,
  isBelow,
  isProduct,
  isReference,
  lineOf,
  literalOf,
  nodesOf,
  type SourceFile,
  type SyntaxNode,
} from "./source.ts";

export function stainsIn(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isProduct(file) && isBelow(file.path, pureFolders))
    .flatMap((file) => [
      ...importsOf(file)
        .filter(({ spec }) => spec.startsWith("node:"))
        .map(({ spec, line }) => `${file.path}:${line} imports ${spec}`),
      ...(mayStain.test(file.text) ? [...nodesOf(file)] : []).flatMap(({ node, parent, key }) => {
        const stain = stainOf(node, parent, key);
        return stain === null ? [] : [`${file.path}:${lineOf(file, node)} uses ${stain}`];
      }),
    ]);
}

/** Every stain has one of these words; most files have none, and are not searched through. */
const mayStain = new RegExp(`\\b(?:await|random|${impureNames.join("|")})\\b`);

function stainOf(node: SyntaxNode, parent: SyntaxNode, key: string): string | null {
  if (node.type === "AwaitExpression") return "await";
  if (node.type === "ForOfStatement" && node["await"] === true) return "for await";
  if (isReference(node, parent, key) && impureNames.includes(String(node["name"]))) {
    return String(node["name"]);
  }

  if (node.type !== "MemberExpression") return null;
  const object = node["object"] as SyntaxNode;
  const property = node["property"] as SyntaxNode;

  return object["name"] === "Math" && property["name"] === "random" ? "Math.random" : null;
}

/**
 * String literals in the engine's folders that are a flow's, a phase's, a step's or a role's name
 * and no word of the language.
 */
export function namesKnownIn(files: readonly SourceFile[], names: ReadonlySet<string>): string[] {
  const vocabulary = vocabularyIn(files);
  return files
    .filter((file) => isProduct(file) && isBelow(file.path, namelessFolders))
    .flatMap((file) =>
      [...nodesOf(file)].flatMap(({ node, parent, key }) => {
        const word = literalOf(node);
        if (
          word === null ||
          !names.has(word) ||
          key === "source" ||
          Object.hasOwn(ordinaryWords, word)
        ) {
          return [];
        }

        const isLanguage = Object.hasOwn(onlyBeside, word)
          ? isBeside(onlyBeside[word] ?? [], node, parent)
          : vocabulary.has(word);
        return isLanguage ? [] : [`${file.path}:${lineOf(file, node)} knows the name "${word}"`];
      }),
    );
}

/** Every literal and every key in the files that make the language. */
function vocabularyIn(files: readonly SourceFile[]): Set<string> {
  const makers = files.filter(
    (file) => isProduct(file) && vocabularyOf.some((place) => file.path.startsWith(place)),
  );
  return new Set(
    makers.flatMap((file) =>
      [...nodesOf(file)].flatMap(({ node, key }) =>
        key === "key" && typeof node["name"] === "string"
          ? [node["name"]]
          : [literalOf(node) ?? []].flat(),
      ),
    ),
  );
}

function isBeside(names: readonly string[], node: SyntaxNode, parent: SyntaxNode): boolean {
  if (parent.type === "TSLiteralType") return true;
  if (parent.type !== "BinaryExpression") return false;
  const other = (parent["left"] === node ? parent["right"] : parent["left"]) as SyntaxNode;
  const named = other.type === "MemberExpression" ? (other["property"] as SyntaxNode) : other;

  return names.includes(String(named["name"]));
}

const idLine = /^\s*(?:-\s*)?\{?\s*(?:flow|id):\s*"?([A-Za-z][\w-]*)"?/gm;
const roleWord = /\bagent:\s*"?([A-Za-z][\w-]*)"?/g;
const idWord = /[{,]\s*id:\s*"?([A-Za-z][\w-]*)"?/g;

/** The names that flow files give: the flow's own, its phases' and steps', its roles'. */
export function namesInFlows(files: readonly SourceFile[]): Set<string> {
  const flows = files.filter((file) => file.path.endsWith(".yaml") && /^flow:/m.test(file.text));
  return new Set(
    flows.flatMap((file) =>
      [idLine, roleWord, idWord].flatMap((pattern) =>
        [...file.text.matchAll(pattern)].flatMap((match) => match[1] ?? []),
      ),
    ),
  );
}
