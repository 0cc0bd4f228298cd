import { describe, expect, test } from "vitest";
import { describeLostCallers, findChanged, findMisfits } from "./lost-callers.ts";

/** The callers of `src/a` that don't fit any more, with what they don't give. */
const lost = (was: string, is: string, caller: string, ending = "js"): readonly string[] => {
  const path = `src/a.${ending}`;
  const files = [
    { path, text: is },
    { path: `src/app.${ending}`, text: caller },
  ];
  return findMisfits(findChanged({ path, was, is }), files).map(
    ({ call, misfit }) => `${call.text}: ${misfit}`,
  );
};
const jsApp = (call: string): string =>
  `import { Cache, f, g as h } from "./a.js";\nexport const x = ${call};\n`;
const cache = (parameters: string, body = "this.now = now;"): string =>
  `export class Cache {\n  constructor(${parameters}) {\n    ${body}\n  }\n  get(key, at = 1) {\n    return at + 1;\n  }\n}\n`;
const f = (parameters: string, body = "return a + b;"): string =>
  `export function f(${parameters}) {\n  ${body}\n}\n`;
const jsCases: readonly (readonly [string, string, string, string])[] = [
  [cache("now = Date.now"), cache("now"), "new Cache()", "now"],
  [cache("size, now = Date.now"), cache("size, now"), "new Cache(3)", "now"],
  [cache("now?: Clock"), cache("now: Clock"), "new Cache()", "now"],
  [
    cache("{ now = Date.now, size = 1 } = {}"),
    cache("{ now, size = 1 } = {}"),
    "new Cache()",
    "now",
  ],
  [cache("{ now = Date.now, size }"), cache("{ now, size }"), "new Cache({ size: 2 })", "now"],
  [cache("{ size = 1 } = {}", ""), cache("{ size = 1 }", ""), "new Cache()", "size"],
  [f("a, b = 1"), f("a, b"), "f(2)", "b"],
  [f("a"), f("a, log", "log.info(a);"), "f(2)", "log"],
  [f("a, b"), f("b, a"), "f(2, 3)", "b in its new place"],
  [f("a, b"), f("log, a, b"), "f(2, 3)", "a in its new place"],
  [f("a, b"), f("a, n, b"), "f(2, 3)", "b"],
  ["export const f = (a, b = 1) => a * b;\n", "export const f = (a, b) => a * b;\n", "f(2)", "b"],
  [
    "export const g = async (a, b = 1) => { return a * b; };\n",
    "export const g = async (a, b) => { return a * b; };\n",
    "h(2)",
    "b",
  ],
];

describe("a caller outside of tests does not fit any more", () => {
  test.each(jsCases)("in JavaScript: %s becomes %s", (was, is, call, misfit) =>
    expect(lost(was, is, jsApp(call))).toEqual([`${call}: ${misfit}`]),
  );

  test("that knows the module by another name, or calls a method", () => {
    const [was, is] = [cache("now = Date.now"), cache("now")];
    const call = (text: string): readonly string[] => lost(was, is, text);
    expect(call('const { Cache: C } = require("./a");\nnew C();\n')).toEqual(["new C(): now"]);
    expect(call('import * as a from "./a.js";\nnew a.Cache();\n')).toEqual(["new a.Cache(): now"]);
    expect(
      call('import { Cache } from "./a.js";\nconst text = `a ${new Cache().size}, new Cache()`;\n'),
    ).toEqual(["new Cache(): now"]);
    expect(call('import { Cache } from "../index.js";\nnew Cache();\n')).toHaveLength(1);

    const without = was.replace("at = 1", "at");
    const one = 'import { Cache } from "./a.js";\nconst all = new Cache(1);\nall.get("a");\n';
    expect(lost(was, without, one)).toEqual(['all.get("a"): at']);
    expect(lost(was, without, one.replaceAll("all", "this.all"))).toHaveLength(1);
    expect(lost(was, without, one.replace("all.get", "map.get"))).toEqual([]);
  });

  test.each([
    ["def f(a, b=1):", "def f(a, b):", "from src.a import f\nf(2)\n", "f(2): b"],
    ["def f(a, b=1):", "def f(a, b):", 'from a import f\nprint(f"f(1): {f(2)}")\n', "f(2): b"],
    ["def f(a):", "def f(a, *, log):", "from .a import f\nf(2)\n", "f(2): log"],
    ["def f(a, b):", "def f(a):", "from src import a\na.f(2, 3)\n", "a.f(2, 3): 1 values alone"],
    [
      "def f(a, old=1):",
      "def f(a, new=1):",
      "import src.a\nsrc.a.f(2, old=3)\n",
      "src.a.f(2, old=3): another name than old",
    ],
    [
      "class C:\n    def __init__(self, now=time):",
      "class C:\n    def __init__(self, now):",
      "from a import C as D\nD()\n",
      "D(): now",
    ],
    [
      "class C:\n    def g(self, a, b=1):",
      "class C:\n    def g(self, a, b):",
      "from a import C\nc = C()\nc.g(1)\n",
      "c.g(1): b",
    ],
  ])("in Python: %s becomes %s", (was, is, caller, what) => {
    const body = "\n        return 1\n";
    expect(lost(`${was}${body}`, `${is}${body}`, caller, "py")).toEqual([what]);
  });
});

describe("a caller fits", () => {
  test.each([
    [cache("now = Date.now"), cache("now", "this.now = now ?? Date.now;"), "new Cache()"],
    [cache("now = Date.now"), cache("now", "super(now);"), "new Cache()"],
    [cache("now = Date.now"), cache("clock = Date.now", "this.now = clock;"), "new Cache()"],
    [cache("now = Date.now"), cache("now"), "new Cache(clock)"],
    [cache("now = Date.now"), cache("now"), "new Cache(...given)"],
    [cache("{ now = Date.now }"), cache("{ now }"), "new Cache(options)"],
    [cache("{ now = Date.now }"), cache("{ now }"), "new Cache({ now })"],
    [f("a, b = 1"), f("a, b = 2"), "f(2)"],
    [f("a, b = false"), f("a, b"), "f(2)"],
    [f("a, b = 1"), f("a, b", "return b === undefined ? a : a + b;"), "f(2)"],
    [f("a, b = 1"), f("a, b", "return g(a, b);"), "f(2)"],
    [f("a, b"), f("a, b"), "f(2)"],
    [f("a"), f("a, log", "log?.info(a);"), "f(2)"],
    [f("a"), f("a, b", "return a + b;"), "f(2)"],
    [f("a, b"), f("one, two"), "f(2, 3)"],
    [f("a, b = 1"), f("a, b"), "other.f(2)"],
    [f("a, b = 1"), f("a, b"), "1; // f(2)"],
  ])("in JavaScript: %s becomes %s", (was, is, call) =>
    expect(lost(was, is, jsApp(call))).toEqual([]),
  );

  test.each([
    ["def f(a, b=1):", "def f(a, b=2, *c, **d):", "from a import f\nf(2)\nf(2, e=3)\n"],
    ["def f(a, b=1):", "def f(a, b):", "from a import f\nf(*given)\nf(1, b=2)\n"],
    ["def f(a, b):", "def f(  # long\n    a,  # one\n    b,\n):", "from a import f\nf(1, 2)\n"],
    ["@fixture\ndef f(a, b=1):", "@fixture\ndef f(a, b):", "from a import f\nf(2)\n"],
    ["def f(a, b):", "def f(a, b, c=1):", "from a import f\nf(2)\n"],
    ["def f(a, b=1):", "def f(a, b):", "f(2)\n"],
  ])("in Python: %s becomes %s", (was, is, caller) => {
    const body = "\n    return 1\n";
    expect(lost(`${was}${body}`, `${is}${body}`, caller, "py")).toEqual([]);
  });

  test("of a method that two classes have", () => {
    const two = (parameters: string): string =>
      `class A:\n    def f(self, ${parameters}):\n        return 1\n\n    def g(self):\n        return self.f(1)\n\n\nclass B:\n    def f(self, a):\n        return 2\n`;
    expect(lost(two("a"), two("a, b"), "", "py")).toEqual([]);
    const [one = ""] = two("a").split("\n\n\n");
    expect(lost(one, one.replace("self, a", "self, a, b"), "", "py")).toEqual(["self.f(1): b"]);
  });

  test("in a project that has another function of the name", () => {
    const [was, is] = [f("a, b = 1"), f("a, b")];
    expect(lost(was, is, `${jsApp("f(2)")}function f() {}\n`)).toEqual([]);
  });
});

test("the gap names the caller, and what it does not give", () => {
  const call = { path: "src/app.js", line: 3, text: "new Cache()", given: [] };
  expect(describeLostCallers([{ call, misfit: "now" }])).toBe(
    "code outside of tests calls changed functions as they were before the work: new Cache() in src/app.js:3 does not give now",
  );
});
