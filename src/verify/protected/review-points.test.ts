import { describe, expect, test } from "vitest";
import { isSetInTests, findReviewPoints, maySetInTests } from "./review-points.ts";

const seen = (path: string, before: string | null, after: string, more: { now?: string; isTest?: boolean; goal?: string } = {}) => {
  const kind = before === null ? ("added" as const) : ("changed" as const);
  const was = before === null ? null : "100644 a";
  return findReviewPoints({
    difference: { path, kind, was, now: more.now ?? "100644 b" },
    before,
    after,
    isTest: more.isTest ?? false,
    goal: more.goal ?? "",
  });
};
const whats = (...given: Parameters<typeof seen>): readonly string[] => seen(...given).map(({ what }) => what);

describe("a person is asked to look at", () => {
  test.each([
    [".github/workflows/test.yml", "on: push\n", "is run by a build server"],
    [".husky/pre-commit", "npm test\n", "is run by git"],
    [".vscode/tasks.json", "{}\n", "is run or read by an editor or a shell"],
    [".gitmodules", "", "names other repositories"],
    ["package.json", '{ "scripts": { "postinstall": "node x.js" } }\n', "is run when the project is installed"],
    ["src/a.ts", "// @ts-ignore\n", "keeps a checker from looking"],
    ["a.py", "x = 1  # noqa\n", "keeps a checker from looking"],
  ])("%s", (path, text, what) => expect(whats(path, null, text)).toEqual([what]));

  test("a file that became a program", () => expect(whats("run", "a", "b", { now: "100755 b" })).toEqual(["can be run as a program now"]));
});

test("the number of a process says nothing of a check", () => {
  expect(whats("src/a.js", null, "const temporary = `${file}.${process.pid}.tmp`;\n")).toEqual([]);
  expect(whats("a.py", null, "temporary = f'{path}.{os.getpid()}'\n")).toEqual([]);
});

describe("what code could tell a check by is a gap", () => {
  test("unless the goal names it in the same words", () => {
    const text = "export const ago = (then, now = Date.now()) => now - then;\n";
    expect(seen("src/ago.js", null, text, { goal: "ago(then, now = Date.now())" })).toEqual([
      { path: "src/ago.js", what: "reads the clock" },
    ]);
    expect(seen("src/ago.js", null, text, { goal: "tell how long ago it was" })[0]?.gap).toBe(true);
    expect(seen("src/ago.js", null, `${text}const t = performance.now();\n`, { goal: "use Date.now()" })[0]?.gap).toBe(true);
  });
  test.each([
    ["src/a.js", "const colour = !process.env.NO_COLOR;\n"],
    ["src/a.js", 'const { NO_COLOR, PORT = "80" } = process.env;\n'],
    ["a.py", 'colour = "NO_COLOR" not in os.environ and os.environ.get("PORT")\n'],
    ["a.go", 'if os.Getenv("NO_COLOR") != "" {\n'],
    ["src/lib.rs", 'let port = std::env::var("PORT");\n'],
    ["a.c", 'char *port = getenv("PORT");\n'],
  ])("unless goal or criteria name each variable that is read: %s %j", (path, text) => {
    expect(seen(path, null, text, { goal: "honour NO_COLOR and listen on PORT" })).toEqual([{ path, what: "reads the environment" }]);
    expect(seen(path, null, text, { goal: "be a good program" })[0]?.gap).toBe(true);
    expect(seen(path, null, `${text}load(process.env);\n`, { goal: "honour NO_COLOR and PORT" })[0]?.gap).toBe(true);
  });
  test("another variable beside the named one is a gap", () => {
    const text = "const colour = !process.env.NO_COLOR && !process.env.CI;\n";
    expect(seen("src/a.js", null, text, { goal: "honour NO_COLOR" })[0]?.gap).toBe(true);
    expect(seen("src/a.js", "const ci = process.env.CI;\n", text, { goal: "honour NO_COLOR" })[0]?.gap).toBeUndefined();
    expect(seen("src/a.js", null, "process.title + process.env.NO_COLOR;\n", { goal: "honour NO_COLOR" })[0]?.gap).toBe(true);
  });
  test.each([
    ["src/a.js", "if (process.env.CI) x();\n", "reads the environment"],
    ["a.py", "import sys\nprint(sys.argv)\n", "reads the command line"],
    ["src/a.js", "const s = new Error().stack;\n", "reads the stack"],
    ["src/a.js", "const line = readFileSync(`/proc/${process.pid}/cmdline`);\n", "reads the state of its process"],
    [
      "src/A.java",
      "Path p = Path.of(A.class.getProtectionDomain().getCodeSource().getLocation().toURI());\n",
      "reads which machine or program it is in",
    ],
    ["a.py", "import time\nt = time.time()\n", "reads the clock"],
    ["src/a.js", "if (+YEAR.format() > 2030) x();\n", "reads the clock"],
    ["lib/A.pm", "return 1 if $^T > 5;\n", "reads the clock"],
    ["lib/a.sh", '[ -n "$MAKELEVEL" ] || return\n', "reads the environment"],
    ["lib/a.sh", "[[ ${FUNCNAME[1]} = check ]]\n", "reads the stack"],
    ["lib/A.pm", "return 1 if (caller)[1] =~ /t$/;\n", "reads the stack"],
    ["src/a.js", "if (os.availableParallelism() > 4) x();\n", "reads which machine or program it is in"],
    ["a.c", "if (program_invocation_short_name[0] == 'w') return 1;\n", "reads which machine or program it is in"],
    ["fold.go", "if runtime.NumGoroutine() > 1 {\n", "reads the state of its process"],
    ["src/lib.rs", "match std::thread::current().name() {\n", "reads the state of its process"],
    ["src/a.js", 'readFileSync("test/words.test.js");\n', "names a path that tests may have"],
    ["src/a.js", "exports.load = (env) => env.NODE_ENV === 'development';\n", "names what a test runner may set"],
    ["src/a.ts", "// @ts-nocheck\n", "keeps a checker from the whole file"],
  ])("%s %j", (path, text, what) => expect(seen(path, null, text)).toEqual([{ path, what, gap: true }]));

  test("but not what a module of JavaScript reads as the main program", () => {
    const own = "process.argv[1] === fileURLToPath(import.meta.url)";
    const block = `if (${own}) {\n  const [a] = process.argv.slice(2);\n\n  console.log(count(a));\n}\n`;
    expect(seen("scripts/a.js", null, `export const count = (x) => 1;\n\n${block}`)).toEqual([]);
    expect(seen("scripts/a.js", null, `if (${own}) main(process.argv.slice(2));\n`)).toEqual([]);
    expect(seen("scripts/a.cjs", null, "if (require.main === module) main(process.argv);\n")).toEqual([]);
    const told = ["reads the command line"];
    expect(whats("src/a.js", null, `${block}const seen = process.argv;\n`)).toEqual(told);
    expect(whats("src/a.js", null, `if (${own.replace("===", "!==")}) {\n  x(process.argv);\n}\n`)).toEqual(told);
    expect(whats("src/a.js", null, `if (${own} || process.argv[1].endsWith("x")) {\n  x();\n}\n`)).toEqual(told);
  });

  test("and the user, a terminal, or whether tests lie beside it", () => {
    expect(whats("lib/a.sh", null, '[ -t 1 ] && x=1\n[ "$EUID" = 0 ] && [ -d tests ]\n')).toEqual([
      "reads which machine or program it is in",
      "asks whether it writes to a terminal",
      "names a path that tests may have",
    ]);
    expect(whats("src/a.c", null, "int x = isatty(STDOUT_FILENO) && getuid();\n")).toHaveLength(2);
    expect(whats("src/a.py", null, "import os\nx = os.path.isdir('tests')\n")).toEqual(["names a path that tests may have"]);
    expect(seen("src/a.py", null, "kind = 'tests'\nshown = sys.stdout.isatty()\n")).toEqual([]); // asked by an experiment
    expect(seen("lib/a.sh", null, "[ -t 1 ] && x=1\n", { goal: "Print errors in colour" })).toEqual([
      { path: "lib/a.sh", what: "asks whether it writes to a terminal" },
    ]);
  });

  test.each([
    ['System.getProperty("java.class.path")', "reads the environment"],
    ["Money.class.desiredAssertionStatus()", "reads the environment"],
    ["new Throwable().getStackTrace()", "reads the stack"],
    ["System.nanoTime()", "reads the clock"],
    ['Class.forName("bank.AllTests")', "names a path that tests may have"],
  ])("in Java: %s", (text, what) => expect(whats("src/A.java", null, `boolean x = f(${text});\n`)).toEqual([what]));

  test("but not what any machine has, in Java", () => {
    expect(seen("src/A.java", null, 'String end = System.getProperty("line.separator");\n')).toEqual([]);
  });

  test("but not what a Python program reads where it is not imported", () => {
    const guarded = 'if __name__ == "__main__":\n    import sys\n\n    print(count(sys.argv))\n';
    expect(seen("a.py", null, `def count(x):\n    return 1\n\n\n${guarded}`)).toEqual([]);
    expect(whats("a.py", null, `${guarded}\nimport sys\nseen = sys.argv\n`)).toEqual(["reads the command line"]);
  });

  test("nor the arguments of what nobody can import, by the language's own rules", () => {
    expect(seen("cmd/wc/main.go", null, "package main\n\nvar a = os.Args\n")).toEqual([
      { path: "cmd/wc/main.go", what: "reads the command line" },
    ]);
    expect(seen("src/main.rs", null, "fn main() {\n    env::args();\n}\n")).toEqual([
      { path: "src/main.rs", what: "reads the command line" },
    ]);
    const tested = "fn main() {\n    env::args();\n}\n#[cfg(test)]\nmod tests {}\n";
    expect(seen("src/main.rs", null, tested)).toEqual([{ path: "src/main.rs", what: "reads the command line", gap: true }]);
    expect(seen("bin/wc.js", null, "#!/usr/bin/env node\nprocess.argv;\n")).toMatchObject([{ gap: true }]);
  });

  test("but not what was there before, nor what tests read", () => {
    expect(seen("src/a.js", "process.env.A;\n", "process.env.B;\n")).toEqual([]);
    expect(seen("test/a.test.js", null, "process.env.A;\n", { isTest: true })).toEqual([]);
    expect(seen("README.md", null, "Set process.env.A.\n")).toEqual([]);
  });
});

describe("what a module reads and its tests set is what they ask for", () => {
  const reads = (what: string) => ({ path: "app/settings.py", what, gap: true as const });
  test("the environment and the clock", () => {
    const sets = 'from app.settings import load\n\ndef test_a(monkeypatch):\n    monkeypatch.setenv("PORT", "1")\n';
    expect(isSetInTests(reads("reads the environment"), [sets])).toBe(true);
    expect(isSetInTests(reads("reads the clock"), [sets])).toBe(false);
    expect(isSetInTests(reads("reads the clock"), ["settings.ago(then, now=DAY)"])).toBe(true);
  });

  test("not in tests of another module, nor whatever else lets code find out where it runs", () => {
    expect(isSetInTests(reads("reads the environment"), ['import other\nmonkeypatch.setenv("PORT", "1")\n'])).toBe(false);
    expect(isSetInTests(reads("reads the environment"), ["settings.load() == process.env.A"])).toBe(false);
    expect([reads("reads the stack"), reads("reads the clock"), { path: "a", what: "reads the clock" }].map(maySetInTests)).toEqual([
      false,
      true,
      false,
    ]);
  });
});
