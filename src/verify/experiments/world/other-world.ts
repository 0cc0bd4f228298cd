// other-world: a command as it runs where everything that must not matter to code is different: another time zone, language, number of
// processors, user, hash seed, and kind of output. Pure.
//
// Invariants:
//   W1. What is different is different for tools as well, so it stays within what any machine could be: no tool fails by it.
//   W2. The command itself is as it was: its words, its folder, its files. Only Go, which asks the system alone, is given another question.

export const facts = ["time zone", "language", "number of processors", "user", "hash seed", "output"] as const;
export type Fact = (typeof facts)[number];

/** More than most machines that check, and few enough for the workers that a test runner starts. */
const processorsMany = 9;
const processorsFew = 2;
/** `nobody`, who has an entry on every system. */
const otherUser = 65_534;

/** Sets up the world in a shell; the command follows on lines of its own (W2). */
export function inOtherWorld(command: string, different: readonly Fact[] = facts): string {
  const lines = different.map((fact) => linesOf[fact](command)).filter((line) => line !== "");
  const isLoaded = different.includes("number of processors") || different.includes("user");
  const values = `${different.includes("number of processors") ? '"$_processors"' : 0} ${different.includes("user") ? otherUser : 0}`;
  return [...lines, ...(isLoaded ? [loadPrograms(values)] : []), command].join("\n");
}

const linesOf: Readonly<Record<Fact, (command: string) => string>> = {
  "time zone": () => "export TZ=Pacific/Kiritimati",
  // ICU needs no installed locale; for what asks the system, one that is not installed is an error. Messages of tools stay English.
  language: () =>
    `if { [ -f package.json ] || locale -a | grep -qix 'de_DE[.]utf-*8'; } 2>/dev/null; then unset LC_ALL LC_MESSAGES; export LC_CTYPE=C.UTF-8 LANG=de_DE.UTF-8 LANGUAGE=en PERL_BADLANG=0; fi`,
  "number of processors": () =>
    `_processors=${processorsMany}; if [ "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" -ge ${processorsMany} ]; then _processors=${processorsFew}; taskset -cp 0-${processorsFew - 1} $$ >/dev/null 2>&1; fi; export GOMAXPROCS="$_processors" PYTHON_CPU_COUNT="$_processors"; ${askGo}`,
  user: () => "export USER=nobody LOGNAME=nobody",
  "hash seed": () => "export PYTHONHASHSEED=4242",
  output: (command) => {
    const programs = /\$\(|`|(?<!\|)\|(?!\|)/.test(command) ? [...command.matchAll(interpreter)].map((match) => match[1] ?? "") : [];
    return [...new Set(programs)].map(intoFile).join("\n");
  },
};

/** `GOMAXPROCS(0)` is the number of processors too, and a variable can change it. */
const askGo = `[ ! -f go.mod ] || grep -rlZ --include='*.go' 'runtime[.]NumCPU()' . | xargs -0r sed -i 's/runtime[.]NumCPU()/runtime.GOMAXPROCS(0)/g'`;

/** Programs whose output a command reads itself. */
const interpreter = /(?:^|[;&|(`]|\b(?:then|do|if|while|!))\s*(node|deno|bun|python3?|ruby|perl|php|java|bash)(?=\s)/g;
const intoFile = (name: string): string =>
  `${name}() { _output=$(mktemp) && { command ${name} "$@" >"$_output"; set -- $?; cat "$_output"; return "$1"; }; }`;

/** What no variable can change: loaded into processes of Node and Python. */
const loadPrograms = (values: string): string =>
  [
    `_world=$(mktemp -d) && printf '${nodeProgram}' ${values} >"$_world/world.cjs" && printf '${pythonProgram}' ${values} >"$_world/sitecustomize.py"`,
    `export NODE_OPTIONS="\${NODE_OPTIONS:+$NODE_OPTIONS }--require=$_world/world.cjs" PYTHONPATH="\${PYTHONPATH:+$PYTHONPATH:}$_world"`,
  ].join(" && ");

const nodeProgram = `const os = require("os"), processors = %s, user = %s;
if (processors > 0) {
  const [one = {}] = os.cpus();
  os.cpus = () => Array.from({ length: processors }, () => ({ ...one }));
  os.availableParallelism = () => processors;
}
if (user > 0) {
  const was = os.userInfo;
  os.userInfo = (options) => ({ ...was(options), uid: user, gid: user, username: "nobody" });
  os.hostname = () => "localhost";
  process.getuid = process.geteuid = () => user;
}
require("module").syncBuiltinESMExports();
`;

const pythonProgram = `import os, sys
from types import ModuleType
processors, user = %s, %s
if processors > 0:
    os.cpu_count = os.process_cpu_count = lambda: processors
    os.sched_getaffinity = lambda pid: set(range(processors))
if user > 0:
    os.getuid = os.geteuid = lambda: user
sys.path[:] = [one for one in sys.path if one != os.path.dirname(__file__)]
sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize
except ImportError:
    pass
sys.modules.setdefault("sitecustomize", ModuleType("sitecustomize"))
`;
