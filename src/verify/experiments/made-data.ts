// made-data: finds a program of the work that turns data of the project into what checks ask for: a
// migration, a generator. It is code then, not a judge, and its data is nobody's word.
//
// Invariants:
//   G1. On the data as it was before the work, the other checks fail, and pass behind the program.
//   G2. The program fails without data that was there before: what it writes does not stand in it.
//   G3. Data counts as made only if the program writes it as it was committed.

import { asSet } from "../../kit/as-set.ts";
import { shellWord } from "../../kit/shell-word.ts";
import { isProgramText } from "../protected/kinds.ts";
import {
  codePathPattern,
  findNamedPaths,
  isReadOnly,
  judgingPathPattern,
  splitJudgingParts,
} from "../protected/programs.ts";
import { joinCommands } from "./join-commands.ts";
import type { Edit, Lab, MadeData } from "./lab.ts";

const filesMax = 4;

/** `commands`: those of all checks. Null if there is no such program. */
export async function findMadeData(
  lab: Lab,
  commands: readonly string[],
): Promise<MadeData | null> {
  const started = commands.filter((command) => !isReadOnly(command));
  for (const command of started) {
    const others = commands.filter((other) => other !== command);
    const found = others.length === 0 ? null : await findMadeBy(lab, command, others);
    if (found !== null) return found;
  }

  return null;
}

async function findMadeBy(
  lab: Lab,
  command: string,
  others: readonly string[],
): Promise<MadeData | null> {
  const named = findNamedPaths(splitJudgingParts(command));
  const program = lab.changedPaths.find(
    (path) =>
      named.has(path) &&
      isProgramText(path) &&
      !judgingPathPattern.test(path) &&
      !codePathPattern.test(path),
  );
  if (program === undefined) return null;

  const data = await findData(lab, program);
  if (data.length === 0) return null;

  const before = await takeBack(lab, data);
  const otherCommands = joinCommands(others);
  const alone = await lab.run("work", before.edits, before.gone, otherCommands);
  if (alone?.passed !== false) return null; // G1
  const shown = `printf '\\n${separator}\\n' && cat ${data.map(({ path }) => shellWord(path)).join(" ")}`;
  const behind = await lab.run(
    "work",
    before.edits,
    before.gone,
    joinCommands([command, ...others, shown]),
  );
  if (behind?.passed !== true) return null; // G1

  const olderPaths = before.edits.map(({ path }) => path);
  const without = olderPaths.length === 0 ? null : await lab.run("work", [], olderPaths, command);
  if (without?.passed === true) return null; // G2

  const printed = behind.readOutput?.().split(`\n${separator}\n`).at(-1) ?? "";
  const isMade =
    printed.trim() ===
    data
      .map(({ text }) => text)
      .join("")
      .trim(); // G3
  return { program, paths: isMade ? data.map(({ path }) => path) : [] };
}

const separator = "-- data --";

/** Changed files of the project's that the program names. */
async function findData(lab: Lab, program: string): Promise<readonly Edit[]> {
  const source = (await lab.textAt("work", program)) ?? "";
  const paths = lab.changedPaths.filter(
    (path) => path !== program && !isProgramText(path) && source.includes(path),
  );
  const texts = await Promise.all(
    paths.slice(0, filesMax).map(async (path) => ({ path, text: await lab.textAt("work", path) })),
  );

  return texts.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
}

/** The data as it was before the work. */
async function takeBack(
  lab: Lab,
  data: readonly Edit[],
): Promise<{ readonly edits: readonly Edit[]; readonly gone: readonly string[] }> {
  const basePaths = asSet(await lab.pathsAt("base"));
  const edits: Edit[] = [];
  const gone: string[] = [];
  for (const { path } of data) {
    const text = basePaths.has(path) ? await lab.textAt("base", path) : null;
    if (text === null) gone.push(path);
    else edits.push({ path, text });
  }

  return { edits, gone };
}
