// names: which file names mean git's own folder to some file system, and which two names are one on some machine. Pure.

/** Code points HFS+ leaves out when it compares names, so that a name holding them can still be `.git` there. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** A name as the laxest file system would read it: without case, what HFS+ leaves out and what NTFS cuts off at the end. */
export const plainName = (name: string): string =>
  (name.split(":")[0] ?? "")
    .replace(ignoredByHfs, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(/[ .]+$/, "");

/** Whether some file system would take this name for `.git`. */
export function isGitName(name: string): boolean {
  // A backslash or colon ends a name on Windows: `.git\config` and `.git::$INDEX_ALLOCATION` both open `.git` there.
  return name.split("\\").some((part) => {
    const plain = plainName(part);
    return plain === ".git" || /^git~\d+$/.test(plain);
  });
}

/** Whether some file system would take this name for `.gitmodules`: NTFS has short names of it, by its beginning or by a hash. */
export const isModulesName = (name: string): boolean => /^(?:\.gitmodules|(?:gitmod|gi7eba|gi7eb|gi7e)~\d+)$/.test(plainName(name));

/** Two paths that fold alike are one file on a file system that ignores case or normalises. */
export const folded = (path: string): string => path.replace(ignoredByHfs, "").normalize("NFC").toLowerCase().normalize("NFC");

/** Finds created paths that would be the same file, or lie in the same folder under another spelling, as a path that is there. */
export function collisionsOf(created: readonly string[], kept: Iterable<string>): { readonly path: string; readonly with: string }[] {
  if (created.length === 0) return [];
  const spellings = new Map<string, string>();
  const exact = new Set<string>();
  for (const path of kept) {
    for (const prefix of prefixesOf(path)) {
      if (exact.has(prefix)) continue;
      exact.add(prefix);
      spellings.set(folded(prefix), prefix);
    }
  }
  const collisions: { readonly path: string; readonly with: string }[] = [];
  for (const path of [...created].sort()) {
    for (const prefix of prefixesOf(path)) {
      // A tree that already holds both spellings is the user's affair; only a new spelling is a collision.
      if (exact.has(prefix)) continue;
      const other = spellings.get(folded(prefix));
      if (other === undefined) {
        spellings.set(folded(prefix), prefix);
        exact.add(prefix);
        continue;
      }
      collisions.push({ path, with: other });
      break;
    }
  }
  return collisions;
}

function prefixesOf(path: string): string[] {
  const prefixes: string[] = [];
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) prefixes.push(path.slice(0, at));
  prefixes.push(path);
  return prefixes;
}
