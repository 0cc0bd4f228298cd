// imports: who may import whom, and no rings.

import { apartRooms, mayEnter, mayUse, typesOnlyRooms } from "./house.ts";
import { importsOf, isProduct, nodesOf, roomOf, type SourceFile, treeOf } from "./source.ts";

export function strangersIn(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isProduct(file) && !(roomOf(file.path) in mayEnter))
    .map((file) => `${file.path}: src/${roomOf(file.path)} is no room of the house`);
}

export function trespassesIn(files: readonly SourceFile[]): string[] {
  return files.filter(isProduct).flatMap((file) => {
    const room = roomOf(file.path);
    return importsOf(file).flatMap(({ target, line }) => {
      if (target === null || target === "package.json") return []; // the product may know its own version
      if (!target.startsWith("src/")) return [`${file.path}:${line} imports ${target}, which is not part of the product`];
      const entered = roomOf(target);
      if (entered !== room)
        return (mayEnter[room] ?? []).includes(entered) ? [] : [`${file.path}:${line}: ${room} may not import ${entered}`];
      const part = (path: string): string => path.split("/")[2] ?? "";
      if (apartRooms.includes(room) && part(target) !== part(file.path))
        return [`${file.path}:${line}: ${part(file.path)} may not import ${part(target)}`];
      return [];
    });
  });
}

/** A package is used only where the law names it; every import of ours bears its ending, so that no resolver has to guess. */
export function foreignPackagesIn(files: readonly SourceFile[]): string[] {
  return files.filter(isProduct).flatMap((file) =>
    importsOf(file).flatMap(({ spec, target, line }) => {
      if (target !== null) return /\.(ts|json|md|yaml)$/.test(spec) ? [] : [`${file.path}:${line}: import ${spec} with its ending`];
      if (spec.startsWith("node:")) return [];
      const name = spec.startsWith("@") ? spec.split("/").slice(0, 2).join("/") : (spec.split("/")[0] ?? spec);
      return (mayUse[name] ?? []).includes(roomOf(file.path)) ? [] : [`${file.path}:${line}: ${roomOf(file.path)} may not use ${name}`];
    }),
  );
}

/** Files that reach themselves, by however long a way, types included: each ring once, its files in order of name. */
export function ringsIn(files: readonly SourceFile[]): string[] {
  const graph = new Map(files.filter(isProduct).map((file) => [file.path, importsOf(file).flatMap(({ target }) => target ?? [])]));
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

/** Files of a room of promises that hold something that runs. */
export function deedsAmongPromisesIn(files: readonly SourceFile[]): string[] {
  const isPromise = /^(ImportDeclaration|TSTypeAliasDeclaration|TSInterfaceDeclaration|ExportNamedDeclaration|ExportAllDeclaration)$/;
  return files
    .filter((file) => isProduct(file) && typesOnlyRooms.includes(roomOf(file.path)))
    .flatMap((file) => {
      const body = treeOf(file)["body"] as readonly { readonly type: string; readonly declaration?: { readonly type: string } | null }[];
      const deeds = body.filter(
        (node) =>
          !isPromise.test(node.type) ||
          (node.declaration !== null &&
            node.declaration !== undefined &&
            !/^TS(TypeAlias|Interface)Declaration$/.test(node.declaration.type)),
      );
      const runs = [...nodesOf(file)].some(({ node }) => node.type === "ImportDeclaration" && node["importKind"] !== "type");
      return deeds.length > 0 || runs ? [`${file.path}: only types and interfaces belong here`] : [];
    });
}
