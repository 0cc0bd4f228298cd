// imports: who may import whom, and no rings.

import {
  apartFolders,
  filesInFolderMax,
  mayImport,
  mayUse,
  surfaceEntries,
  typesOnlyFolders,
} from "./house.ts";
import {
  folderOf,
  importsOf,
  isBelow,
  isProduct,
  nodesOf,
  type SourceFile,
  treeOf,
} from "./source.ts";

export function strangersIn(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isProduct(file) && !(folderOf(file.path) in mayImport))
    .map((file) => `${file.path}: src/${folderOf(file.path)} is no folder of the table`);
}

/** Folders in which more source files lie side by side than one can look over. */
export function crowdedFoldersIn(files: readonly SourceFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { path } of files.filter(isProduct)) {
    const folder = path.slice(0, path.lastIndexOf("/"));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }

  return [...counts]
    .filter(([, count]) => count > filesInFolderMax)
    .map(
      ([folder, count]) =>
        `${folder} holds ${count} files side by side, at most ${filesInFolderMax}`,
    );
}

export function trespassesIn(files: readonly SourceFile[]): string[] {
  return files.filter(isProduct).flatMap((file) => {
    const folder = folderOf(file.path);
    return importsOf(file).flatMap(({ target, line }) => {
      if (target === null || target === "package.json") return []; // the product may know its own version
      if (!target.startsWith("src/")) {
        return [`${file.path}:${line} imports ${target}, which is not part of the product`];
      }

      const entered = folderOf(target);
      if (entered !== folder) {
        return (mayImport[folder] ?? []).includes(entered)
          ? []
          : [`${file.path}:${line}: ${folder} may not import ${entered}`];
      }

      const part = (path: string): string => path.split("/")[2] ?? "";
      if (part(file.path) === "cli" && surfaceEntries.includes(target)) return [];
      if (apartFolders.includes(folder) && part(target) !== part(file.path)) {
        return [`${file.path}:${line}: ${part(file.path)} may not import ${part(target)}`];
      }

      return [];
    });
  });
}

/**
 * A package is used only where the law names it; every import of ours has its ending, so that no
 * resolver has to guess.
 */
export function foreignPackagesIn(files: readonly SourceFile[]): string[] {
  return files.filter(isProduct).flatMap((file) =>
    importsOf(file).flatMap(({ spec, target, line }) => {
      if (target !== null) {
        return /\.(ts|json|md|yaml)$/.test(spec)
          ? []
          : [`${file.path}:${line}: import ${spec} with its ending`];
      }

      if (spec.startsWith("node:")) return [];
      const name = spec.startsWith("@")
        ? spec.split("/").slice(0, 2).join("/")
        : (spec.split("/")[0] ?? spec);
      return isBelow(file.path, mayUse[name] ?? [])
        ? []
        : [`${file.path}:${line}: ${folderOf(file.path)} may not use ${name}`];
    }),
  );
}

/**
 * Files that reach themselves, by however long a way, types included: each ring once, its files in
 * order of name.
 */
export function ringsIn(files: readonly SourceFile[]): string[] {
  const graph = new Map(
    files
      .filter(isProduct)
      .map((file) => [file.path, importsOf(file).flatMap(({ target }) => target ?? [])]),
  );
  const reached = new Map([...graph.keys()].map((path) => [path, reachableFrom(path, graph)]));

  const rings = [...graph.keys()]
    .filter((path) => reached.get(path)?.has(path))
    .map((path) =>
      [...(reached.get(path) ?? [])]
        .filter((other) => reached.get(other)?.has(path))
        .sort()
        .join(" -> "),
    );
  return [...new Set(rings)];
}

function reachableFrom(start: string, graph: ReadonlyMap<string, readonly string[]>): Set<string> {
  const seen = new Set<string>();
  const open = [...(graph.get(start) ?? [])];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...(graph.get(at) ?? []));
  }

  return seen;
}

/** Files of a folder of promises that hold something that runs. */
export function implementationsInPortsIn(files: readonly SourceFile[]): string[] {
  const isPromise =
    /^(ImportDeclaration|TSTypeAliasDeclaration|TSInterfaceDeclaration|ExportNamedDeclaration|ExportAllDeclaration)$/;
  return files
    .filter((file) => isProduct(file) && typesOnlyFolders.includes(folderOf(file.path)))
    .flatMap((file) => {
      const body = treeOf(file)["body"] as readonly {
        readonly type: string;
        readonly declaration?: { readonly type: string } | null;
      }[];
      const actions = body.filter(
        (node) =>
          !isPromise.test(node.type) ||
          (node.declaration !== null &&
            node.declaration !== undefined &&
            !/^TS(TypeAlias|Interface)Declaration$/.test(node.declaration.type)),
      );

      const runs = [...nodesOf(file)].some(
        ({ node }) => node.type === "ImportDeclaration" && node["importKind"] !== "type",
      );
      return actions.length > 0 || runs
        ? [`${file.path}: only types and interfaces belong here`]
        : [];
    });
}
