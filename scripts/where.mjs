// where: `npm run where -- WORDS` names the source files that fit the words best, by their path, first sentence, exported names with their
// comments, and rows of docs/WHERE.md.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const shownMax = 8;
const weights = { path: 5, rows: 4, sentence: 3, names: 2, comments: 1 };
const exported =
  /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)?export (?:async )?(?:const|function\*?|type|class) (\w+)/g;

/** The words of a text without their endings, so that "deletes" finds "deleted"; `toStems` has two. */
const toStems = (text) =>
  (text.replace(/([a-z])([A-Z])/g, "$1 $2").match(/[A-Za-z0-9]+/g) ?? []).map((word) =>
    word.toLowerCase().replace(/(?<=\w{3})(?:ies|ied|ing|ed|es|s|e|y)$/, ""),
  );

/** What the page's rows are about, by each path that they name. */
function readRows(page) {
  const rows = {};
  for (const line of page.split("\n")) {
    let folder = "";
    for (const [, word] of line.matchAll(/`([^`\s]+\.(?:ts|yaml))`/g)) {
      const path = word.includes("/") ? word : `${folder}/${word}`;
      folder = dirname(path);
      rows[path] = `${rows[path] ?? ""} ${line.split(" | ")[0]}`;
    }
  }
  return rows;
}

/** The files of a repository that fit the words, best first: `{ path, sentence, score }`. */
function findPlaces(root, words) {
  const wanted = new Set(toStems(words.join(" ")));
  const rows = readRows(readFileSync(join(root, "docs/WHERE.md"), "utf8"));
  const scored = readdirSync(join(root, "src"), { recursive: true })
    .sort()
    .map((path) => `src/${path.replaceAll("\\", "/")}`)
    .filter((path) => /(?<!\.test|\.test-support)\.(?:ts|yaml)$/.test(path))
    .map((path) => {
      const text = readFileSync(join(root, path), "utf8");
      const header = (/^(?:(?:\/\/|#).*\n)+/.exec(text)?.[0] ?? "").replace(
        /\s*(?:\/\/|#)\s*/g,
        " ",
      );
      const sentence = header
        .trim()
        .replace(/^[\w.-]+: /, "")
        .split(/(?<=\.)\s/)[0];
      const found = [...text.matchAll(exported)];
      const [comments, names] = [1, 2].map((group) => found.map((match) => match[group]).join(" "));
      const parts = { path: path.slice(4), rows: rows[path] ?? "", sentence, names, comments };
      const stems = Object.entries(parts).map(([part, of]) => [
        weights[part],
        new Set(toStems(of)),
      ]);
      const points = [...wanted].map((word) =>
        Math.max(0, ...stems.map(([weight, of]) => (of.has(word) ? 100 + weight : 0))),
      );
      return { path, sentence, score: points.reduce((sum, point) => sum + point, 0) };
    });
  const fitting = scored.filter(({ score }) => score > 0);
  return fitting.sort((one, other) => other.score - one.score).slice(0, shownMax);
}

const places = findPlaces(join(import.meta.dirname, ".."), process.argv.slice(2));
for (const { path, sentence } of places) process.stdout.write(`${path}\n    ${sentence}\n`);
if (places.length === 0) process.stdout.write("Nothing fits. Other words, or docs/WHERE.md?\n");
