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

test("every letter and digit is another one, and the shape stays", () => {
  expect(changeLetters('<h1 id="z9">Zoë</h1>')).toBe('<i2 je="a0">Apë</i2>');
});
