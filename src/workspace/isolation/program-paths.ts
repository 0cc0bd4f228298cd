// program-paths: finds the paths that a command needs so that its programs can be found and run:
// the program's file, its package, and the folders on its PATH.
//
// Invariants:
//   P1. No folder is mounted that contains a HOME, a hidden path, or half the machine: then only
//       the program's own file is.
//   P2. The path to a program is kept link by link, so that it is found by the name it was called
//       by.

import { existsSync, lstatSync, readlinkSync, statSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { toolRootMarkers } from "./sandbox-paths.ts";

/** The real path, and the links on the way. */
export type ResolvedPath = {
  readonly real: string;
  readonly links: readonly (readonly [link: string, target: string])[];
};

const linksMax = 40;

/** The path of a program that is on the PATH; null if it isn't. */
export function findProgramOnPath(name: string): string | null {
  const folders = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder.startsWith("/"));
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** Resolves a path link by link; null if nothing is there. P2 */
export function resolvePath(path: string): ResolvedPath | null {
  const links: (readonly [string, string])[] = [];
  let resolved = "/";
  let remaining = splitPath(path);
  for (let part = remaining.shift(); part !== undefined; part = remaining.shift()) {
    const next = join(resolved, part);
    const kind = readPathKind(next);
    if (kind === "none") return null;
    if (kind === "other") {
      resolved = next;
      continue;
    }

    if (links.length === linksMax) return null;
    const target = readlinkSync(next);
    links.push([next, target]);
    remaining = [...splitPath(target), ...remaining];
    if (target.startsWith("/")) resolved = "/";
  }

  return { real: resolved, links };
}

type Kind = "link" | "other" | "none";

/**
 * Cached until the current task ends: building a sandbox asks for some eighty paths, which share
 * the same few folders.
 */
const kindCache = new Map<string, Kind>();

function readPathKind(path: string): Kind {
  const cached = kindCache.get(path);
  if (cached !== undefined) return cached;
  const kind = statPathKind(path);
  if (kind === "none") return kind; // it may be created at any time
  if (kindCache.size === 0) queueMicrotask(() => kindCache.clear());
  kindCache.set(path, kind);

  return kind;
}

function statPathKind(path: string): Kind {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return "none";
    return stat.isSymbolicLink() ? "link" : "other";
  } catch {
    return "none"; // a path that we cannot read cannot be mounted either
  }
}

const splitPath = (path: string): string[] =>
  path.split("/").filter((part) => part !== "" && part !== ".");

export type ProgramInput = {
  readonly argv: readonly string[];
  readonly path: string;
  readonly home: string;
  /** Real paths that must not be mounted as part of something larger. */
  readonly hidden: readonly string[];
};

/** The paths to be mounted read-only, as the command names them. */
export function findProgramPaths(input: ProgramInput): readonly string[] {
  const folders = input.path.split(delimiter).filter((folder) => folder.startsWith("/"));
  const [program = "", ...args] = input.argv;

  const programFiles = program.includes("/")
    ? [program]
    : folders
        .map((folder) => join(folder, program))
        .filter(isFile)
        .slice(0, 1);

  // A script that an interpreter runs is as much part of the command as the interpreter.
  const scripts = args.filter((arg) => arg.startsWith("/") && isFile(arg));
  const files = [process.execPath, ...programFiles, ...scripts];
  const packages = files.flatMap((file) => {
    const resolved = resolvePath(file);
    return resolved === null ? [] : [file, findPackage(resolved.real, input)];
  });

  return [
    ...new Set([...folders.flatMap((folder) => findFolderPaths(folder, input)), ...packages]),
  ];
}

/**
 * A folder of the PATH, and the root of the tool it belongs to; none if it is hidden or too wide.
 */
function findFolderPaths(folder: string, input: ProgramInput): readonly string[] {
  const resolved = resolvePath(folder);
  if (resolved === null || input.hidden.some((hidden) => isWithin(resolved.real, hidden))) {
    return [];
  }

  if (isTooWide(resolved.real, input)) return [];
  return [folder, findToolRoot(resolved.real, input) ?? resolved.real];
}

/**
 * The package a program is part of: all of its node_modules, its package's folder, its tool's, or
 * itself alone.
 */
export function findPackage(real: string, input: ProgramInput): string {
  const modules = real.indexOf("/node_modules/");
  if (modules > 0) return real.slice(0, modules + "/node_modules".length);
  const prefix = findToolRoot(dirname(real), input);
  if (prefix !== null) return prefix;
  for (let folder = dirname(real); folder !== "/"; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return isTooWide(folder, input) ? real : folder; // P1
  }

  return real;
}

/** The folder above `bin` if it looks like the root of an installed tool. */
function findToolRoot(folder: string, input: ProgramInput): string | null {
  if (!["bin", "sbin", "shims"].includes(basename(folder))) return null;
  const prefix = dirname(folder);
  if (isTooWide(prefix, input) || basename(prefix) === ".local") return null; // P1

  return toolRootMarkers.some((mark) => existsSync(join(prefix, mark))) ? prefix : null;
}

/** Whether mounting a folder would show a HOME, a hidden path, or half the machine (P1). */
function isTooWide(folder: string, { home, hidden }: ProgramInput): boolean {
  return splitPath(folder).length < 2 || [home, ...hidden].some((path) => isWithin(path, folder));
}

export const isWithin = (path: string, folder: string): boolean =>
  folder === "/" || path === folder || path.startsWith(`${folder}/`);

const isFile = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
};
