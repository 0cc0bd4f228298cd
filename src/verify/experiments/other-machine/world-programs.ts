// world-programs: what processes of Node and Python load in another world (other-world.ts), for
// facts that no variable can change: the number of processors, the user, whether a program writes
// to a terminal, what tests call their temporary folders, whether tests or a history lie beside the
// code. Pure: the texts are formats for `printf`, without a single quote, a backslash or a percent
// sign of their own.
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
  const isHidden = (asked) => {
    if (typeof asked !== "string" || !folders.includes(path.resolve(asked))) return false;
    const file = asker();
    return file !== "" && !isTest(file);
  };
  const { existsSync, statSync, accessSync } = fs;
  const missing = (asked) => Object.assign(new Error("ENOENT: no such file or directory, stat " + asked), { code: "ENOENT", errno: -2, path: asked });
  fs.existsSync = (asked) => !isHidden(asked) && existsSync(asked);
  fs.statSync = (asked, options) => {
    if (!isHidden(asked)) return statSync(asked, options);
    if (options && options.throwIfNoEntry === false) return undefined;
    throw missing(asked);
  };
  fs.accessSync = (asked, mode) => {
    if (isHidden(asked)) throw missing(asked);
    accessSync(asked, mode);
  };
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
    names = ("test", "tests", "spec", ".git")
    stat = os.stat

    def without_tests(path, *args, **options):
        asked = os.fspath(path) if isinstance(path, (str, os.PathLike)) else ""
        if str(asked).endswith(names) and os.path.abspath(asked) in [root + name for name in names]:
            file = asker()
            if file is not None and not is_test(file):
                raise FileNotFoundError(2, "No such file or directory", asked)
        return stat(path, *args, **options)

    for known in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
        if stat in known:
            known.add(without_tests)
    os.stat = without_tests
sys.path[:] = [path for path in sys.path if path != os.path.dirname(__file__)]
sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize
except ImportError:
    pass
sys.modules.setdefault("sitecustomize", ModuleType("sitecustomize"))
`;
