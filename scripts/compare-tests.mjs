// Compares the tests of an older state of the repository with those that lie here, so that none is lost unnoticed:
//   node scripts/compare-tests.mjs COMMIT [--markdown]
// Reads titles from the sources, so that nothing has to run. Says of each that was there whether it is still there or is a story of long
// runs, with the test that holds its promise (see test/support/sampled.ts); names the tables of which a sample is played. Exits with 1 where a
// title is not found.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [commit = "main", form] = process.argv.slice(2);
const root = resolve(import.meta.dirname, "..");
const git = (...words) =>
  execFileSync("git", words, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
const isTest = (path) =>
  /^(?:src|test)\/.*\.test\.ts$/.test(path) && !path.startsWith("test/fixtures/");
/** A test beside a source that starts processes or computes for long has ".whole" in its file's name since. */
const nameOf = (path) => path.replace(".whole.test.ts", ".test.ts");

const quoted = String.raw`(["'\`])((?:\\.|(?!\1)[^])*?)\1`;
const called = new RegExp(
  String.raw`\b(test|it|longTest)(?:\.\w+(?:\([^()\n]*\))?)*\(\s*${quoted.replaceAll("\\1", "\\2")}`,
  "g",
);
const ofTable = new RegExp(
  String.raw`\)\(\s*${quoted},\s*(?:\{[^}]*\},\s*)?(?:async )?(?:\(|\w+ =>)`,
  "g",
);
const held = /\blongTest\(\s*"((?:[^"\\]|\\.)+)",\s*"((?:[^"\\]|\\.)+)"/g;

function titlesIn(text) {
  const titles = [...text.matchAll(called)].map(([, , , title]) => title);
  return new Set([...titles, ...[...text.matchAll(ofTable)].map(([, , title]) => title)]);
}

/** Titles that say less since, because an everyday run does less. */
const renamed = new Map([
  [
    "killed after every step, it ends with the same steps, commits, branches and figures",
    "killed as its steps end, it ends with the same steps, commits, branches and figures",
  ],
]);

const here = new Map();
for (const folder of ["src", "test"])
  for (const path of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter(isTest))
    here.set(nameOf(path), (here.get(nameOf(path)) ?? "") + readFileSync(join(root, path), "utf8"));
const everyTitle = new Set([...here.values()].flatMap((text) => [...titlesIn(text)]));
let before = 0;
const stories = [];
const lost = [];

for (const path of git("ls-tree", "-r", "--name-only", commit, "src", "test")
  .split("\n")
  .filter(isTest)) {
  const file = nameOf(path);
  const long = new Map(
    [...(here.get(file) ?? "").matchAll(held)].map(([, title, by]) => [title, by]),
  );
  for (const old of titlesIn(git("show", `${commit}:${path}`))) {
    const title = renamed.get(old) ?? old;
    before += 1;
    if (long.has(title)) stories.push({ file, title, by: long.get(title) });
    else if (!everyTitle.has(title)) lost.push(`${file} › ${title}`);
  }
}

const show = (line) => process.stdout.write(`${line}\n`);
if (form === "--markdown")
  for (const { file, title, by } of stories) show(`| ${file} › ${title} | ${by} |`);
else {
  show(
    `${before} titles at ${commit}, ${lost.length} not found, ${stories.length} in long runs only.`,
  );
  show("\nTables of which an everyday run plays a sample:");
  for (const [file, text] of [...here].sort())
    for (const [, count, table] of text.matchAll(
      /\b(?:aFew|sampled)\(\s*([^,)]+)\)?(?:\.each|,)\s*([^\n]*)/g,
    ))
      show(`  ${file}: ${count} of ${table.slice(0, 60)}`);
  show("\nIn long runs only, and held in every run by:");
  for (const { file, title, by } of stories) show(`  ${file} › ${title}\n    ${by}`);
  if (lost.length > 0) show("\nNot found by title:");
  for (const one of lost) show(`  ${one}`);
}
process.exitCode = lost.length === 0 ? 0 : 1;
