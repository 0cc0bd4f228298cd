// source: the repository's files as the rules see them: path, text and, for TypeScript, the parsed
// tree.

import { mayImport } from "./house.ts";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, resolve, sep } from "node:path";
import { parseAst } from "rolldown/parseAst";

/** One file, its path relative to the repository with forward slashes. */
export type SourceFile = { readonly path: string; readonly text: string };
/** A node of the parsed tree; what it holds depends on `type`. */
export type SyntaxNode = {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
};

export const repository = resolve(import.meta.dirname, "../..");

/**
 * The checkout and its neighbours, as absolute paths; in an ordinary folder for temporary or home
 * files the neighbours are nobody's business.
 */
export function workPlaces(): string[] {
  const parent = dirname(repository);
  const isOrdinary =
    parent === "/" || /^\/(tmp|var|home|root|usr|opt|mnt|srv|Users|private)(\/|$)/.test(parent);
  const places = isOrdinary ? [repository] : readdirSync(parent).map((name) => join(parent, name));

  // A checkout right below the root has a name that any example might use.
  return places.filter((place) => place.split(sep).length > 2);
}

const skippedFolders = new Set(["node_modules", "dist", ".git", ".autopilot", "coverage"]);
const textEndings =
  /\.(ts|mjs|cjs|js|json|md|yaml|yml|toml|sh|txt)$|^(LICENSE|run|\.npmrc|\.gitignore|\.oxlintrc\.json|\.oxfmtrc\.json)$/;

/** Every text file of the repository that is ours. */
export function readRepository(): SourceFile[] {
  return walk(repository).map((path) => ({
    path: relative(repository, path).split(sep).join("/"),
    text: readFileSync(path, "utf8"),
  }));
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : walk(path);
    return entry.isFile() && textEndings.test(entry.name) ? [path] : [];
  });
}

export const isTest = (file: SourceFile): boolean =>
  file.path.endsWith(".test.ts") || file.path.startsWith("test/");
/** TypeScript of the product itself, without its tests. */
export const isProduct = (file: SourceFile): boolean =>
  file.path.startsWith("src/") && file.path.endsWith(".ts") && !file.path.endsWith(".test.ts");
export const isTypeScript = (file: SourceFile): boolean =>
  file.path.endsWith(".ts") && !file.path.startsWith("test/fixtures/");
/**
 * The folder of src/ whose rules hold for a file: the longest that is named in the table; else the
 * first.
 */
export const folderOf = (path: string): string => {
  const parts = path.split("/").slice(1, -1);
  const named = parts
    .map((_, at) => parts.slice(0, parts.length - at).join("/"))
    .find((folder) => Object.hasOwn(mayImport, folder));
  return named ?? parts[0] ?? "";
};
export const isBelow = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => path.startsWith(`src/${folder}/`));
export const lineOf = (file: SourceFile, node: SyntaxNode): number =>
  file.text.slice(0, node.start).split("\n").length;

const trees = new WeakMap<SourceFile, SyntaxNode>();
/** The parsed tree; kept, because a dozen rules ask for it. */
export function treeOf(file: SourceFile): SyntaxNode {
  const known = trees.get(file);
  if (known !== undefined) return known;
  const tree = parseAst(file.text, { lang: "ts" }) as unknown as SyntaxNode;
  trees.set(file, tree);

  return tree;
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

/** Every node with its parent and the parent's key that holds it, in the order of the text. */
export function* nodesOf(
  file: SourceFile,
): Generator<{ readonly node: SyntaxNode; readonly parent: SyntaxNode; readonly key: string }> {
  const open: { node: SyntaxNode; parent: SyntaxNode; key: string }[] = [];
  const push = (parent: SyntaxNode): void => {
    const first = open.length;
    for (const key in parent) {
      const value = parent[key];
      if (Array.isArray(value)) {
        for (const node of value) if (isNode(node)) open.push({ node, parent, key });
      } else if (isNode(value)) {
        open.push({ node: value, parent, key });
      }
    }

    reverseFrom(open, first);
  };
  push(treeOf(file));

  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    push(next.node);
  }
}

function reverseFrom(items: unknown[], first: number): void {
  for (let low = first, high = items.length - 1; low < high; low += 1, high -= 1) {
    const [one, other] = [items[low], items[high]];
    [items[low], items[high]] = [other, one];
  }
}

const importingTypes = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType",
]);

export type Import = {
  readonly spec: string;
  readonly target: string | null;
  readonly line: number;
};
/** What a file imports, types and lazy imports included; `target` is the path of a file of ours. */
export function importsOf(file: SourceFile): readonly Import[] {
  const known = imports.get(file) ?? readImports(file);
  imports.set(file, known);
  return known;
}

const imports = new WeakMap<SourceFile, readonly Import[]>();

/**
 * An import that is no declaration may be anywhere; a file whose every `import` begins a line is
 * not searched through, and no further than its last line that names a file is read.
 */
const lazyImport = /(?<!^)\bimport\b|^import\s*[(/]/m;
const namesFile = /(?:\bfrom|^import)\s*["'][^"'\n]*["'][^\n]*$/gm;

function readImports(file: SourceFile): Import[] {
  const isAtTop = !lazyImport.test(file.text);
  const nodes = isAtTop ? declarationsOf(file) : [...nodesOf(file)].map(({ node }) => node);
  return nodes.flatMap((node) => {
    if (!importingTypes.has(node.type) || !isNode(node["source"])) return [];
    const spec = node["source"]["value"];
    if (typeof spec !== "string") return [];

    const target = spec.startsWith(".")
      ? normalize(join(dirname(file.path), spec))
          .split(sep)
          .join("/")
      : null;

    return [{ spec, target, line: lineOf(file, node) }];
  });
}

/** The declarations of a file up to its last import; all of them where it cannot be cut there. */
function declarationsOf(file: SourceFile): readonly SyntaxNode[] {
  const last = [...file.text.matchAll(namesFile)].at(-1);
  const end = last === undefined ? 0 : last.index + last[0].length;
  if (trees.has(file) || end > file.text.length / 2) return bodyOf(treeOf(file));
  try {
    return bodyOf(parseAst(file.text.slice(0, end), { lang: "ts" }) as unknown as SyntaxNode);
  } catch {
    return bodyOf(treeOf(file)); // such a line stands in a text or within braces
  }
}

const bodyOf = (tree: SyntaxNode): readonly SyntaxNode[] => tree["body"] as readonly SyntaxNode[];

/** The text of a string literal or of a template without holes; null for anything else. */
export function literalOf(node: SyntaxNode): string | null {
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node.type !== "TemplateElement") return null;
  const value = node["value"] as { readonly cooked?: string } | undefined;

  return value?.cooked ?? null;
}

/** An identifier that stands for itself, not for a property of something. */
export function isReference(node: SyntaxNode, parent: SyntaxNode, key: string): boolean {
  if (node.type !== "Identifier") return false;
  if (parent.type === "MemberExpression" && key === "property" && parent["computed"] !== true) {
    return false;
  }

  return !(key === "key" && parent["computed"] !== true);
}

const declaringKeys = new Set(["id", "params", "left", "key", "elements", "value", "argument"]);
const declaringTypes =
  /^(VariableDeclarator|FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ClassDeclaration|TSTypeAliasDeclaration|TSInterfaceDeclaration|TSPropertySignature|TSMethodSignature|MethodDefinition|PropertyDefinition|TSTypeParameter)$/;
/**
 * A name that this file brings into the world: a binding, a function, a type, a field of a type.
 */
export const isDeclared = (node: SyntaxNode, parent: SyntaxNode, key: string): boolean =>
  node.type === "Identifier" &&
  declaringTypes.test(parent.type) &&
  declaringKeys.has(key) &&
  !(parent.type === "PropertyDefinition" && key === "value");
