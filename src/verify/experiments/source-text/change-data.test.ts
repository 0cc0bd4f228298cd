import { expect, test } from "vitest";
import { changeContents, listValueWords } from "./change-data.ts";

test("every letter and digit is another one, and the shape stays", () => {
  expect(changeContents("a.html", '<h1 id="z9">Zoë</h1>\n', 0)).toBe('<i2 je="a1">Apë</i2>\n');
  expect(
    JSON.parse(changeContents("a.json", '{"a\\n": true, "b": 90, "c": 1e5, "d": "x\\ty"}', 0)),
  ).toEqual({
    "a\n": true,
    b: 23,
    c: 1e8,
    d: "b\tc",
  });
});

test("names of fields stay", () => {
  expect(changeContents("a.yaml", "- in: ab\n  out: cd\n", 0)).toBe("- in: bc\n  out: ef\n");
  expect(changeContents("a.ini", "[db]\nhost = ab\nport = 12\n", 0)).toBe(
    "[db]\nhost = bc\nport = 34\n",
  );

  expect(changeContents("a.csv", "name,age\nab,1\ncd,2\n", 0)).toBe("name,age\nbc,3\nde,4\nde,4\n");
});

test("values beside each other are changed differently, kinds of files too, and code that counts lines finds one more", () => {
  expect(changeContents("a.csv", "ab,1\nab,1\n", 0)).toBe("bc,3\nbc,3\nbc,3\n");
  expect(changeContents("a.txt", "ab,1\n", 1)).toBe("fg,7\nfg,7\n");
});

test("the words of a file are those of its values", () => {
  expect(listValueWords("a.ini", "[server]\nhost = localhost\nport = 5432\nx = 1\n")).toEqual([
    "localhost",
    "5432",
  ]);
});
