// where: `npm run where -- WORDS` names the source files that fit the words best, by their path, first sentence, exported names and fields with
// their comments, constants, the texts in their tables and specifications, and rows of docs/WHERE.md; a little also by all other words in them.
// A word that few files have counts more.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const shownMax = 8;
/** What a file gets for a word, by where it has it. Fields have many words that tell little. */
const weights = {
  name: 15,
  rows: 14,
  sentence: 13,
  names: 12,
  comments: 11,
  folderRows: 9,
  folders: 8,
  constants: 8,
  texts: 6,
  fields: 4,
  rest: 2,
};
const usualPoints = 10;
/** Words of a question that say nothing of a file. */
const commonWords = new Set(
  "the of on a to is how what when where which in for and an it its that".split(" "),
);
const exported =
  /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)?export (?:async )?(?:const|function\*?|type|class) (\w+)/g;
/** A constant at the top of a file that it keeps to itself, with its comment. */
const constant = /^(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)?const (\w+)/gm;
/** What declares fields: a type, a schema, or an object; to the end of its block. */
const declared =
  /^export (?:type \w+(?:<[^=]*>)? = [^;{]*|const \w+(?:: [^=]*)? = (?:v\.\w+\()?)\{[\s\S]*?\}\)?(?: as const)?(?: satisfies [^;]*)?;$/gm;
/** A table or a specification: an object or a list at the top of a file, to the end of its block. */
const table = /^(?:export )?const \w+(?:: [^=]*)? = (?:\w+\()?[{[]\n[\s\S]*?^[}\]]/gm;
/** A text of several words, such as a row's reason or what a flag is about. */
const phrase = /"((?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*)"/g;
const field = /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)?(?<=[{;,\s/])(?:readonly )?(\w+)\??: /g;

/** The words of a text without their endings, so that "deletes" finds "deleted"; `toStems` has two. */
const toStems = (text) =>
  (text.replace(/([a-z])([A-Z])/g, "$1 $2").match(/[A-Za-z0-9]+/g) ?? []).map((word) =>
    word.toLowerCase().replace(/(?<=\w{3})(?:ies|ied|ing|ed|es|s|e|y)$/, ""),
  );

/** What the page's rows are about, by each path that they name; a folder's ends with a slash. */
function readRows(page) {
  const rows = {};
  for (const line of page.split("\n")) {
    let folder = "";
    for (const [, word] of line.matchAll(/`([^`\s]+(?:\.(?:ts|yaml)|\/))`/g)) {
      const path = word.includes("/") ? word : `${folder}/${word}`;
      folder = path.endsWith("/") ? path.slice(0, -1) : dirname(path);
      rows[path] = `${rows[path] ?? ""} ${line.split(" | ")[0]}`;
    }
  }
  return rows;
}

/** A file's first sentence, and the words of each of its parts: `{ path, sentence, stems }`. */
function readPlace(root, path, allRows) {
  const text = readFileSync(join(root, path), "utf8");
  const header = /^(?:(?:\/\/|#).*\n)+/.exec(text)?.[0] ?? "";
  const sentence = header
    .replace(/\s*(?:\/\/|#)\s*/g, " ")
    .trim()
    .replace(/^[\w.-]+: /, "")
    .split(/(?<=\.)\s/)[0];
  const found = [...text.matchAll(exported)];
  const foundConstants = [...text.matchAll(constant)];
  const foundFields = [...text.matchAll(declared)].flatMap(([block]) => [...block.matchAll(field)]);
  const tables = path.endsWith("/embedded.ts") ? [] : [...text.matchAll(table)];
  const texts = tables.flatMap(([block]) => [...block.matchAll(phrase)].map(([, words]) => words));
  const collect = (matches, group) => matches.map((match) => match[group]).join(" ");
  const parts = {
    name: basename(path),
    folders: dirname(path).slice(4),
    rows: allRows[path] ?? "",
    folderRows: allRows[`${dirname(path)}/`] ?? "",
    sentence,
    names: collect(found, 2),
    comments: collect(found, 1),
    constants: `${collect(foundConstants, 1)} ${collect(foundConstants, 2)}`,
    texts: texts.join(" "),
    fields: `${collect(foundFields, 1)} ${collect(foundFields, 2)}`,
    rest: path.endsWith("/embedded.ts") ? "" : text,
  };
  const stems = Object.entries(parts).map(([part, of]) => [weights[part], new Set(toStems(of))]);
  return { path, sentence, stems };
}

/** What a file gets for a word: 0 if it does not have it. */
const pointsFor = ({ stems }, word) =>
  Math.max(0, ...stems.map(([weight, of]) => (of.has(word) ? weight : 0)));

/** Every source file of a repository, with the words of its parts. */
export function readPlaces(root) {
  const rows = readRows(readFileSync(join(root, "docs/WHERE.md"), "utf8"));
  return readdirSync(join(root, "src"), { recursive: true })
    .map((path) => `src/${path.replaceAll("\\", "/")}`)
    .filter((path) => /(?<!\.test|\.test-support)\.(?:ts|yaml)$/.test(path))
    .sort()
    .map((path) => readPlace(root, path, rows));
}

/** The files that fit the words, best first: `{ path, sentence, score }`. */
export function findPlaces(places, words) {
  const spoken = words.flatMap((word) => word.split(/\s+/));
  const telling = spoken.filter((word) => !commonWords.has(word.toLowerCase()));
  const wanted = [...new Set(toStems(telling.join(" ")))];
  const scores = places.map(() => 0);
  for (const word of wanted) {
    const points = places.map((place) => pointsFor(place, word));
    const files = points.reduce((sum, point) => sum + point, 0) / usualPoints;
    const rarity = Math.log(1 + places.length / Math.max(1, files));
    points.forEach((point, at) => (scores[at] += point * rarity));
  }

  return places
    .map(({ path, sentence }, at) => ({ path, sentence, score: scores[at] }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, shownMax);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = findPlaces(readPlaces(join(import.meta.dirname, "..")), process.argv.slice(2));
  for (const { path, sentence } of found) process.stdout.write(`${path}\n    ${sentence}\n`);
  if (found.length === 0) process.stdout.write("Nothing fits. Other words, or docs/WHERE.md?\n");
}
