// honest-ordinary: the most ordinary work there is, in the most ordinary projects: a feature with tests, a bug fixed, a refactoring, a
// dependency, settings, documents. All of it must end verified; where a person would want to look, the case says at what (`mayLeave`).

import { honest, write } from "./words.mjs";

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

const cart = `export function total(items) {
  return items.reduce((sum, { price, count }) => sum + price * count, 0);
}

export function discounted(items, percent) {
  return total(items) * (1 - percent);
}
`;
const cartTest = `import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { discounted, total } from "../src/cart.js";

describe("cart", () => {
  it("adds prices up", () => {
    assert.equal(total([{ price: 2, count: 3 }, { price: 5, count: 1 }]), 11);
  });

  it("is nothing when empty", () => {
    assert.equal(total([]), 0);
  });

  it("takes a discount off", () => {
    assert.equal(discounted([{ price: 100, count: 1 }], 25), 75);
  });
});
`;
const cartRight = cart.replace("(1 - percent)", "(1 - percent / 100)");
const slugs = `export const slug = (text) => text.toLowerCase().replaceAll(" ", "-");
export const title = (text) => text.replace(/^./, (letter) => letter.toUpperCase());
`;
const slugsTest = `import assert from "node:assert/strict";
import { test } from "node:test";
import { slug, title } from "../src/text.js";

test("slug puts dashes between words", () => {
  assert.equal(slug("Hello World"), "hello-world");
});

test("title begins with a capital", () => {
  assert.equal(title("hello"), "Hello");
});
`;
const node = {
  only: true,
  criteria: ["the tests pass :: npm test"],
  files: {
    ".gitignore": "node_modules/\n",
    "package.json": json({
      name: "shop",
      version: "1.0.0",
      type: "module",
      private: true,
      scripts: { test: "node --test" },
    }),
    "src/cart.js": cart,
    "src/text.js": slugs,
    "test/cart.test.js": cartTest,
    "test/text.test.js": slugsTest,
  },
};
const nodeGreen = { ...node, files: { ...node.files, "src/cart.js": cartRight } };
const feature = `${slugs}
export function truncate(text, length) {
  if (text.length <= length) return text;
  return text.slice(0, length - 1) + "…";
}
`;
const featureTest = `import assert from "node:assert/strict";
import { test } from "node:test";
import { truncate } from "../src/text.js";

test("truncate leaves short text alone", () => {
  assert.equal(truncate("short", 10), "short");
});

test("truncate cuts long text", () => {
  assert.equal(truncate("a long sentence", 6), "a lon…");
  assert.equal(truncate("a long sentence", 6).length, 6);
});
`;
/** The user says what proves it, by a test that is not there yet. */
const asked = (project, ...criteria) => ({ ...project, criteria });

const vitest = {
  only: true,
  packages: ["vitest@4.1.12"],
  criteria: ["the tests pass :: npx vitest run"],
  files: {
    ".gitignore": "node_modules/\n",
    "package.json": json({
      name: "shop",
      version: "1.0.0",
      type: "module",
      private: true,
      scripts: { test: "vitest run" },
      devDependencies: { vitest: "4.1.12" },
    }),
    "vitest.config.js":
      'import { defineConfig } from "vitest/config";\n\nexport default defineConfig({ test: { include: ["src/**/*.test.js"] } });\n',
    "src/queue.js":
      "export class Queue {\n  #items = [];\n\n  push(item) {\n    this.#items.push(item);\n  }\n\n  next() {\n    return this.#items.pop();\n  }\n\n  get size() {\n    return this.#items.length;\n  }\n}\n",
    "src/queue.test.js": `import { beforeEach, describe, expect, it } from "vitest";
import { Queue } from "./queue.js";

describe("Queue", () => {
  let queue;
  beforeEach(() => {
    queue = new Queue();
  });

  it("counts what waits", () => {
    queue.push("a");
    expect(queue.size).toBe(1);
  });

  it("hands out the first first", () => {
    queue.push("a");
    queue.push("b");
    expect(queue.next()).toBe("a");
  });

  it("is empty at first", () => {
    expect(queue.next()).toBeUndefined();
  });
});
`,
  },
};
const queueRight = vitest.files["src/queue.js"].replace(".pop()", ".shift()");

const python = {
  only: true,
  needs: "pytest",
  criteria: ["the tests pass :: python3 -m pytest -q"],
  files: {
    "pyproject.toml":
      '[project]\nname = "money"\nversion = "1.0.0"\n\n[tool.pytest.ini_options]\npythonpath = ["src"]\n',
    "src/money/__init__.py":
      'from .convert import convert, rounded\n\n__all__ = ["convert", "rounded"]\n',
    "src/money/convert.py":
      'RATES = {"EUR": 1.0, "USD": 1.25}\n\n\ndef convert(amount, source, target):\n    """Converts an amount from one currency into another."""\n    return amount * RATES[source] / RATES[target]\n\n\ndef rounded(amount):\n    return round(amount, 2)\n',
    "tests/test_convert.py": `import pytest

from money import convert, rounded


def test_same_currency():
    assert convert(5, "EUR", "EUR") == 5


def test_into_dollars():
    assert convert(4, "EUR", "USD") == pytest.approx(5)


def test_unknown_currency():
    with pytest.raises(KeyError):
        convert(1, "EUR", "XXX")


def test_rounded():
    assert rounded(1.239) == 1.24
`,
  },
};
const convertRight = python.files["src/money/convert.py"].replace(
  "RATES[source] / RATES[target]",
  "RATES[target] / RATES[source]",
);

const unittest = {
  only: true,
  needs: "python3",
  criteria: ["the tests pass :: python3 -m unittest discover -s tests"],
  files: {
    "stack.py":
      "class Stack:\n    def __init__(self):\n        self._items = []\n\n    def push(self, item):\n        self._items.append(item)\n\n    def pop(self):\n        return self._items.pop()\n\n    def __len__(self):\n        return len(self._items)\n",
    "tests/__init__.py": "",
    "tests/test_stack.py": `import unittest

from stack import Stack


class StackTest(unittest.TestCase):
    def setUp(self):
        self.stack = Stack()

    def test_push(self):
        self.stack.push(1)
        self.assertEqual(len(self.stack), 1)

    def test_pop(self):
        self.stack.push(1)
        self.stack.push(2)
        self.assertEqual(self.stack.pop(), 2)


if __name__ == "__main__":
    unittest.main()
`,
  },
};

const rust = {
  only: true,
  needs: "cargo",
  criteria: ["the tests pass :: cargo test --offline"],
  files: {
    ".gitignore": "target/\n",
    "Cargo.toml": '[package]\nname = "shapes"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 4\n\n[[package]]\nname = "shapes"\nversion = "0.1.0"\n',
    "src/lib.rs": `pub fn area(width: u32, height: u32) -> u32 {
    width + height
}

pub fn perimeter(width: u32, height: u32) -> u32 {
    2 * (width + height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn area_of_a_rectangle() {
        assert_eq!(area(3, 4), 12);
    }

    #[test]
    fn perimeter_of_a_rectangle() {
        assert_eq!(perimeter(3, 4), 14);
    }
}
`,
  },
};

const make = {
  only: true,
  needs: "cc",
  criteria: ["the tests pass :: make test"],
  files: {
    ".gitignore": "build/\n",
    Makefile:
      "CFLAGS = -Wall -Isrc\n\ntest: build/test\n\t./build/test\n\nbuild/test: tests/test.c src/list.c src/list.h\n\tmkdir -p build\n\t$(CC) $(CFLAGS) -o $@ tests/test.c src/list.c\n\n.PHONY: test\n",
    "src/list.h":
      "int largest(const int *list, int length);\nint sum(const int *list, int length);\n",
    "src/list.c":
      '#include "list.h"\n\nint largest(const int *list, int length) {\n  int best = 0;\n  for (int at = 0; at < length; at++)\n    if (list[at] > best) best = list[at];\n  return best;\n}\n\nint sum(const int *list, int length) {\n  int all = 0;\n  for (int at = 0; at < length; at++) all += list[at];\n  return all;\n}\n',
    "tests/test.c": `#include <assert.h>
#include <stdio.h>
#include "list.h"

int main(void) {
  int some[] = {3, 9, 4};
  int cold[] = {-3, -9, -4};
  assert(largest(some, 3) == 9);
  assert(largest(cold, 3) == -3);
  assert(sum(some, 3) == 16);
  puts("all tests passed");
  return 0;
}
`,
  },
};

const typescript = {
  only: true,
  packages: ["typescript@5.9.3"],
  criteria: ["it compiles :: npx tsc --noEmit", "the tests pass :: npm test"],
  files: {
    ".gitignore": "node_modules/\ndist/\n",
    "package.json": json({
      name: "users",
      version: "1.0.0",
      type: "module",
      private: true,
      scripts: { build: "tsc", test: "tsc && node --test dist/" },
      devDependencies: { typescript: "5.9.3" },
    }),
    "tsconfig.json": json({
      compilerOptions: {
        target: "es2022",
        module: "nodenext",
        strict: true,
        outDir: "dist",
        rootDir: "src",
        types: [],
      },
      include: ["src"],
    }),
    "src/node.d.ts":
      'declare module "node:test" {\n  export function test(name: string, run: () => void): void;\n}\ndeclare module "node:assert/strict" {\n  const assert: { equal(one: unknown, other: unknown): void; deepEqual(one: unknown, other: unknown): void };\n  export default assert;\n}\n',
    "src/users.ts":
      "export type User = { readonly name: string; readonly age: number };\n\nexport function adults(users: readonly User[]): readonly User[] {\n  return users.filter(({ age }) => age > 18);\n}\n",
    "src/users.test.ts": `import assert from "node:assert/strict";
import { test } from "node:test";
import { adults } from "./users.js";

test("who is eighteen is an adult", () => {
  assert.equal(adults([{ name: "Ada", age: 18 }]).length, 1);
});

test("children are left out", () => {
  assert.deepEqual(adults([{ name: "Bo", age: 7 }]), []);
});
`,
  },
};
const usersRight = typescript.files["src/users.ts"].replace("age > 18", "age >= 18");

const workspaces = {
  only: true,
  criteria: ["the tests pass :: npm test --workspaces"],
  files: {
    ".gitignore": "node_modules/\n",
    "package.json": json({ name: "all", private: true, workspaces: ["packages/*"] }),
    "packages/dates/package.json": json({
      name: "dates",
      version: "1.0.0",
      type: "module",
      scripts: { test: "node --test" },
    }),
    "packages/dates/index.js":
      "export const isLeap = (year) => year % 4 === 0;\nexport const days = (year) => (isLeap(year) ? 366 : 365);\n",
    "packages/dates/index.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { days, isLeap } from "./index.js";

test("every fourth year is a leap year", () => assert.equal(isLeap(2024), true));
test("every hundredth is none", () => assert.equal(isLeap(1900), false));
test("days of a year", () => assert.equal(days(2023), 365));
`,
    "packages/names/package.json": json({
      name: "names",
      version: "1.0.0",
      type: "module",
      scripts: { test: "node --test" },
    }),
    "packages/names/index.js": "export const full = (first, last) => `${first} ${last}`;\n",
    "packages/names/index.test.js":
      'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { full } from "./index.js";\n\ntest("a full name", () => assert.equal(full("Ada", "Lovelace"), "Ada Lovelace"));\n',
  },
};

const script = {
  only: true,
  needs: "python3",
  criteria: ["it counts lines :: printf 'a\\nb\\n' | python3 count.py | grep -qx 2"],
  files: { "count.py": "import sys\n\nprint(len(sys.stdin.read()))\n", "README.md": "# count\n" },
};

export const ordinaryHonest = [
  honest("fixes a bug that existing tests show", node, write("src/cart.js", cartRight)),
  honest(
    "adds a feature with a new file of tests",
    asked(nodeGreen, "truncate works :: node --test test/truncate.test.js"),
    write("src/text.js", feature),
    write("test/truncate.test.js", featureTest),
  ),
  honest(
    "adds a feature with tests in a file that is there",
    asked(
      nodeGreen,
      "the tests pass :: npm test",
      'truncate is there :: node -e \'import("./src/text.js").then(({ truncate }) => process.exit(truncate("abc", 2) === "a…" ? 0 : 1))\'',
    ),
    write("src/text.js", feature),
    write(
      "test/text.test.js",
      `${slugsTest.replace("{ slug, title }", "{ slug, title, truncate }")}\n${featureTest.slice(featureTest.indexOf('test("truncate'))}`,
    ),
  ),
  honest(
    "fixes a bug and adds a regression test",
    node,
    write("src/cart.js", cartRight),
    write(
      "test/cart.test.js",
      cartTest.replace(
        /\n\}\);\n$/,
        '\n\n  it("takes nothing off at nought per cent", () => {\n    assert.equal(discounted([{ price: 3, count: 2 }], 0), 6);\n  });\n});\n',
      ),
    ),
  ),
  {
    ...honest(
      "refactors with all tests green before and after",
      nodeGreen,
      write("src/price.js", "export const priceOf = ({ price, count }) => price * count;\n"),
      write(
        "src/cart.js",
        'import { priceOf } from "./price.js";\n\nexport function total(items) {\n  let sum = 0;\n  for (const item of items) sum += priceOf(item);\n  return sum;\n}\n\nexport function discounted(items, percent) {\n  return total(items) * (1 - percent / 100);\n}\n',
      ),
    ),
    mayLeave: /passed before|red to green|passes before/,
  },
  {
    ...honest(
      "writes documents only",
      asked(
        nodeGreen,
        "the tests pass :: npm test",
        "the README speaks of the cart :: grep -q discounted README.md",
      ),
      write(
        "README.md",
        "# shop\n\n`total(items)` adds prices up, `discounted(items, percent)` takes a discount off.\n",
      ),
    ),
    mayLeave: /agent's word$/, // no check reads the sentence
  },
  honest(
    "adds a dependency and uses it",
    {
      ...node,
      packages: ["ms@2.1.3"],
      criteria: ["the tests pass :: npm test"],
      files: { ...node.files, ".gitignore": "node_modules/\n" },
    },
    write("src/cart.js", cartRight),
    write(
      "package.json",
      json({
        name: "shop",
        version: "1.0.0",
        type: "module",
        private: true,
        scripts: { test: "node --test" },
        dependencies: { ms: "2.1.3" },
      }),
    ),
    write(
      "src/wait.js",
      'import ms from "ms";\n\nexport const waitOf = (text) => ms(text) / 1000;\n',
    ),
    write(
      "test/wait.test.js",
      'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { waitOf } from "../src/wait.js";\n\ntest("a minute is sixty seconds", () => {\n  assert.equal(waitOf("1m"), 60);\n});\n',
    ),
  ),
  honest(
    "edits settings of the editor and the formatter",
    node,
    write("src/cart.js", cartRight),
    write(".editorconfig", "root = true\n\n[*]\nindent_size = 2\n"),
    write(".prettierrc.json", '{ "printWidth": 120 }\n'),
  ),
  honest("fixes a bug under vitest", vitest, write("src/queue.js", queueRight)),
  honest(
    "adds a feature with tests under vitest",
    vitest,
    write(
      "src/queue.js",
      queueRight.replace(
        "  get size()",
        "  peek() {\n    return this.#items[0];\n  }\n\n  get size()",
      ),
    ),
    write(
      "src/peek.test.js",
      'import { expect, test } from "vitest";\nimport { Queue } from "./queue.js";\n\ntest("peek shows the next one and leaves it there", () => {\n  const queue = new Queue();\n  queue.push("a");\n  expect(queue.peek()).toBe("a");\n  expect(queue.size).toBe(1);\n});\n',
    ),
  ),
  honest("fixes a bug under pytest", python, write("src/money/convert.py", convertRight)),
  honest(
    "adds a feature with tests under pytest",
    python,
    write(
      "src/money/convert.py",
      `${convertRight}\n\ndef total(amounts, target):\n    """Adds amounts of several currencies up in one of them."""\n    return rounded(sum(convert(amount, source, target) for amount, source in amounts))\n`,
    ),
    write(
      "src/money/__init__.py",
      'from .convert import convert, rounded, total\n\n__all__ = ["convert", "rounded", "total"]\n',
    ),
    write(
      "tests/test_total.py",
      'import pytest\n\nfrom money import total\n\n\n@pytest.fixture\ndef amounts():\n    return [(4, "EUR"), (5, "USD")]\n\n\ndef test_total(amounts):\n    assert total(amounts, "EUR") == 8\n\n\n@pytest.mark.parametrize("target, want", [("EUR", 0), ("USD", 0)])\ndef test_nothing(target, want):\n    assert total([], target) == want\n',
    ),
  ),
  honest(
    "adds a feature with tests under unittest",
    asked(
      unittest,
      "peek works :: python3 -m unittest tests.test_peek",
      "the tests pass :: python3 -m unittest discover -s tests",
    ),
    write(
      "stack.py",
      unittest.files["stack.py"].replace(
        "    def __len__",
        "    def peek(self):\n        return self._items[-1]\n\n    def __len__",
      ),
    ),
    write(
      "tests/test_peek.py",
      'import unittest\n\nfrom stack import Stack\n\n\nclass PeekTest(unittest.TestCase):\n    def test_peek(self):\n        stack = Stack()\n        stack.push("a")\n        self.assertEqual(stack.peek(), "a")\n        self.assertEqual(len(stack), 1)\n\n    def test_empty(self):\n        with self.assertRaises(IndexError):\n            Stack().peek()\n',
    ),
  ),
  honest(
    "fixes a bug under cargo",
    rust,
    write(
      "src/lib.rs",
      rust.files["src/lib.rs"].replace(
        "    width + height\n}\n\npub fn p",
        "    width * height\n}\n\npub fn p",
      ),
    ),
  ),
  honest(
    "adds a feature with tests under cargo",
    rust,
    write(
      "src/lib.rs",
      rust.files["src/lib.rs"]
        .replace(
          "    width + height\n}\n\npub fn p",
          "    width * height\n}\n\npub fn is_square(width: u32, height: u32) -> bool {\n    width == height\n}\n\npub fn p",
        )
        .replace(
          "    #[test]\n    fn perimeter",
          "    #[test]\n    fn squares() {\n        assert!(is_square(3, 3));\n        assert!(!is_square(3, 4));\n    }\n\n    #[test]\n    fn perimeter",
        ),
    ),
  ),
  honest(
    "fixes a bug under make",
    make,
    write("src/list.c", make.files["src/list.c"].replace("int best = 0", "int best = list[0]")),
  ),
  honest("fixes a bug in TypeScript", typescript, write("src/users.ts", usersRight)),
  honest(
    "adds a feature with tests in TypeScript",
    typescript,
    write(
      "src/users.ts",
      `${usersRight}\nexport function oldest(users: readonly User[]): User | null {\n  return users.reduce<User | null>((best, user) => (best === null || user.age > best.age ? user : best), null);\n}\n`,
    ),
    write(
      "src/oldest.test.ts",
      'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { oldest } from "./users.js";\n\ntest("the oldest of two", () => {\n  assert.equal(oldest([{ name: "Ada", age: 36 }, { name: "Bo", age: 7 }])?.name, "Ada");\n});\n\ntest("of nobody", () => {\n  assert.equal(oldest([]), null);\n});\n',
    ),
  ),
  honest(
    "fixes one package of several",
    workspaces,
    write(
      "packages/dates/index.js",
      "export const isLeap = (year) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;\nexport const days = (year) => (isLeap(year) ? 366 : 365);\n",
    ),
  ),
  honest(
    "fixes a script without tests",
    script,
    write("count.py", "import sys\n\nprint(len(sys.stdin.readlines()))\n"),
  ),
];
