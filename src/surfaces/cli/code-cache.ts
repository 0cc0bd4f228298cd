// code-cache: caches V8's compiled code of our own files in the user's cache folder, so that a
// start does not compile a megabyte again. Node does this itself from version 22 on; before that,
// the files are compiled here.
//
// Invariants:
//   K1. Nothing is taken from a folder or a file that another user owns, that others may write to,
//       or that is a link, nor from below such a folder: it is code. `doctor` says why. Nor from a
//       folder in a repository (`XDG_CACHE_HOME` below a checkout, as some CI has it): its contents
//       may be foreign.
//   K2. It never keeps a command from running. Code that is missing, damaged, or not accepted by V8
//       (another version, other flags) is compiled anew. Damage is detected here by checksums,
//       because V8 would crash on it.
//   K3. A cache file belongs to one build of ours and one version of Node. It is written whole
//       under another name, synced, and renamed.
//   K4. Only a process that had to compile something writes the file, and it keeps the code that
//       others had cached.

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import Module from "node:module";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { findCodeCacheFolder, whyNoCache } from "../../project/code-cache-folder.ts";

/** Parts of Node's loader that have no types. */
type LoadedModule = { readonly exports: unknown; readonly require: (name: string) => unknown };
type Loader = {
  readonly wrap: (text: string) => string;
  readonly enableCompileCache?: (folder: string) => unknown;
  readonly prototype: { _compile: (this: LoadedModule, text: string, file: string) => unknown };
};
type ModuleFunction = (
  this: unknown,
  exports: unknown,
  require: LoadedModule["require"],
  module: LoadedModule,
  file: string,
  folder: string,
) => unknown;
/** The position of one file's code in the cache file, and its checksum. */
type CacheRow = readonly [name: string, offset: number, length: number, checksum: number];

/** The newest cache files, of other builds and other versions of Node too, that stay. */
const filesMax = 4;
/** A longer table is no table of ours. */
const tableBytesMax = 1024 * 1024;
/**
 * A cache file begins with the length and the checksum of its table, 4 bytes each; then come the
 * table and the code.
 */
const headBytes = 8;

/**
 * Loads our files from the code cache from now on. `build` names this build; the environment can
 * switch the cache off.
 */
export function enableCodeCache(build: string): void {
  try {
    const loader = Module as unknown as Loader;
    const folder = findCodeCacheFolder(process.env);
    if (folder === null || whyNoCache(folder) !== null) return; // K1
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (whyNoCache(folder) !== null) return; // K1: created by another process meanwhile
    if (loader.enableCompileCache !== undefined) loader.enableCompileCache(folder);
    else compileWithCache(loader, join(folder, `${build}-${process.version}-${process.arch}`));
  } catch {
    return; // K2
  }
}

/** K1: throws unless it is a file that only this user may write to. */
function requireUsersOwn(stat: { readonly uid: number; readonly mode: number } | null): void {
  if (
    stat === null ||
    (process.getuid !== undefined && stat.uid !== process.getuid()) ||
    (stat.mode & 0o022) !== 0
  ) {
    throw new Error("it is not the user's alone");
  }
}

/** Replaces Node's own compiling of our files by one that asks the cache first. */
function compileWithCache(loader: Loader, file: string): void {
  const cache = openCache(file);
  const scripts = new Map<string, Script>();
  const loadingModules = new Map<string, LoadedModule>();
  let isNew = false;
  const compile = loader.prototype._compile;
  loader.prototype._compile = function (text, path) {
    const name = basename(path);
    if (dirname(path) !== __dirname) return compile.call(this, text, path);
    const cachedData = cache.read(name);
    const script = new Script(loader.wrap(text), {
      filename: path,
      ...(cachedData === null ? {} : { cachedData }),
    });
    isNew ||= cachedData === null || script.cachedDataRejected === true;
    scripts.set(name, script);
    const run = script.runInThisContext() as ModuleFunction;
    // Our files require each other a thousand times, and Node would resolve the path each time.
    const require = (id: string): unknown =>
      (loadingModules.get(id) ?? { exports: this.require(id) }).exports;
    loadingModules.set(`./${name}`, this);

    try {
      return run.call(this.exports, this.exports, require, this, path, __dirname);
    } catch (error) {
      loadingModules.delete(`./${name}`);
      throw error;
    }
  };

  process.once("exit", () => {
    try {
      if (isNew) writeCache(file, cache, scripts); // K4
    } catch {
      return; // K2
    }
  });
}

type CodeCache = {
  readonly rows: readonly CacheRow[];
  readonly read: (name: string) => Buffer | null;
};
const emptyCache: CodeCache = { rows: [], read: () => null };

/**
 * The file stays open for code that is loaded later, because another process may replace it
 * meanwhile.
 */
function openCache(file: string): CodeCache {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return emptyCache;
  }

  try {
    const stat = fstatSync(fd);
    requireUsersOwn(stat.isFile() ? stat : null);
    const head = readAt(fd, 0, headBytes);
    const length = head.readUInt32LE(0);
    const table = readAt(fd, headBytes, Math.min(length, tableBytesMax));
    if (crc32(table) !== head.readUInt32LE(4)) throw new Error("it is damaged");
    const rows = JSON.parse(table.toString("latin1")) as readonly CacheRow[];
    const rowsByName = new Map(rows.map((row) => [row[0], row]));
    const readSound = ([, offset, size, checksum]: CacheRow): Buffer | null => {
      const bytes = readAt(fd, headBytes + length + offset, size);
      return crc32(bytes) === checksum ? bytes : null;
    };

    return {
      rows,
      read: (name) => {
        const row = rowsByName.get(name);
        try {
          return row === undefined ? null : readSound(row);
        } catch {
          return null; // K2
        }
      },
    };
  } catch {
    closeSync(fd);
    return emptyCache;
  }
}

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  if (readSync(fd, bytes, 0, length, position) !== length) throw new Error("it ends too early");
  return bytes;
}

/**
 * Writes the code compiled here, with every function that has run by now, unless the cached code is
 * larger; and what others had cached.
 */
function writeCache(file: string, cache: CodeCache, loaded: ReadonlyMap<string, Script>): void {
  const codeByName = new Map(cache.rows.flatMap(([name]) => [[name, cache.read(name)] as const]));
  for (const [name, script] of loaded) {
    const code = script.createCachedData();
    if ((codeByName.get(name)?.length ?? 0) < code.length) codeByName.set(name, code);
  }

  const parts = [...codeByName].flatMap(([name, bytes]) =>
    bytes === null ? [] : [{ name, bytes }],
  );

  let offset = 0;
  const rows = parts.map(({ name, bytes }): CacheRow => {
    const row: CacheRow = [name, offset, bytes.length, crc32(bytes)];
    offset += bytes.length;
    return row;
  });
  const table = Buffer.from(JSON.stringify(rows), "latin1");
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(table.length, 0);
  head.writeUInt32LE(crc32(table), 4);
  const temporary = `${file}.${process.pid}`;
  const fd = openSync(temporary, "wx", 0o600);

  try {
    for (const bytes of [head, table, ...parts.map((part) => part.bytes)]) {
      for (let index = 0; index < bytes.length;) index += writeSync(fd, bytes, index);
    }

    fsyncSync(fd);
    renameSync(temporary, file); // K3
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }

  deleteOld(dirname(file));
}

/**
 * Deletes all but the newest few files: those of other builds and other versions of Node, and what
 * a killed process left.
 */
function deleteOld(folder: string): void {
  const files = readdirSync(folder).map((name) => ({
    path: join(folder, name),
    ms: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  }));

  for (const { path } of files.sort((a, b) => b.ms - a.ms).slice(filesMax)) {
    rmSync(path, { force: true });
  }
}
