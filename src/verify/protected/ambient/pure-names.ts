// pure-names: the names by which code asks nothing of the world it runs in: the language's own
// library, and what it is given. Whatever else has no definition in its file is ambient. Pure data.

import { aboutTerminals } from "../review-patterns.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Words of JavaScript and TypeScript, and what every world of JavaScript has. */
export const pureGlobals = words(`
  abstract any arguments as asserts async await bigint boolean break case catch class const continue
  debugger declare default delete do else enum export extends false finally for from function get
  if implements import in infer instanceof interface is keyof let namespace never new null number
  object of out override package private protected public readonly return satisfies set static
  string super switch symbol this throw true try type typeof undefined unique unknown using var void
  while with yield
  AbortController AbortSignal AggregateError Array ArrayBuffer AsyncIterator Atomics BigInt
  BigInt64Array BigUint64Array Blob Boolean BroadcastChannel Buffer ByteLengthQueuingStrategy
  CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DataView Date
  DecompressionStream Error EvalError Event EventSource EventTarget File FinalizationRegistry
  Float16Array Float32Array Float64Array FormData Headers Infinity Int16Array Int32Array Int8Array
  Intl Iterator JSON Map Math MessageChannel MessagePort NaN NodeJS Number Object Promise Proxy
  RangeError ReadableStream ReferenceError Reflect RegExp Request Response Set SharedArrayBuffer
  String SubtleCrypto Symbol SyntaxError TextDecoder TextDecoderStream TextEncoder
  TextEncoderStream TransformStream TypeError URIError URL URLPattern URLSearchParams Uint16Array
  Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly WebSocket
  WritableStream __dirname __filename atob btoa clearImmediate clearInterval clearTimeout console
  crypto decodeURI decodeURIComponent define encodeURI encodeURIComponent escape exports fetch
  isFinite isNaN parseFloat parseInt queueMicrotask setImmediate setInterval setTimeout
  structuredClone Temporal unescape
`);

const listing = (names: string): RegExp =>
  new RegExp(`^(?:${names.trim().split(/\s+/).join("|")})(?:\\.|$)`);

const standardStream = `std(?:in|out|err)$ std(?:in|out|err)\\.(?:write|end|on|once|off|pipe|isTTY|
  columns|rows|fd|destroyed|writable\\w*|readable\\w*|read|resume|pause|ref|unref|cork|uncork|
  setEncoding|setRawMode|isRaw|getColorDepth|hasColors|getWindowSize|clearLine|cursorTo|moveCursor|
  removeListener|removeAllListeners|addListener|destroy)`.replaceAll(/\|\s+/g, "|");

/**
 * The members of the modules and objects of Node that speak of the world around the code, by which
 * it finds out nothing of who runs it. All members of other modules are pure.
 */
export const nodeMembers: Readonly<Record<string, RegExp>> = {
  async_hooks: listing("AsyncLocalStorage AsyncResource"),
  cluster: listing("fork on once disconnect setupPrimary"),
  diagnostics_channel: listing("channel subscribe unsubscribe tracingChannel"),
  inspector: listing("Session open close"),
  "import.meta": listing("url dirname filename main resolve"),
  module: listing("createRequire builtinModules isBuiltin exports filename stripTypeScriptTypes"),
  os: listing("EOL arch constants devNull endianness homedir platform release tmpdir type version"),
  perf_hooks: listing("PerformanceObserver createHistogram"),
  performance: listing("now mark measure clearMarks clearMeasures getEntriesByName"),
  process:
    listing(`abort addListener arch argv argv0 chdir config cwd disconnect emitWarning env exit
    exitCode execPath features hrtime kill nextTick off on once pid platform release removeListener
    umask version versions ${standardStream}`),
  require: listing("resolve"),
  v8: listing("serialize deserialize Serializer Deserializer"),
  vm: listing("Script SourceTextModule SyntheticModule createContext isContext"),
  worker_threads: listing("Worker MessageChannel MessagePort BroadcastChannel"),
};

/**
 * The same of Python. Classes, constants and calls that are given something are pure without being
 * named.
 */
export const pythonMembers: Readonly<Record<string, RegExp>> = {
  __main__: /(?!)/,
  builtins: listing(
    "open print input range len str int float bool list dict set tuple bytes object type super property",
  ),
  faulthandler: listing("enable disable"),
  gc: listing("collect enable disable freeze"),
  getpass: listing("getpass"),
  importlib: listing("reload resources metadata abc machinery"),
  inspect: listing("signature cleandoc is[a-z]+"),
  locale: listing("setlocale format_string currency atof atoi"),
  logging: /^(?!root\b)(?!getLogger$)/,
  multiprocessing: listing("get_context set_start_method freeze_support"),
  os: listing(
    "path sep altsep extsep pathsep linesep curdir pardir devnull name error environ environb getcwd getcwdb listdir scandir walk pipe urandom fork getpid get_terminal_size open umask wait",
  ),
  platform: listing("system machine python_\\w+ release version architecture"),
  pwd: listing("struct_passwd"),
  resource: listing("setrlimit"),
  signal: listing("signal pause alarm set_wakeup_fd"),
  site: listing("addsitedir"),
  socket: listing("socket socketpair create_connection create_server error timeout"),
  subprocess: listing("list2cmdline"),
  sys: listing(`__stderr__ __stdin__ __stdout__ argv byteorder exc_info executable exit float_info
    getdefaultencoding getfilesystemencoding getrecursionlimit hash_info hexversion implementation
    int_info intern maxsize maxunicode path platform setrecursionlimit stdlib_module_names builtin_module_names version
    version_info stderr stdin stdout`),
  sysconfig: listing("get_python_version"),
  threading: listing("local excepthook"),
  time: listing("sleep struct_time"),
  traceback: listing("format_exc print_exc format_exception print_exception"),
  tracemalloc: listing("start stop"),
};

/** Modules of Node whose answers are about what they are given, unless it is written out. */
export const askingModules = /^(?:child_process|fs|fs\/promises)$/;
/** A path that is no part of the project. */
export const absolutePath = /^\(\s*["'`]\/(?!dev\/(?:std|null|tty|fd))/;

/**
 * What a goal that asks for these things speaks of: then code may look at them.
 */
export const topics: readonly (readonly [root: RegExp, words: RegExp])[] = [
  [
    /^(?:typeof )?(?!process|global|eval|Function)[\w$]+$/,
    /\bbrowsers?\b|\bweb ?pages?\b|\bDOM\b|\bfront-?end\b/i,
  ],
  [
    /^(?:worker_threads|cluster|threading|multiprocessing)\./,
    /\b(?:workers?|threads?|threaded|clusters?|parallel\w*|concurren\w+)\b/i,
  ],
  [
    /\.(?:availableParallelism|cpus|cpu_count)$/,
    /\b(?:cores?|cpus?|processors?|parallel\w*|concurren\w+|workers?)\b/i,
  ],
  [/^signal\.|\.listener/, /\bsignals?\b|\bSIG[A-Z]+\b/],
  [/^gc\.|memory/i, /\bmemory\b|\bgarbage\b/i],
  [/^(?:TMPDIR|TE?MP|mktemp)$/, /\btemp(?:orary)?\b|\btmp\b/i],
  [/^(?:PWD|OLDPWD|pwd)$/, /\b(?:current|working|own) (?:folder|director)|\bcwd\b/i],
  [/^HOME$/, /\bhome\b/i],
  [
    /^(?:date|SECONDS|EPOCH\w+|systime)$/,
    /\b(?:dates?|today|clock|time\w*|seconds?|minutes?|hours?|days?)\b/i,
  ],
  [/^-[tp] /, aboutTerminals],
  [/^(?:locale|time)\./, /\blocales?\b|\blocal\b|\btime ?zones?\b/i],
];

/** What Python knows of a module, and of all names around a place. */
export const pythonAmbient =
  /^(?:__(?:name|package|spec|loader|builtins|cached|import)__|globals|locals|vars|dir|eval|exec)$/;

/** Whether a global is none of Node's own, and so a page's or somebody else's. */
export const isPageGlobal = (name: string): boolean =>
  name !== "" &&
  !/^(?:global(?:This)?|eval|Function)$/.test(name) &&
  !(name in nodeMembers) &&
  !askingModules.test(name);
