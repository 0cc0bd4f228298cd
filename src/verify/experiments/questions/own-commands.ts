// own-commands: finds what a criterion goes by and the work wrote itself: the rule or script behind
// `make check-all` or `npm run lint`, and the file that `… | diff - expected.txt` compares with.
// Such a check can well fail, and yet ask for less than its name says.

import { listSome } from "../../../kit/list-some.ts";
import { isReadOnly } from "../../protected/programs.ts";
import { parseMakefile } from "../../protected/parts/parse-makefile.ts";
import { findComparedFiles } from "../broken-expectations/shell-expectations.ts";
import type { QuestionContext } from "./question-context.ts";

const makefiles = ["GNUmakefile", "makefile", "Makefile"];

export async function findOwnCommands(context: QuestionContext): Promise<string | null> {
  const { command } = context.check;
  const own = [
    ...(await listOwnTargets(context, command)),
    ...(await listOwnScripts(context, command)),
  ];
  const added = new Set(
    context.differences.filter(({ kind }) => kind === "added").map(({ path }) => path),
  );
  const compared = isReadOnly(command)
    ? []
    : findComparedFiles("", command).filter((path) => added.has(path));

  const gaps = [
    ...(own.length === 0 ? [] : [`what ${listSome(own)} does was written by the work: read it`]),
    ...(compared.length === 0
      ? []
      : [
          `what it compares with was written by the work (${listSome([...new Set(compared)])}): read it`,
        ]),
  ];
  return gaps.length === 0 ? null : gaps.join("; ");
}

/** `make check-all`, if the rule is new. */
async function listOwnTargets(
  { differences, lab }: QuestionContext,
  command: string,
): Promise<readonly string[]> {
  const path = makefiles.find((name) => differences.some((one) => one.path === name));
  const words = [...command.matchAll(/\bmake\s+([^;&|]*)/g)].flatMap(([, text = ""]) =>
    text.split(/\s+/).filter((word) => /^[\w.-]+$/.test(word) && !word.startsWith("-")),
  );
  if (path === undefined || words.length === 0) return [];
  const [before, now] = [await lab.textAt("base", path), await lab.textAt("work", path)];
  const targets = (text: string | null): ReadonlyMap<string, unknown> =>
    parseMakefile(text ?? "").rules;
  return words
    .filter((word) => targets(now).has(word) && !targets(before).has(word))
    .map((word) => `\`make ${word}\``);
}

/** `npm run lint`, if the script is new. */
async function listOwnScripts(
  { differences, lab }: QuestionContext,
  command: string,
): Promise<readonly string[]> {
  const calls = [...command.matchAll(/\b(npm|pnpm|yarn|bun)\s+(run\s+)?(?:-\S+\s+)*([\w:.-]+)/g)];
  if (calls.length === 0 || !differences.some(({ path }) => path === "package.json")) return [];
  const [before, now] = [
    readScripts(await lab.textAt("base", "package.json")),
    readScripts(await lab.textAt("work", "package.json")),
  ];
  return calls
    .filter(([, , , name = ""]) => now.has(name) && !before.has(name))
    .map(([, program = "", run = "", name = ""]) => `\`${program} ${run}${name}\``);
}

function readScripts(text: string | null): ReadonlySet<string> {
  try {
    const { scripts } = JSON.parse(text ?? "{}") as { readonly scripts?: object };
    return new Set(Object.keys(scripts ?? {}));
  } catch {
    return new Set();
  }
}
