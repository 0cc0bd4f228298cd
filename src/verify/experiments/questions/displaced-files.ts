// displaced-files: finds new files that take the place of older code which is still there: of the
// same name in another folder, or with a type or module of that name. No list of how languages look
// for files is needed: the older one is broken, with and without the new one.
//
// Invariants:
//   D1. A name that several older files have identifies none of them, and is not asked about.
//   D2. The older file is not read if the check passes with an error in its first line.
//   D3. It would be read if, without the new file, the check fails and names the older one, and
//       doesn't fail so without that error.
//   D4. A new test beside an older one takes nobody's place: a command may ask for one of them.

import { basename, extname } from "node:path/posix";
import { isProgramText } from "../../protected/kinds.ts";
import { breakFirstLine } from "../run-code.ts";
import { isTest, type QuestionContext, readChanged } from "./question-context.ts";

const displacedMax = 3;
const namesakesMax = 2;

/** What a file defines that others may ask for by name, in the languages known. */
const definition =
  /\b(?:class|interface|enum|record|struct|object|trait|protocol|module|package|namespace)\s+([\w:.\\]+)/g;

type Displacement = { readonly path: string; readonly older: string };

export async function findDisplacedFiles(context: QuestionContext): Promise<string | null> {
  const displaced: Displacement[] = [];
  for (const pair of await findNamesakes(context)) {
    if (await isDisplaced(context, pair)) displaced.push(pair);
  }

  return displaced.length === 0 ? null : displaced.map(describeDisplaced).join("; ");
}

export const describeDisplaced = ({ path, older }: Displacement): string =>
  `${path} takes the place of ${older}, which is not read any more`;

/** New files, and older code that they may stand for. */
async function findNamesakes(context: QuestionContext): Promise<readonly Displacement[]> {
  const { differences, rules } = context;
  const added = new Set(differences.filter(({ kind }) => kind === "added").map(({ path }) => path));
  if (added.size === 0) return [];
  const texts = await readChanged(context, (path) => added.has(path) && isProgramText(path));
  const gone = new Set(
    differences.filter(({ kind }) => kind === "deleted").map(({ path }) => path),
  );
  const pairs: Displacement[] = [];

  for (const { path, is } of texts) {
    const defined = [...is.matchAll(definition)].map(([, name = ""]) =>
      name.split(/[:.\\]+/).at(-1),
    );
    const names = new Set([stemOf(path), ...defined]);
    const namesakes = [...rules.base].filter(
      (older) => extname(older) === extname(path) && names.has(stemOf(older)),
    );

    for (const name of names) {
      const ofName = namesakes.filter((older) => stemOf(older) === name);
      if (ofName.length > namesakesMax) continue; // D1
      const code = ofName.filter(
        (older) =>
          !gone.has(older) &&
          isProgramText(older) &&
          (!isTest(context, older) || !isTest(context, path)), // D4
      );
      pairs.push(...code.map((older) => ({ path, older })));
    }
  }

  return pairs.slice(0, displacedMax);
}

const stemOf = (path: string): string => basename(path, extname(path));

async function isDisplaced(
  { lab, runWith }: QuestionContext,
  { path, older }: Displacement,
): Promise<boolean> {
  const text = await lab.textAt("work", older);
  if (text === null) return false;
  const edits = [{ path: older, text: breakFirstLine(older, text) }];
  const whether = `${path} takes the place of ${older}`;
  const broken = await runWith(whether, { edits });
  const isUnread = broken?.passed === true && (broken.tests?.ran ?? 0) >= (lab.now.tests?.ran ?? 0); // D2
  if (!isUnread) return false;

  const alone = await runWith(whether, { edits, without: [path] });
  const told = alone?.passed === false ? listLinesWith(older, alone.readOutput?.()) : [];
  if (told.length === 0) return false;
  const whole = await runWith(whether, { without: [path] });
  if (whole === null) return false;
  const known = new Set(listLinesWith(older, whole.readOutput?.()));

  return told.some((line) => !known.has(line)); // D3
}

/** The lines that name a path, without their numbers. */
const listLinesWith = (path: string, output = ""): readonly string[] =>
  output
    .split("\n")
    .filter((line) => line.includes(path))
    .map((line) => line.replaceAll(/\d+/g, "0"));
