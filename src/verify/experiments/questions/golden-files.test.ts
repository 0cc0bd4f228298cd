import { expect, test } from "vitest";
import { changeContents, findNamedFiles } from "./golden-files.ts";

const tests = [
  { path: "test/md.test.js", text: "for (const file of readdirSync('samples')) read(`samples/${file}`); open('data/one.txt');" },
];
const paths = ["data/one.out", "samples/a.md", "samples/a.html", "data/one.txt", "data/two.txt", "other/a.md", "a.md"];

test("files count whose name or folder a test names", () => {
  expect(findNamedFiles(tests, paths, () => true)).toEqual([
    "data/one.out",
    "samples/a.md",
    "samples/a.html",
    "data/one.txt",
    "data/two.txt",
  ]);
  expect(findNamedFiles(tests, paths, (path) => path.endsWith(".md"))).toEqual(["samples/a.md"]);
});

test("what a test imports is no data, nor is anything in a test that reads no file", () => {
  const text = "import { render } from '../samples/render.js';\nconst { x } = require('../data/x.js');\nread('other/c.md'); open('b.txt');";
  expect(findNamedFiles([{ path: "test/a.test.js", text }], paths, () => true)).toEqual(["other/a.md"]);
  expect(findNamedFiles([{ path: "test/a.test.js", text: "equal(f('samples/a.md'), 1);" }], paths, () => true)).toEqual([]);
});

test("files beside a named one count if they are named alike", () => {
  const text = "const wanted = read('in/a.csv'.replace('csv', 'out')); open('in/a.csv');";
  expect(findNamedFiles([{ path: "test/a.test.js", text }], ["in/b.csv", "x/a.csv", "x/a.out", "x/b.out"], () => true)).toEqual([
    "in/b.csv",
    "x/a.csv",
    "x/a.out",
  ]);
});

test("every letter and digit is another one, and the shape stays", () => {
  expect(changeContents("a.html", '<h1 id="z9">Zoë</h1>\n', 1)).toBe('<i2 je="a0">Apë</i2>\n');
  expect(changeContents("a.json", '{"a\\n": true, "b": 1}', 2)).toBe('{"c\\n": true, "d": 3}');
});

test("inputs and answers are changed differently, and code that counts lines finds one more", () => {
  expect(changeContents("a.csv", "ab,1\ncd,2\n", 1)).toBe("bc,2\nde,3\nde,3\n");
  expect(changeContents("a.csv", "ab,1\ncd,2\n", 2)).toBe("cd,3\nef,4\nef,4\n");
});
