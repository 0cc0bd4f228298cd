// confusable-names: tells which file names mean `.git` or `.gitmodules` on some file system, and
// which two paths are one file on some machine. Pure.

/**
 * Code points HFS+ ignores when it compares names, so that a name with them can still be `.git`
 * there.
 */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * A name as the most tolerant file system reads it: without case, and without what HFS+ ignores and
 * NTFS strips: dots at the end, `:stream`.
 */
export const toPlainName = (name: string): string =>
  (name.split(":")[0] ?? "")
    .replace(ignoredByHfs, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(/[ .]+$/, "");

/** Whether some file system treats this name as `.git`. */
export function isGitName(name: string): boolean {
  // A backslash or colon ends a name on Windows: `.git\config` and `.git::$INDEX_ALLOCATION` both
  // open `.git` there.
  return name.split("\\").some((part) => {
    const plain = toPlainName(part);
    return plain === ".git" || /^git~\d+$/.test(plain);
  });
}

/**
 * Whether some file system treats this name as `.gitmodules`: NTFS gives it short names such as
 * `GITMOD~1` and, by a hash, `GI7EBA~1`.
 */
export const isModulesName = (name: string): boolean =>
  /^(?:\.gitmodules|(?:gitmod|gi7eba|gi7eb|gi7e)~\d+)$/.test(toPlainName(name));

/**
 * Two paths with the same folded form are one file on a file system that ignores case or normalises
 * Unicode.
 */
export const foldCase = (path: string): string =>
  path.replace(ignoredByHfs, "").normalize("NFC").toLowerCase().normalize("NFC"); // lower case letters may combine anew

export type NameCollision = { readonly path: string; readonly otherPath: string };

/**
 * Finds new paths that would be the same file as another path, or in the same folder under another
 * spelling.
 */
export function findCollisions(
  created: readonly string[],
  kept: Iterable<string>,
): readonly NameCollision[] {
  if (created.length === 0) return [];
  const spellings = new Map<string, string>();
  const usedPaths = new Set<string>();

  for (const path of kept) {
    for (const prefix of listPathPrefixes(path)) {
      if (usedPaths.has(prefix)) continue;
      usedPaths.add(prefix);
      spellings.set(foldCase(prefix), prefix);
    }
  }

  const collisions: NameCollision[] = [];
  for (const path of [...created].sort()) {
    for (const prefix of listPathPrefixes(path)) {
      // A tree that already has both spellings is the user's affair; only a new spelling is a
      // collision.
      if (usedPaths.has(prefix)) continue;
      const otherPath = spellings.get(foldCase(prefix));
      if (otherPath === undefined) {
        spellings.set(foldCase(prefix), prefix);
        usedPaths.add(prefix);
        continue;
      }

      collisions.push({ path, otherPath });
      break;
    }
  }

  return collisions;
}

/** The folders above a path and the path itself: `a`, `a/b`. */
function listPathPrefixes(path: string): string[] {
  const prefixes: string[] = [];
  for (let index = path.indexOf("/"); index !== -1; index = path.indexOf("/", index + 1)) {
    prefixes.push(path.slice(0, index));
  }

  prefixes.push(path);
  return prefixes;
}
