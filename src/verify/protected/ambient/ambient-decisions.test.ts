import { describe, expect, test } from "vitest";
import { findAmbientDecisions, isNamedIn } from "./ambient-decisions.ts";

const shown = (path: string, text: string): readonly string[] =>
  findAmbientDecisions(path, text).map((decision) => decision.shown);

describe("code decides by what it was not given", () => {
  test.each([
    ['if (typeof window !== "undefined") x();', "typeof window"],
    ['return process.listenerCount("SIGTERM") > 0 ? 0 : n;', 'process.listenerCount("SIGTERM")'],
    ["const n = globalThis.foo ?? 1;", "globalThis.foo"],
    ["if (globalThis[Symbol.for('x')]) x();", "globalThis[Symbol.for('x')]"],
    ["return 'describe' in globalThis;", "globalThis"],
    ["if (Object.keys(globalThis).includes('it')) x();", "globalThis"],
    ["if (Object.keys(require.cache).length > 3) x();", "require.cache"],
    ["if (!module.parent) x();", "module.parent"],
    ["if (process.binding('natives').x) x();", "process.binding('natives').x"],
    ["if (process._getActiveHandles().length) x();", "process._getActiveHandles().length"],
    ["for (const h of process._getActiveHandles()) x(h);", "process._getActiveHandles()"],
    ["const tested = process.title; if (tested) x();", "process.title"],
    ["const { title } = process;\nif (title) x();", "title"],
    ["const p = process;\nif (p.title) x();", "p.title"],
    ["const at = () => process.ppid;\nexport const f = () => (at() ? 1 : 2);", "process.ppid"],
    ["function at() {\n  return process.ppid;\n}\nif (at()) x();", "process.ppid"],
    [
      "class A {\n  #it = process.send;\n  f() {\n    return 1;\n  }\n}\nif (process.connected) x();",
      "process.connected",
    ],
    ["return [n, 0][Number(process.connected)];", "process.connected"],
    ["return n * Number(process.connected);", "process.connected"],
    ["switch (import.meta.vitest) {}", "import.meta.vitest"],
    ["return `${typeof window === 'object' ? 1 : 2}`;", "typeof window"],
    ["if (new Function('return this')().it) x();", "Function('return this')().it"],
    ["if (require('os').cpus().length > 2) x();", "require('os').cpus().length"],
    ["if ((await import('node:os')).uptime() > 2) x();", "import('node:os')).uptime()"],
    ["if (eval('typeof window') === 'object') x();", "eval('typeof window')"],
    ["function other(window) {}\nif (window) x();", "window"],
    ["while (performance.nodeTiming.idleTime > 1) x();", "performance.nodeTiming.idleTime"],
    ['import os from "node:os";\nif (os.cpus().length > 4) x();', "os.cpus().length"],
    ['import { uptime as up } from "os";\nif (up() > 4) x();', "up()"],
    ['const { isMainThread } = require("worker_threads");\nif (isMainThread) x();', "isMainThread"],
    [
      'import { existsSync } from "node:fs";\nif (existsSync("/.dockerenv")) x();',
      'existsSync("/.dockerenv")',
    ],
    [
      'import { execSync } from "node:child_process";\nif (execSync("id -u") > 0) x();',
      'execSync("id -u")',
    ],
  ])("in JavaScript: %s", (text, what) =>
    expect(
      shown("src/a.js", `const x = () => {};\nexport const a = (n) => {\n${text}\n};\n`),
    ).toEqual([what]),
  );

  test("in TypeScript, where a declaration alone gives a name no value", () =>
    expect(
      shown("src/a.ts", "declare const window: unknown;\nexport const a = window ? 1 : 2;\n"),
    ).toEqual(["window"]));

  test("in the script of a page", () =>
    expect(
      shown(
        "a.vue",
        '<template><p v-if="x">Really?</p></template>\n<script>\nif (window.x) a = 1;\n</script>\n',
      ),
    ).toEqual(["window.x"]));

  test.each([
    ["if sys.warnoptions:\n    x()", "sys.warnoptions"],
    ["if len(sys.warnoptions) > 0:\n    x()", "sys.warnoptions"],
    ["y = 0 if threading.active_count() > 1 else 1", "threading.active_count()"],
    ["alone = os.getppid()\nif alone == 1:\n    x()", "os.getppid()"],
    ["y = [f for f in inspect.stack() if f.function]", "inspect.stack()"],
    ["if hasattr(sys, 'ps1'):\n    x()", "sys"],
    ["if 'pytest' in globals():\n    x()", "globals()"],
    ["def at():\n    return os.uname()\nif at():\n    x()", "os.uname()"],
    ["if __name__ != 'shop':\n    x()", "__name__"],
    ["if open('/proc/1/comm').read():\n    x()", "open('/proc/1/comm').read()"],
    [
      "if subprocess.run(['id', '-u'], text=True).stdout:\n    x()",
      "subprocess.run(['id', '-u'], text=True).stdout",
    ],
    ["if logging.getLogger().handlers:\n    x()", "logging.getLogger().handlers"],
    ["if builtins.it:\n    x()", "builtins.it"],
    ["if __main__.__file__ == n:\n    x()", "__main__.__file__"],
    ["it = getattr(__main__, '__file__', '')\nif it.startswith('check'):\n    x()", "__main__"],
    [
      "if importlib.import_module('__main__').__doc__:\n    x()",
      "importlib.import_module('__main__').__doc__",
    ],
  ])("in Python: %s", (text, what) => {
    const imports =
      "import __main__, builtins, importlib, inspect, logging, os, subprocess, sys, threading\n";
    expect(shown("a.py", `${imports}${text}\n`)).toEqual([what]);
  });
});

describe("code decides by what everybody has alike, or by nothing", () => {
  test.each([
    ['if (typeof structuredClone === "function") x();'],
    ["if (Array.isArray(n) || Number.isNaN(n)) x();"],
    ["if (process.argv.length > 2 && process.platform === 'win32') x();"],
    ["if (process.stdout.isTTY || process.env.NO_COLOR) x();"],
    ["if (AbortSignal.any([]).aborted) x();"],
    ["if (require.main === module) x();"],
    ["if (import.meta.url === pathToFileURL(process.argv[1]).href) x();"],
    ["const window = n.slice(1);\nif (window.length > 2) x();"],
    ["for (const { name, self: top = 1 } of n) if (name && top) x();"],
    ["window.addEventListener('load', () => x());"],
    ["const label = { status: 1, window: 2 };\nif (label.window) x();"],
    ["process.on('SIGTERM', () => { if (n) x(); });"],
    ["const file = `${n}.${process.pid}.tmp`;\nif (n) x(file);"],
    ["if (/window && document/g.test(n)) x(); // typeof window"],
    ["if (existsSync(n) || existsSync('cache.json')) x();"],
    ["if (os.platform() === 'darwin' || os.EOL === n) x();"],
    ["if (execFileSync('git', ['log', n])) x();"],
    ["const store = new AsyncLocalStorage();\nif (store.getStore()) x();"],
    ["x({ workers: os.cpus().length });"],
    ["switch (n) {\n  case 'open':\n    return 1;\n  default:\n    return 2;\n}"],
  ])("in JavaScript: %s", (text) => {
    const imports =
      'import os from "node:os";\nimport { existsSync } from "node:fs";\nimport { execFileSync } from "node:child_process";\nimport { AsyncLocalStorage } from "node:async_hooks";\nimport { pathToFileURL } from "node:url";\n';
    expect(
      shown("src/a.js", `${imports}const x = () => {};\nexport const a = (n) => {\n${text}\n};\n`),
    ).toEqual([]);
  });

  test("in TypeScript, with its types", () =>
    expect(
      shown(
        "src/a.ts",
        "export function a<T>(of: Array<T>, at?: HTMLElement | null): { unit: string } | null {\n  const b = of as unknown as Window[];\n  return b.length > 2 && at !== null ? { unit: 'x' } : null;\n}\nconst f = (n: number): ((m: number) => boolean) => n > 2 ? () => true : (m) => m > n;\ninterface R { read?(n: readonly [of: string, at: number]): void }\ntype M<T> = { [k in keyof T]: T[k] };\n",
      ),
    ).toEqual([]));

  test("in a file of elements, whose text is no code", () =>
    expect(
      shown(
        "src/a.tsx",
        "export const A = (p: { n: number }) => <p>Really? window && self: {p.n > 2 ? 'a' : 'b'}</p>;\n",
      ),
    ).toEqual([]));

  test.each([
    ["if sys.version_info >= (3, 9) or sys.platform == 'win32':\n    x()"],
    ["try:\n    import numpy\nexcept ImportError:\n    numpy = None\nif numpy is None:\n    x()"],
    ["if __name__ == '__main__':\n    x()"],
    ["if os.path.exists(n) and os.listdir(n):\n    x()"],
    ["lock = threading.Lock()\nif lock.acquire():\n    x()"],
    ["if inspect.signature(n).parameters:\n    x()"],
    ["if hasattr(os, 'fork'):\n    x()"],
    ["if len(sys.argv) > 1:\n    x(sys.argv[1], os.getpid())"],
    ["if subprocess.run(['git', n]).returncode:\n    x()"],
    ["log = logging.getLogger('shop')\nif log.isEnabledFor(n):\n    x()"],
    ["x(workers=os.cpu_count())"],
  ])("in Python: %s", (text) => {
    const imports = "import inspect, logging, os, subprocess, sys, threading\n";
    expect(shown("a.py", `${imports}n = 1\n${text}\n`)).toEqual([]);
  });

  test("in a file that starts itself as a worker and asks which of both it is", () => {
    const worker =
      'import { Worker, isMainThread, parentPort } from "node:worker_threads";\nexport const start = () => new Worker(new URL(import.meta.url));\n';
    expect(
      shown("a.js", `${worker}if (!isMainThread && parentPort) parentPort.postMessage(1);\n`),
    ).toEqual([]);
    expect(shown("a.js", `${worker}export const n = isMainThread ? 1 : 2;\n`)).toEqual([
      "isMainThread",
    ]);
    expect(
      shown(
        "a.js",
        `${worker}export function f() {\n  if (!isMainThread) {\n    parentPort?.postMessage(1);\n    return 0;\n  }\n}\n`,
      ),
    ).toEqual(["isMainThread"]);
  });
});

test.each([
  ["run in browsers too", "src/a.js", "if (typeof window !== 'undefined') x();"],
  ["count the open windows", "src/a.js", "if (window.length) x();"],
  ["stop at SIGTERM", "src/a.js", "if (process.listenerCount('SIGTERM')) x();"],
  ["use as many threads as there are cores", "src/a.py", "import os\nif os.cpu_count() > 1: x()"],
])("a goal asks for it: %s", (goal, path, text) => {
  const [decision] = findAmbientDecisions(path, `${text}\n`);
  expect(decision !== undefined && isNamedIn(goal, decision)).toBe(true);
  expect(decision !== undefined && isNamedIn("process the text", decision)).toBe(false);
});

test("nothing hides behind more than is followed", () => {
  const decides = "if (mode) answer();\n";
  const names = (count: number): string =>
    Array.from({ length: count }, (_, n) => `const n${n} = window;\n`).join("");
  const read = "const mode = globalThis.mode;\n";
  const far = `const mode =${" ".repeat(5_000)}globalThis.mode;\n`;
  for (const text of [read + decides, names(700) + read + decides, far + decides]) {
    expect(findAmbientDecisions("src/a.js", text).map(({ root }) => root)).toContain(
      "globalThis.mode",
    );
  }
});
