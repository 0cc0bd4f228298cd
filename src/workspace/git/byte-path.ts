// byte-path: a path inside a tree, exactly as git and the disk have it. A file name need not be
// UTF-8, so the workspace keeps a path as its bytes, one character each (latin1), and converts it
// to text only for globs and for people.

export type BytePath = string & { readonly bytePath: true };

/** It keeps a byte order mark: that is part of a name. */
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const bytePathFromBytes = (bytes: Buffer): BytePath => bytes.toString("latin1") as BytePath;
export const bytePathFromText = (text: string): BytePath =>
  bytePathFromBytes(Buffer.from(text, "utf8"));
export const bytePathToBytes = (path: BytePath): Buffer => Buffer.from(path, "latin1");
export const joinBytePath = (folder: BytePath, name: BytePath): BytePath =>
  folder === "" ? name : (`${folder}/${name}` as BytePath);
export const splitBytePath = (path: BytePath): BytePath[] =>
  path === "" ? [] : (path.split("/") as BytePath[]);

/** The folder of a path (empty at the top) and its name in it: `a/b` and `c` for `a/b/c`. */
export function splitLastPart(path: BytePath): readonly [folder: BytePath, name: BytePath] {
  const slash = path.lastIndexOf("/");
  return [path.slice(0, Math.max(slash, 0)) as BytePath, path.slice(slash + 1) as BytePath];
}

/**
 * Where a path of a tree is on disk, for a tree whose root is this folder. Bytes, since a name need
 * not be text.
 */
export const toDiskPath = (root: string, path: BytePath): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), bytePathToBytes(path)]);

/** The path as text; null if its bytes aren't UTF-8. */
export function bytePathToText(path: BytePath): string | null {
  if (/^[\x00-\x7f]*$/.test(path)) return path;
  try {
    return utf8Decoder.decode(bytePathToBytes(path));
  } catch {
    return null;
  }
}

/** The path for people: bytes that aren't UTF-8 are shown as replacement characters. */
export const displayPath = (path: BytePath): string =>
  bytePathToText(path) ?? bytePathToBytes(path).toString("utf8");

/** Every folder above a path, the nearest last: `a` and `a/b` for `a/b/c`. */
export function listParentFolders(path: BytePath): BytePath[] {
  const folders: BytePath[] = [];
  for (let index = path.indexOf("/"); index !== -1; index = path.indexOf("/", index + 1)) {
    folders.push(path.slice(0, index) as BytePath);
  }

  return folders;
}
