// code-cache: caches V8's compiled code of our own files in the user's cache folder, so that a start does not compile a megabyte again.
// Node does this itself from version 22 on; before that, the files are compiled here.
//
// Invariants:
//   K1. Nothing is taken from a folder or a file that another user owns, that others may write to, or that is a link, nor from below such a
//       folder: it is code. `doctor` says why. Nor from a folder in a repository (`XDG_CACHE_HOME` below a checkout, as some CI has it):
//       its contents may be foreign.
//   K2. It never keeps a command from running. What is not there, is damaged, or V8 does not accept (another version, other flags), is
//       compiled. V8 itself does not look for damage, and would crash.
//   K3. A file belongs to one build of ours and one version of Node, is written whole beside its name, synced, and renamed.
//   K4. Only a process that had to compile something writes, and keeps what others found; a process that is killed writes nothing.

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
import { codeCacheFolder, whyNoCache } from "../../project/code-cache-folder.ts";

/** Parts of Node's loader that have no types. */
type Loaded = { readonly exports: unknown; readonly require: (name: string) => unknown };
type Loader = {
  readonly wrap: (text: string) => string;
  readonly enableCompileCache?: (folder: string) => unknown;
  readonly prototype: { _compile: (this: Loaded, text: string, file: string) => unknown };
};
type Run = (this: unknown, exports: unknown, require: Loaded["require"], module: Loaded, file: string, folder: string) => unknown;
/** The position of one file's code in the cache file, and its checksum. */
type Row = readonly [name: string, at: number, length: number, sum: number];

const filesMax = 4;
const tableBytesMax = 1 << 20;
const headBytes = 8;

/** Loads our files from the code cache from now on. `build` names this build; the environment can switch the cache off. */
export function enableCodeCache(build: string): void {
  try {
    const loader = Module as unknown as Loader;
    const folder = codeCacheFolder(process.env);
    if (folder === null || whyNoCache(folder) !== null) return; // K1
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (whyNoCache(folder) !== null) return; // K1: created by another process meanwhile
    if (loader.enableCompileCache !== undefined) loader.enableCompileCache(folder);
    else compileHere(loader, join(folder, `${build}-${process.version}-${process.arch}`));
  } catch {
    return; // K2
  }
}

/** K1 */
function requireOwn(stat: { readonly uid: number; readonly mode: number } | null): void {
  if (stat === null || (process.getuid !== undefined && stat.uid !== process.getuid()) || (stat.mode & 0o022) !== 0)
    throw new Error("it is not the user's alone");
}

function compileHere(loader: Loader, file: string): void {
  const cache = openCache(file);
  const scripts = new Map<string, Script>();
  const loadingModules = new Map<string, Loaded>();
  let isNew = false;
  const compile = loader.prototype._compile;
  loader.prototype._compile = function (text, path) {
    const name = basename(path);
    if (dirname(path) !== __dirname) return compile.call(this, text, path);
    const cachedData = cache.read(name);
    const script = new Script(loader.wrap(text), { filename: path, ...(cachedData === null ? {} : { cachedData }) });
    isNew ||= cachedData === null || script.cachedDataRejected === true;
    scripts.set(name, script);
    const run = script.runInThisContext() as Run;
    // Our files require each other a thousand times, and Node would resolve the path each time.
    const require = (id: string): unknown => (loadingModules.get(id) ?? { exports: this.require(id) }).exports;
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
      if (isNew) write(file, cache, scripts); // K4
    } catch {
      return; // K2
    }
  });
}

type CodeCache = { readonly rows: readonly Row[]; readonly read: (name: string) => Buffer | null };
const emptyCache: CodeCache = { rows: [], read: () => null };

/** The file stays open for what is loaded later: it may be replaced meanwhile. */
function openCache(file: string): CodeCache {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return emptyCache;
  }
  try {
    const stat = fstatSync(fd);
    requireOwn(stat.isFile() ? stat : null);
    const head = readAt(fd, 0, headBytes);
    const length = head.readUInt32LE(0);
    const table = readAt(fd, headBytes, Math.min(length, tableBytesMax));
    if (crc32(table) !== head.readUInt32LE(4)) throw new Error("it is damaged");
    const rows = JSON.parse(table.toString("latin1")) as readonly Row[];
    const rowsByName = new Map(rows.map((row) => [row[0], row]));
    const readSound = ([, at, size, sum]: Row): Buffer | null => {
      const bytes = readAt(fd, headBytes + length + at, size);
      return crc32(bytes) === sum ? bytes : null;
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

function readAt(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  if (readSync(fd, bytes, 0, length, at) !== length) throw new Error("it ends too early");
  return bytes;
}

/** What was compiled here, with all that ran by now, unless more of it is known; and what others found. */
function write(file: string, cache: CodeCache, loaded: ReadonlyMap<string, Script>): void {
  const codeByName = new Map(cache.rows.flatMap(([name]) => [[name, cache.read(name)] as const]));
  for (const [name, script] of loaded) {
    const code = script.createCachedData();
    if ((codeByName.get(name)?.length ?? 0) < code.length) codeByName.set(name, code);
  }
  const parts = [...codeByName].flatMap(([name, bytes]) => (bytes === null ? [] : [{ name, bytes }]));
  let end = 0;
  const rows = parts.map(({ name, bytes }): Row => [name, (end += bytes.length) - bytes.length, bytes.length, crc32(bytes)]);
  const table = Buffer.from(JSON.stringify(rows), "latin1");
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(table.length, 0);
  head.writeUInt32LE(crc32(table), 4);
  const draft = `${file}.${process.pid}`;
  const fd = openSync(draft, "wx", 0o600);
  try {
    for (const bytes of [head, table, ...parts.map(({ bytes: own }) => own)])
      for (let index = 0; index < bytes.length;) index += writeSync(fd, bytes, index);
    fsyncSync(fd);
    renameSync(draft, file); // K3
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  deleteOld(dirname(file));
}

/** Other builds and other versions of Node: the newest few stay. */
function deleteOld(folder: string): void {
  const files = readdirSync(folder).map((name) => ({
    path: join(folder, name),
    ms: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  }));
  for (const { path } of files.sort((a, b) => b.ms - a.ms).slice(filesMax)) rmSync(path, { force: true });
}
