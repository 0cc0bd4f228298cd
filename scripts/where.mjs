// where: `npm run where -- WORDS` names the source files that fit the words best, by their path, first sentence, exported names with their
// comments, and rows of docs/WHERE.md. A word that few files have counts more.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const shownMax = 8;
/** What a file gets for a word wherever it has it; `weights` are added by where that is. */
const basePoints = 10;
const weights = { path: 5, rows: 4, sentence: 3, names: 2, comments: 1 };
/** Words of a question that say nothing of a file. */
const commonWords = new Set(
  "the of on a to is how what when where which in for and an it its that".split(" "),
);
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

/** A file's first sentence, and the words of each of its parts: `{ path, sentence, stems }`. */
function readPlace(root, path, rows) {
  const text = readFileSync(join(root, path), "utf8");
  const header = /^(?:(?:\/\/|#).*\n)+/.exec(text)?.[0] ?? "";
  const sentence = header
    .replace(/\s*(?:\/\/|#)\s*/g, " ")
    .trim()
    .replace(/^[\w.-]+: /, "")
    .split(/(?<=\.)\s/)[0];
  const found = [...text.matchAll(exported)];
  const [comments, names] = [1, 2].map((group) => found.map((match) => match[group]).join(" "));
  const parts = { path: path.slice(4), rows, sentence, names, comments };
  const stems = Object.entries(parts).map(([part, of]) => [weights[part], new Set(toStems(of))]);
  return { path, sentence, stems };
}

/** What a file gets for a word: 0 if it does not have it. */
const pointsFor = ({ stems }, word) =>
  Math.max(0, ...stems.map(([weight, of]) => (of.has(word) ? basePoints + weight : 0)));

/** The files of a repository that fit the words, best first: `{ path, sentence, score }`. */
function findPlaces(root, words) {
  const spoken = words.flatMap((word) => word.split(/\s+/));
  const telling = spoken.filter((word) => !commonWords.has(word.toLowerCase()));
  const wanted = [...new Set(toStems(telling.join(" ")))];
  const rows = readRows(readFileSync(join(root, "docs/WHERE.md"), "utf8"));
  const places = readdirSync(join(root, "src"), { recursive: true })
    .map((path) => `src/${path.replaceAll("\\", "/")}`)
    .filter((path) => /(?<!\.test|\.test-support)\.(?:ts|yaml)$/.test(path))
    .sort()
    .map((path) => readPlace(root, path, rows[path] ?? ""));

  const scores = places.map(() => 0);
  for (const word of wanted) {
    const points = places.map((place) => pointsFor(place, word));
    const files = points.filter((point) => point > 0).length;
    const rarity = Math.log(1 + places.length / Math.max(1, files));
    points.forEach((point, at) => (scores[at] += point * rarity));
  }

  return places
    .map(({ path, sentence }, at) => ({ path, sentence, score: scores[at] }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, shownMax);
}

const places = findPlaces(join(import.meta.dirname, ".."), process.argv.slice(2));
for (const { path, sentence } of places) process.stdout.write(`${path}\n    ${sentence}\n`);
if (places.length === 0) process.stdout.write("Nothing fits. Other words, or docs/WHERE.md?\n");
