import { expect, test } from "vitest";
import { changeLetters, findNamedFiles } from "./golden-files.ts";

const tests = [
  { path: "test/md.test.js", text: "for (const file of readdirSync('samples')) read(`samples/${file}`); open('data/one.txt');" },
];
const paths = ["samples/a.md", "samples/a.html", "data/one.txt", "data/two.txt", "other/a.md", "a.md"];

test("files count whose name or folder a test names", () => {
  expect(findNamedFiles(tests, paths, () => true)).toEqual(["samples/a.md", "samples/a.html", "data/one.txt", "data/two.txt"]);
  expect(findNamedFiles(tests, paths, (path) => path.endsWith(".md"))).toEqual(["samples/a.md"]);
});

test("what a test imports is no data, nor is anything in a test that reads no file", () => {
  const text = "import { render } from '../samples/render.js';\nconst { x } = require('../data/x.js');\nread('other/c.md'); open('b.txt');";
  expect(findNamedFiles([{ path: "test/a.test.js", text }], paths, () => true)).toEqual(["other/a.md"]);
  expect(findNamedFiles([{ path: "test/a.test.js", text: "equal(f('samples/a.md'), 1);" }], paths, () => true)).toEqual([]);
});

test("every letter and digit is another one, and the shape stays", () => {
  expect(changeLetters('<h1 id="z9">Zoë</h1>')).toBe('<i2 je="a0">Apë</i2>');
});
