// Every row of docs/WHERE.md leads somewhere: its files are there, the symbols it names are in
// them, and no folder of src/ is left out.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { isProduct, readRepository, repository, type SourceFile } from "./source.ts";

const files = readRepository();
const page = readFileSync(join(repository, "docs/WHERE.md"), "utf8");

/** The second cells of the page's tables. */
const readPlaces = (text: string): readonly string[] =>
  text.split("\n").flatMap((line) => /^\| (?!to change|-).* \| (.*) \|$/.exec(line)?.[1] ?? []);

const isPath = (word: string): boolean => /\/|\.(?:ts|yaml|md|mjs)$/.test(word);
const isSymbol = (word: string): boolean => /^#?[A-Za-z_][\w.]*$/.test(word);
const isIn = (path: string, place: string): boolean =>
  path === place || (place.endsWith("/") && path.startsWith(place));

/** Whether a file has a symbol; of `checks.env` the last word counts. */
const hasSymbol = ({ text }: SourceFile, symbol: string): boolean =>
  new RegExp(`(?<![\\w$])${symbol.split(".").at(-1) ?? ""}(?![\\w$])`).test(text);

/** What is wrong with a cell: files that are not there, symbols that its files do not have. */
function findFaults(cell: string, all: readonly SourceFile[]): readonly string[] {
  const words = [...cell.matchAll(/`([^`\s*]+)`/g)].map(([, word = ""]) => word);
  let folder = "";
  const places = words.filter(isPath).map((word) => {
    const place = /^(?:src|test|docs|plugin|scripts)\//.test(word) ? word : `${folder}/${word}`;
    folder = dirname(place.endsWith("/") ? `${place}.` : place);
    return place;
  });

  const gone = places.filter((place) => !all.some(({ path }) => isIn(path, place)));
  const named = all.filter(({ path }) => places.some((place) => isIn(path, place)));
  const strange = words
    .filter((word) => !isPath(word) && isSymbol(word))
    .filter((symbol) => !named.some((file) => hasSymbol(file, symbol)));

  const misplaced = [...cell.matchAll(/`([^`]+)`(?:(?:,| and) `([^`]+)`)? in `([^`]+)`/g)].flatMap(
    ([, first = "", second, file = ""]) =>
      [first, ...(second === undefined ? [] : [second])].filter(
        (symbol) =>
          isSymbol(symbol) &&
          !named.some(({ path, text }) => path.includes(file) && hasSymbol({ path, text }, symbol)),
      ),
  );
  return [...new Set([...gone, ...strange, ...misplaced])];
}

test("the files that the page names are there, and have the symbols that stand beside them", () => {
  const places = readPlaces(page);
  expect(places.length).toBeGreaterThan(150);
  expect(places.flatMap((cell) => findFaults(cell, files))).toEqual([]);
});

test("a file that is gone and a symbol that is elsewhere are found", () => {
  const small = [
    { path: "src/core/a.ts", text: "const one = 1;" },
    { path: "src/core/b.ts", text: "const two = 2;" },
  ];
  expect(findFaults("`src/core/a.ts`, `b.ts`", small)).toEqual([]);
  expect(findFaults("`one` in `src/core/a.ts`; `src/core/`", small)).toEqual([]);
  expect(findFaults("`src/core/a.ts`, `c.ts`", small)).toEqual(["src/core/c.ts"]);
  expect(findFaults("`three` in `src/core/a.ts`", small)).toEqual(["three"]);
  expect(findFaults("`one` and `two` in `src/core/a.ts`, `b.ts`", small)).toEqual(["two"]);
});

test("every file and folder that the other pages point to is there", () => {
  const pages = ["CONTRIBUTING.md", "docs/ARCHITECTURE.md"].map((path) =>
    readFileSync(join(repository, path), "utf8"),
  );
  const named = pages.flatMap((text) => [...text.matchAll(/`((?:src|test|scripts)\/[^`<*\s]+)`/g)]);
  expect(named.length).toBeGreaterThan(25);
  const paths = named.map(([, path = ""]) => path);
  const gone = paths.filter((path) => !existsSync(join(repository, path)));
  expect(gone).toEqual([]);
});

test("every folder of src/ has a row", () => {
  const places = readPlaces(page).join(" ");
  const folders = new Set(files.filter(isProduct).map(({ path }) => dirname(path)));
  const isNamed = (folder: string): boolean =>
    places.includes(`\`${folder}/`) || places.includes(`\`${dirname(folder)}/\``);
  expect([...folders].filter((folder) => !isNamed(folder))).toEqual([]);
});
