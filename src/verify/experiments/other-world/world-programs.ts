// world-programs: what processes of Node and Python load in another world (wrap-in-other-world.ts),
// for facts that no variable can change: the number of processors, the user, whether a program
// writes to a terminal, what tests call their temporary folders, whether tests or a history lie
// beside the code. Pure: the texts are formats for `printf`, without a single quote, a backslash or
// a percent sign of their own.
//
// Invariants:
//   P1. A test runner keeps its usual world as far as its own output goes: only programs of the
//       project write to a terminal.
//   P2. Only temporary folders that tests make get another name and place, and only the code, not
//       its tests, finds no folder of tests.

/**
 * Another number of processors and user, 0 for the usual ones; then, each 0 or 1: terminal,
 * temporary folders, no tests.
 */
export type WorldValues = readonly [
  processors: string,
  user: string,
  terminal: string,
  temporary: string,
  testless: string,
];

/**
 * Writes both programs into a folder, with a link to the project's, and lets processes load them.
 */
export const loadPrograms = (values: WorldValues): string =>
  [
    `_world=$(mktemp -d) && ln -s "$PWD" "$_world/root" && printf '${nodeProgram}' ${values.join(" ")} >"$_world/world.cjs" && printf '${pythonProgram}' ${values.join(" ")} >"$_world/sitecustomize.py"`,
    `export NODE_OPTIONS="\${NODE_OPTIONS:+$NODE_OPTIONS }--require=$_world/world.cjs" PYTHONPATH="\${PYTHONPATH:+$PYTHONPATH:}$_world"`,
  ].join(" && ");

const nodeProgram = `const os = require("os"), fs = require("fs"), path = require("path"), tty = require("tty");
const processors = %s, user = %s, terminal = %s, temporary = %s, testless = %s;
const root = fs.realpathSync(path.join(__dirname, "root")) + path.sep;
const isOurs = (file) => file.startsWith(root) && !file.includes("node_modules");
const isTest = (file) => /test|spec/i.test(file.slice(root.length));
if (processors > 0) {
  const [processor = {}] = os.cpus();
  os.cpus = () => Array.from({ length: processors }, () => ({ ...processor }));
  os.availableParallelism = () => processors;
}
if (user > 0) {
  const { userInfo } = os;
  os.userInfo = (options) => ({ ...userInfo(options), uid: user, gid: user, username: "nobody" });
  os.hostname = () => "localhost";
  process.getuid = process.geteuid = () => user;
}
const main = process.argv[1] || "";
if (terminal > 0 && isOurs(main) && !isTest(main)) {
  const { isatty } = tty;
  tty.isatty = (fd) => fd === 1 || fd === 2 || isatty(fd);
  const done = () => true;
  const size = { columns: 80, rows: 24, getWindowSize: () => [80, 24], hasColors: () => false, getColorDepth: () => 1 };
  const moves = { clearLine: done, cursorTo: done, moveCursor: done, clearScreenDown: done };
  for (const stream of [process.stdout, process.stderr]) Object.assign(stream, { isTTY: true }, size, moves);
}
/** The nearest file of the project that asks, or nothing. */
const asker = () => {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  const isPlace = (text) => text.includes(root) && !text.includes("node_modules") && !text.includes(__dirname);
  const line = String(new Error().stack).split("at ").find(isPlace);
  Error.stackTraceLimit = limit;
  return line === undefined ? "" : line.slice(line.indexOf(root));
};
if (temporary > 0) {
  const elsewhere = (prefix) => {
    if (typeof prefix !== "string" || !isTest(asker())) return prefix;
    return path.join(path.dirname(prefix) === os.tmpdir() ? os.homedir() : path.dirname(prefix), "w");
  };
  for (const [from, name] of [[fs, "mkdtempSync"], [fs, "mkdtemp"], [fs.promises, "mkdtemp"]]) {
    const make = from[name];
    from[name] = (prefix, ...rest) => make(elsewhere(prefix), ...rest);
  }
}
if (testless > 0) {
  const folders = ["test", "tests", "spec", "__tests__", ".git"].map((name) => root + name);
  const toPath = (asked) => {
    if (asked instanceof URL) return asked.protocol === "file:" ? require("url").fileURLToPath(asked) : "";
    return Buffer.isBuffer(asked) ? asked.toString() : typeof asked === "string" ? asked : "";
  };
  const isHidden = (asked, isRead) => {
    const place = path.resolve(toPath(asked) || path.sep);
    if (!folders.some((folder) => place === folder || place.startsWith(folder + path.sep))) return false;
    const file = asker();
    return file !== "" && !isTest(file) && !(isRead && file.startsWith(main + ":"));
  };
  const missing = (asked) => Object.assign(new Error("ENOENT: no such file or directory, stat " + toPath(asked)), { code: "ENOENT", errno: -2, path: toPath(asked) });
  const { exists, existsSync } = fs;
  fs.existsSync = (asked) => !isHidden(asked, false) && existsSync(asked);
  fs.exists = (asked, done) => (isHidden(asked, false) ? process.nextTick(done, false) : exists(asked, done));
  for (const name of ["stat", "lstat", "access", "readdir", "opendir", "realpath", "open", "readFile"]) {
    const isRead = !["stat", "lstat", "access"].includes(name);
    const [inSync, called, promised] = [fs[name + "Sync"], fs[name], fs.promises[name]];
    const hideSync = (asked, options, ...rest) => {
      if (!isHidden(asked, isRead)) return inSync.call(fs, asked, options, ...rest);
      if (options && options.throwIfNoEntry === false) return undefined;
      throw missing(asked);
    };
    const hideCalled = (asked, ...rest) => {
      if (!isHidden(asked, isRead)) return called.call(fs, asked, ...rest);
      process.nextTick(rest.at(-1), missing(asked));
    };
    fs[name + "Sync"] = Object.assign(hideSync, inSync);
    fs[name] = Object.assign(hideCalled, called);
    if (promised) fs.promises[name] = (asked, ...rest) => (isHidden(asked, isRead) ? Promise.reject(missing(asked)) : promised.call(fs.promises, asked, ...rest));
  }
}
require("module").syncBuiltinESMExports();
`;

const pythonProgram = `import os, sys
from types import ModuleType
processors, user, terminal, temporary, testless = %s, %s, %s, %s, %s
root = os.path.realpath(os.path.join(os.path.dirname(__file__), "root")) + os.sep


def is_test(path):
    return "test" in path[len(root):].lower()


def is_place(file):
    return file.startswith(root) and "-packages" not in file and not file.startswith(os.path.dirname(__file__))


def asker():
    frame = sys._getframe(2)
    while frame is not None and not is_place(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else frame.f_code.co_filename


def is_program():
    words = getattr(sys, "orig_argv", [])[1:]
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c"):
        words = words[1:]
    if not words or words[0] == "-c":
        return False
    path = os.path.join(root, words[1].split(".")[0]) if words[0] == "-m" and len(words) > 1 else os.path.realpath(words[0])
    return path.startswith(root) and not is_test(path) and (os.path.exists(path) or os.path.exists(path + ".py"))


if processors > 0:
    os.cpu_count = os.process_cpu_count = lambda: processors
    os.sched_getaffinity = lambda pid: set(range(processors))
if user > 0:
    getuid = os.getuid
    # pytest compares the owner of its temporary folder with the user
    os.getuid = os.geteuid = lambda: getuid() if sys._getframe(1).f_globals.get("__name__", "").startswith("_pytest.") else user
if terminal > 0 and is_program():
    isatty = os.isatty
    os.isatty = lambda fd: fd in (1, 2) or isatty(fd)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.isatty = lambda: True
if temporary > 0:
    import tempfile
    sanitize = tempfile._sanitize_params

    def elsewhere(prefix, suffix, dir):
        prefix, suffix, dir, kind = sanitize(prefix, suffix, dir)
        file = asker()
        if file is not None and is_test(file):
            prefix = "w" if kind is str else b"w"
        return prefix, suffix, dir, kind

    tempfile._sanitize_params = elsewhere
if testless > 0:
    import builtins, io
    folders = tuple(root + name for name in ("test", "tests", "spec", ".git"))

    def is_hidden(asked):
        if not isinstance(asked, (str, os.PathLike)):
            return False
        place = os.path.abspath(os.fspath(asked))
        if not isinstance(place, str) or not any(place == folder or place.startswith(folder + os.sep) for folder in folders):
            return False
        file = asker()
        return file is not None and not is_test(file)

    def hide(module, name):
        original = getattr(module, name)

        def without_tests(asked=".", *args, **options):
            if is_hidden(asked):
                raise FileNotFoundError(2, "No such file or directory", asked)
            return original(asked, *args, **options)

        for known in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
            if original in known:
                known.add(without_tests)
        setattr(module, name, without_tests)

    for name in ("stat", "lstat", "listdir", "scandir"):
        hide(os, name)
    hide(builtins, "open")
    io.open = builtins.open
    access = os.access
    os.access = lambda asked, *args, **options: not is_hidden(asked) and access(asked, *args, **options)
sys.path[:] = [path for path in sys.path if path != os.path.dirname(__file__)]
sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize
except ImportError:
    pass
sys.modules.setdefault("sitecustomize", ModuleType("sitecustomize"))
`;
