import { describe, expect, test } from "vitest";
import { findBranches } from "./find-branches.ts";

/** The branches of a new file: their code, and the outcomes that are asked about. */
const list = (path: string, is: string, was: string | null = null, gone: readonly string[] = []) =>
  findBranches({ path, was, is }, gone).map(
    ({ kind, text, outcomes }) =>
      `${kind === "condition" ? "" : `${kind} `}${text}${outcomes.length === 2 || (kind !== "condition" && kind !== "nullish") ? "" : ` ${outcomes.join()}`}`,
  );

describe("branches of new code", () => {
  test("JavaScript: conditions, their operands, what stands in for something missing, arms", () => {
    const code = `export function f(a, { b = 3, c = {} } = {}) {
  if (a.x && !isOpen(a)) return 1;
  const now = a.clock ?? Date.now;
  while (queue.length > 0) queue.pop();
  switch (a.kind) {
    case "one":
      return a.left ? "l" : \`\${a.right}\`;
    default:
      return list.filter((one) => one.id || one.name);
  }
}
try { f(); } catch (error) { recover(); }
`;
    expect(list("a.js", code).toSorted()).toEqual(
      [
        "a.x && !isOpen(a)",
        "a.x true",
        "nullish a.clock false",
        "queue.length > 0",
        'arm case "one":',
        "arm default:",
        "a.left",
        "one.id false",
        "default 3",
        "arm try { f(); } catch (error) { recover(); }",
      ].toSorted(),
    );
  });

  test("a branch that ends in an error is not asked about, the other way is", () => {
    expect(list("a.js", "if (a === null) throw new Error('a');\nif (b) { log(); }\n")).toEqual([
      "a === null false",
      "b",
    ]);
    expect(list("a.py", "if a is None:\n    raise ValueError('a')\nelif b:\n    pass\n")).toEqual([
      "a is None false",
      "b",
    ]);
    expect(
      list("a.go", "package a\nfunc f() error {\n\tif err != nil {\n\t\treturn nil, err\n\t}\n}\n"),
    ).toEqual(["err != nil false"]);
    expect(
      list(
        "a.js",
        "if (a) { console.error('odd'); return b; }\nif (c) { console.error('usage'); return 2; }\n",
      ),
    ).toEqual(["a", "c false"]);
    expect(list("a.rs", "fn f() { if a < 0 { return Err(Bad); } else { g(); } }\n")).toEqual([
      "a < 0 false",
    ]);
  });

  test("Python: conditions, operands, comprehensions, arms; not the main program", () => {
    const code = `def f(a, clock=None):
    now = (clock or time.monotonic)()
    x = 1 if a.left and a.right else 2
    ys = [y for y in a if y > 0]
    try:
        g()
    except KeyError:
        return None
    return not a
if __name__ == "__main__":
    f()
`;
    expect(list("a.py", code)).toEqual([
      "clock false",
      "a.left and a.right",
      "a.left true",
      "y > 0",
      "arm except KeyError:",
    ]);
  });

  test("Go, Rust, Java, C", () => {
    expect(
      list(
        "a.go",
        "package a\nfunc f() {\n\tif v, ok := m[k]; ok && v > 1 {\n\t\tg()\n\t}\n\tfor i := 0; i < 3; i++ {\n\t}\n\tswitch {\n\tcase v == 2:\n\t\tg()\n\t}\n}\n",
      ),
    ).toEqual(["ok && v > 1", "ok true", "arm case v == 2:"]);
    expect(
      list(
        "a.rs",
        "fn f() { if cfg!(debug_assertions) && a { g() }\n if let Some(x) = y { g() } }\n#[cfg(test)]\nmod tests {\n fn t() { if b { g() } }\n}\n",
      ),
    ).toEqual(["cfg!(debug_assertions) && a", "cfg!(debug_assertions) true"]);
    expect(list("A.java", "class A { int f(int a) { return a > 3 ? 1 : 2; } }\n")).toEqual([
      "a > 3",
    ]);
    expect(
      list("a.c", "#if defined(X) && Y\n#endif\nint f(int a) { if (a & 1) return 2; return 3; }\n"),
    ).toEqual(["a & 1"]);
  });

  test("signs of two units move nothing", () => {
    expect(list("a.py", "x = ['🦀🦀🦀',\n  a or\n  b]\ny = f(c\n  or d)\n")).toEqual([
      "a false",
      "c false",
    ]);
  });

  test("only those of lines that were not there before, here or in a file that is gone", () => {
    const code = "if (a) b();\nif (c) d();\nif (e) f();\n";
    expect(list("a.js", code, "  if (a) b();\n", ["if (e) f();"])).toEqual(["c"]);
  });

  test("no types, no constants, no JSX, no headers", () => {
    expect(list("a.ts", "type A<T> = T extends string ? 1 : 2;\nwhile (true) { f(); }\n")).toEqual(
      [],
    );
    expect(list("a.tsx", "if (a) b();")).toEqual([]);
    expect(list("a.h", "static int f(int a) { if (a) return 1; return 2; }")).toEqual([]);
  });
});
