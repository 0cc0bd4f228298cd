// local-packages: links packages that a project's npm lock file takes from the project itself (`npm
// install ./units`, workspaces) into a checkout, if the copied installation doesn't have them yet:
// their code is part of the tree, so nothing needs to be installed.

import { lstat, mkdir, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { bytePathFromText } from "../git/byte-path.ts";
import { readObject } from "../git/object-reader.ts";
import { isTree } from "../git/tree.ts";
import { openTreeFolders } from "../git/tree-folders.ts";
import type { RunWorkspace } from "../run-workspace.ts";

const lockFile = "package-lock.json";
const lockBytesMax = 16 << 20;
/** `node_modules/name` or `node_modules/@scope/name`. */
const packagePathPattern = /^node_modules\/(?:@[\w-][\w.-]*\/)?[\w-][\w.-]*$/;

type LocalPackage = { readonly path: string; readonly source: string };

/**
 * Links the packages. A run ignores `node_modules` at the top unless it is part of the tree
 * (git/installed-folders.ts), so nothing judged changes.
 */
export async function linkLocalPackages(
  run: RunWorkspace,
  folder: string,
  tree: GitSha,
): Promise<void> {
  const { call } = run.shadow;
  const folders = openTreeFolders(call);
  const lock = await folders.findEntry(tree, bytePathFromText(lockFile));
  if (lock?.mode.startsWith("100") !== true) return;
  const localPackages = parseLocalPackages(
    (await readObject(call, lock.sha, lockBytesMax))?.content?.toString("utf8") ?? "",
  );
  if (
    localPackages.length === 0 ||
    (await folders.findEntry(tree, bytePathFromText("node_modules"))) !== undefined
  ) {
    return;
  }

  for (const { path, source } of localPackages) {
    if (
      !isTree(await folders.findEntry(tree, bytePathFromText(source))) ||
      (await existsInAny(run.checkouts.foldersOf(folder), path))
    ) {
      continue;
    }

    const link = join(folder, path);
    await mkdir(dirname(link), { recursive: true });
    await symlink(relative(dirname(path), source), link);
  }
}

/**
 * The lock file's packages that are folders of the project. A folder outside the project is left
 * out.
 */
export function parseLocalPackages(text: string): readonly LocalPackage[] {
  if (!text.includes('"link"')) return []; // most lock files are large, and need not be parsed
  const { packages } = parseLock(text);
  return Object.entries(packages ?? {}).flatMap(([path, entry]) => {
    const source =
      entry?.link === true && typeof entry.resolved === "string"
        ? entry.resolved.replace(/^\.\//, "")
        : "";
    const isInside =
      source !== "" &&
      source.split("/").every((part) => part !== "" && part !== "." && part !== "..");
    return packagePathPattern.test(path) && isInside ? [{ path, source }] : [];
  });
}

type Lock = {
  readonly packages?: Readonly<
    Record<string, { readonly link?: unknown; readonly resolved?: unknown } | null>
  >;
};

function parseLock(text: string): Lock {
  try {
    return (JSON.parse(text) as Lock | null) ?? {};
  } catch {
    return {};
  }
}

/** Whether one of the folders has something at the path, if only a dangling link. */
async function existsInAny(folders: readonly string[], path: string): Promise<boolean> {
  const entries = await Promise.all(
    folders.map((folder) => lstat(join(folder, path)).catch(() => null)),
  );
  return entries.some((entry) => entry !== null);
}
