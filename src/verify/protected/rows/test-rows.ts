// test-rows: the tests, and everything in their folders except prose.

import type { ProtectionRow } from "./protection-row.ts";

/**
 * What a test file contains, if its name might mean something else: `it.each(`, `describe(`, or an
 * import of `node:test` or `assert/strict`.
 */
const testContent =
  /(?:^|[^.\w$])(?:it|test|describe|suite|assert|expect)(?:\.\w+)*\s*\(|["'](?:node:)?(?:test|assert)(?:\/\w+)?["']/m;

/** Folders whose files are tests or belong to tests, as alternatives of a regular expression. */
const testFolders = [
  "tests?",
  "__tests__",
  "__mocks__",
  "__fixtures__",
  "e2e",
  "cypress",
  "testdata",
  "(?:unit|integration|functional|acceptance|system|smoke|contract|regression)[-_]?tests?",
  "test[-_]?(?:utils?|helpers?|support|fixtures?|data|suite)",
  "src/(?:test|it|integrationTest|functionalTest|testFixtures)",
].join("|");

/**
 * A Go file without an `init` that only gives variables of this file plain values: that decides
 * nothing about other tests.
 */
const withoutOwnInit = (text: string): string =>
  text.replaceAll(/^func[ \t]+init\(\)[ \t]*\{\n((?:[ \t]+\S.*\n)*)\}/gm, (all, body: string) =>
    body
      .trimEnd()
      .split("\n")
      .every((line) => {
        const [, name = "", value = ""] = ownValue.exec(line) ?? [];
        const isOwn = new RegExp(
          `^var[ \\t]+${name}\\b|^var[ \\t]*\\((?:\\n[ \\t]+.*)*?\\n[ \\t]+${name}\\b`,
          "m",
        );
        return name !== "" && value !== "" && isOwn.test(text);
      })
      ? ""
      : all,
  );

/** `examples = append(examples, "7MB", 3)`, `sizes["7MB"] = 7`. */
const ownValue =
  /^\s*([A-Za-z]\w*)(?:\["[^"\\]*"\])?\s*=\s*((?:append\(\1,\s*)?(?:"[^"\\]*"|-?\d+)(?:,\s*(?:"[^"\\]*"|-?\d+))*\)?)$/;

export const testRows: readonly ProtectionRow[] = [
  // A new one in Go may take over the tests beside it.
  {
    kind: "test",
    path: /_test\.go$/,
    rules: "beside",
    isHarmless: (text) => !/^func\s+(?:TestMain\s*\(|init\s*\(\s*\))/m.test(withoutOwnInit(text)),
  },
  // cart.test.ts, cart.spec.rb
  { kind: "test", path: /\.(?:test|spec|cy|e2e)\.[^/]+$/ },
  // test_cart.py, cart_test.rs, cart_spec.rb
  { kind: "test", path: /(?:^|\/)test_[^/]*\.(?:py|sh)$|_test\.(?:py|rs)$|_spec\.\w+$/ },
  // test.js, tests.py, cart_test.ts
  { kind: "test", path: /(?:^|\/)tests?\.(?:[cm]?[jt]sx?|py|sh)$|_test\.(?:[cm]?[jt]sx?|sh)$/ },
  // cart.bats; cart.t and t/lib/Cart.pm in Perl
  { kind: "test", path: /\.bats$|\.t$|(?:^|\/)x?t\/.*\.p[lm]$/ },
  // test-cart.js, cart-test.js, cartSpec.js
  {
    kind: "test",
    path: /(?:^|\/)test-[^/]*\.[cm]?[jt]sx?$|-test\.[cm]?[jt]sx?$|Spec\.[cm]?[jt]sx?$/,
    content: testContent,
  },
  // TestCart.java, CartTests.kt, CartIT.java
  {
    kind: "test",
    path: /(?:^|\/)(?:Test[A-Z]\w*|\w*(?:Tests?|TestCase|IT|Spec))\.(?:java|kt|scala|groovy)$/,
  },
  // spec/models/cart.rb, spec/fixtures/cart.json, CartTest.php
  {
    kind: "test",
    path: /(?:^|\/)spec\/(?:.*\/)?[^/]+\.rb$|(?:^|\/)spec\/(?:fixtures|support|factories)\/|\wTest\.php$/,
  },
  // tests/data/cart.json, but not tests/README.md
  { kind: "test", path: new RegExp(`(?:^|/)(?:${testFolders})/(?!.*\\.(?:md|rst|adoc)$)`) },
  { kind: "test", path: /\.rs$/, part: "rust_source" },
];

/**
 * A quick test for all files of a tree: each row of tests above requires one of these words, and
 * most paths have none. A no is certain.
 */
export const mayBeTest = (path: string): boolean => testPathPattern.test(path);
const testPathPattern =
  /test|spec|e2e|mocks|fixtures|cypress|\.(?:cy\.|bats$|rs$|t$)|\bx?t\/|IT\.(?:java|kt|scala|groovy)$|src\/it\//i;
