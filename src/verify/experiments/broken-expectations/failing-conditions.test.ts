import { describe, expect, test } from "vitest";
import { createAssertionFlips } from "./assertion-flips.ts";

/** The first lines of a program with its conditions broken, the likeliest expectation first. */
const brokenIn = (path: string, text: string): readonly string[] =>
  createAssertionFlips(path, text, "n0")
    .toSorted((left, right) => right.score - left.score)
    .map(({ broken }) => broken);

describe("a condition that ends a test program as failed contains its expectation", () => {
  test.each([
    [
      "test.c",
      "int main(void) {\n    if (size(b) != 300) return 2;\n}\n",
      /size\(b\) != 301\) return 2;/,
    ],
    [
      "test.c",
      "int main(void) {\n    if (f(b) || strlen(b.p) != 300 || b.q) return 2;\n}\n",
      /f\(b\) \|\| strlen\(b\.p\) != 301 \|\| b\.q/,
    ],
    [
      "test.c",
      'int main(void) {\n    if (strcmp(greet("a"), "hello")) {\n        puts("no");\n        return 1;\n    }\n}\n',
      /greet\("a"\), "(?!hello")\w{5}"/,
    ],
    [
      "test.cc",
      "int main() {\n  if (3 != add(1, 2)) std::abort();\n}\n",
      /if \([24] != add\(1, 2\)\)/,
    ],
    [
      "test.cc",
      "int main() {\n  if (add(1, 2) != 3) return EXIT_FAILURE;\n}\n",
      /add\(1, 2\) != [24]\)/,
    ],
    [
      "check.go",
      'package main\n\nfunc main() {\n\tif add(1, 2) != 3 || name() != "ab" {\n\t\tos.Exit(1)\n\t}\n}\n',
      /add\(1, 2\) != [24] \|\|/,
    ],
    [
      "Check.java",
      'class Check {\n  public static void main(String[] a) {\n    if (!greet().equals("hello")) System.exit(1);\n  }\n}\n',
      /equals\("(?!hello")\w{5}"\)/,
    ],
    [
      "check.rs",
      "fn main() {\n    if add(1, 2) != 3 {\n        std::process::exit(1);\n    }\n}\n",
      /add\(1, 2\) != [24] \{/,
    ],
    [
      "check.py",
      "import sys\nif add(1, 2) != 3:\n    print('no')\n    sys.exit(1)\n",
      /add\(1, 2\) != [24]:/,
    ],
    ["check.mjs", "if (add(1, 2) !== 3) throw new Error('no');\n", /add\(1, 2\) !== [24]\)/],
  ])("%s: %j", (path, text, broken) => {
    expect(brokenIn(path, text)[0]).toMatch(broken);
  });

  test.each([
    [
      "test.c",
      "int main(void) {\n    if (b.p || b.n) return 3;\n}\n",
      "    if (!(b.p || b.n)) return 3;",
    ],
    [
      "test.c",
      "int main(void) {\n    if (code == 0 && size(b) != 3) return 3;\n}\n",
      "    if (!(code == 0 && size(b) != 3)) return 3;",
    ],
    [
      "test.c",
      'int main(void) {\n    if (strncmp(p, "abcdef", 3)) return 3;\n}\n',
      '    if (!(strncmp(p, "abcdef", 3))) return 3;',
    ],
    [
      "test.c",
      "int main(void) {\n    if (f(3) == 4) return 3;\n}\n",
      "    if (!(f(3) == 4)) return 3;",
    ],
    ["check.py", "import sys\nif not ready(3):\n    sys.exit(1)\n", "if not (not ready(3)):"],
  ])("it is negated if another value might go unnoticed: %s: %j", (path, text, broken) => {
    expect(brokenIn(path, text)[0]).toBe(broken);
  });
});

test.each([
  ["test.c", "int main(void) {\n    if (argc != 2) return 0;\n}\n"],
  ["test.c", "int main(void) {\n    if (i != 3) n += 1;\n    return 1;\n}\n"],
  ["check.py", "import sys\nif n != 3:\n    n = 4\nsys.exit(run(n))\n"],
  [
    "check.rs",
    "fn main() {\n    if n != 3 {\n        n = 4;\n    }\n    std::process::exit(1);\n}\n",
  ],
  [
    "Check.java",
    "class Check {\n  public static void main(String[] a) {\n    if (n != 3) System.exit(0);\n  }\n}\n",
  ],
  [
    "a.test.js",
    "test('retries', () => {\n  run(() => {\n    if (calls !== 3) throw new Error('down');\n  });\n});\n",
  ],
])(
  "nothing is taken for an expectation whose branch does not fail, or that a test for a runner has: %s: %j",
  (path, text) => {
    expect(brokenIn(path, text).filter((line) => line.includes("!="))).toEqual([]);
  },
);
