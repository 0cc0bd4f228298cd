// own-commands: finds what a criterion goes by and the work wrote itself: the rule or script behind
// `make check-all` or `npm run lint`, and the file that `… | diff - expected.txt` compares with.
// Such a check can well fail, and yet ask for less than its name says.

import { listSome } from "../../../kit/list-some.ts";
import { listMakeTargets, makefileNames, parseScripts } from "../../gates/named-commands.ts";
import { isReadOnly } from "../../protected/programs.ts";
import { findRequestedTargets } from "../../protected/parts/makefile-parts.ts";
import { findComparedFiles } from "../broken-expectations/shell-expectations.ts";
import type { QuestionContext } from "./question-context.ts";

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
  const path = makefileNames.find((name) => differences.some((one) => one.path === name));
  if (path === undefined) return [];
  const [before, now] = [await lab.textAt("base", path), await lab.textAt("work", path)].map(
    (text) => new Set(listMakeTargets(text ?? "")),
  );
  return findRequestedTargets({ commands: [command] })
    .filter((target) => now?.has(target) === true && before?.has(target) !== true)
    .map((target) => `\`make ${target}\``);
}

/** `npm run lint`, if the script is new. */
async function listOwnScripts(
  { differences, lab }: QuestionContext,
  command: string,
): Promise<readonly string[]> {
  if (!differences.some(({ path }) => path === "package.json")) return [];
  const [before, now] = [
    await lab.textAt("base", "package.json"),
    await lab.textAt("work", "package.json"),
  ].map((text) => new Set(parseScripts(text ?? "{}")));
  return [...command.matchAll(/\b(npm|pnpm|yarn|bun)\s+(run\s+)?(?:-\S+\s+)*([\w:.-]+)/g)]
    .filter(([, , , name = ""]) => now?.has(name) === true && before?.has(name) !== true)
    .map(([, program = "", run = "", name = ""]) => `\`${program} ${run}${name}\``);
}
