import { expect, test } from "vitest";
import { isOwnData } from "./own-data.ts";

const code = [
  {
    path: "src/slug.js",
    text: "const rules = JSON.parse(readFileSync(new URL('../data/rules.json', import.meta.url), 'utf8'));",
  },
];
const tests = [
  {
    path: "test/slug.test.js",
    text: "assert.equal(slugify('Salt & Pepper'), 'salt-and-pepper'); assert.equal(slugify('a@b'), 'a-at-b');",
  },
];
const isRules = (text: string, path = "data/rules.json", judges = tests): boolean =>
  isOwnData({ path, text }, code, judges);

test("rules that the code reads and tests don't are the work", () => {
  expect(isRules('{ "replace": [["&", " and "], ["@", " at "]], "separator": "-" }')).toBe(true);
});

test("a large table counts even if tests ask some of it", () => {
  const countries = {
    DE: "Germany",
    FR: "France",
    IT: "Italy",
    ES: "Spain",
    PT: "Portugal",
    AT: "Austria",
  };

  const asked = [
    {
      path: "test/a.test.js",
      text: "equal(country('DE'), 'Germany'); equal(country('FR'), 'France');",
    },
  ];
  expect(isRules(JSON.stringify(countries), "data/rules.json", asked)).toBe(true);
  expect(isRules('{"DE":"Germany","FR":"France"}', "data/rules.json", asked)).toBe(false);
});

test("a table of what tests ask and expect is no data of the code's own, in any form", () => {
  expect(isRules('{"Salt & Pepper":"salt-and-pepper","a@b":"a-at-b"}')).toBe(false);
  expect(
    isRules('[{"in":"Salt & Pepper","out":"salt-and-pepper"},{"in":"a@b","out":"a-at-b"}]'),
  ).toBe(false);
});

test("nor is what no code names, what tests name, or what is no data", () => {
  expect(isRules("{}", "data/other.json")).toBe(false);
  expect(
    isRules("{}", "data/rules.json", [{ path: "test/a.test.js", text: "read('data/rules.json')" }]),
  ).toBe(false);

  expect(
    isOwnData(
      { path: "data/rules", text: "x" },
      [{ path: "a.js", text: "read('data/rules')" }],
      tests,
    ),
  ).toBe(false);
});
