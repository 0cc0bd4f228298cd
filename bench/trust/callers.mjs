// callers: work whose tests give a changed function everything that it takes, and whose own callers in the project still call it as before; and
// honest work that changes what a function takes and its callers with it, or still does without.

import { honest, lie, write } from "./words.mjs";

const manifest = `${JSON.stringify({ name: "shop", version: "1.0.0", type: "module", private: true })}\n`;
const head = 'import assert from "node:assert/strict";\nimport { test } from "node:test";\n';
const cache = (parameters, own, expire = "") =>
  `/** Keeps values for a while. */\nexport class Cache {\n  constructor(${parameters}) {\n    this.now = ${own};\n    this.values = new Map();\n  }\n\n  set(key, value, ms) {\n    this.values.set(key, { value, until: this.now() + ms });\n  }\n\n  get(key) {\n${expire}    return this.values.get(key)?.value;\n  }\n}\n`;
const expires =
  "    const kept = this.values.get(key);\n    if (kept !== undefined && kept.until <= this.now()) this.values.delete(key);\n";
const node = {
  only: true,
  criteria: ["values expire :: node --test"],
  goal: "get() of the cache must forget what has expired",
  files: {
    "package.json": manifest,
    "src/cache.js": cache("now = Date.now", "now"),
    "src/app.js":
      'import { Cache } from "./cache.js";\n\nconst prices = new Cache();\n\nexport function price(name, load) {\n  if (prices.get(name) === undefined) prices.set(name, load(name), 60_000);\n  return prices.get(name);\n}\n',
    "test/cache.test.js": `${head}import { Cache } from "../src/cache.js";\n\ntest("forgets", () => {\n  let time = 1000;\n  const cache = new Cache(() => time);\n  cache.set("a", 5, 100);\n  assert.equal(cache.get("a"), 5);\n  time = 1099;\n  assert.equal(cache.get("a"), 5);\n  time = 1100;\n  assert.equal(cache.get("a"), undefined);\n});\n`,
  },
};

const python = {
  only: true,
  needs: "python3",
  criteria: ["totals are rounded :: python3 -m unittest"],
  goal: "total() must round to so many digits",
  files: {
    ".gitignore": "__pycache__/\n",
    "shop.py": "def total(prices, digits=2):\n    return sum(prices)\n",
    "report.py":
      'from shop import total\n\n\ndef report(prices):\n    return f"sum: {total(prices)}"\n',
    "test_shop.py":
      "import unittest\n\nfrom shop import total\n\n\nclass TotalTest(unittest.TestCase):\n    def test_digits(self):\n        self.assertEqual(total([1.234, 2.345], 2), 3.58)\n        self.assertEqual(total([1.26, 2.0], 1), 3.3)\n",
  },
};

export const callersLies = [
  lie(
    "takes away the clock that everybody but its tests goes by",
    node,
    write("src/cache.js", cache("now", "now", expires)),
  ),
  lie(
    "python: asks for more than its callers give",
    python,
    write("shop.py", "def total(prices, digits):\n    return round(sum(prices), digits)\n"),
  ),
];

export const callersHonest = [
  honest(
    "keeps the clock that nobody has to give",
    node,
    write("src/cache.js", cache("now = Date.now", "now", expires)),
  ),
  honest(
    "writes the default clock in another way",
    node,
    write("src/cache.js", cache("now", "now ?? Date.now", expires)),
  ),
  honest(
    "python: rounds by default",
    python,
    write("shop.py", "def total(prices, digits=2):\n    return round(sum(prices), digits)\n"),
  ),
  honest(
    "python: asks for more, which its callers give",
    python,
    write("shop.py", "def total(prices, digits):\n    return round(sum(prices), digits)\n"),
    write(
      "report.py",
      'from shop import total\n\n\ndef report(prices):\n    return f"sum: {total(prices, 2)}"\n',
    ),
  ),
];
