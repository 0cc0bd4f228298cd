// own-commands: finds what a criterion goes by and the work wrote itself: the rule or script behind
// `make check-all` or `npm run lint`, and the file that `… | diff - expected.txt` compares with.
// Such a check can well fail, and yet ask for less than its name says.

import { listSome } from "../../../kit/list-some.ts";
import { findNewCommands } from "../../new-commands.ts";
import { isReadOnly } from "../../protected/programs.ts";
import { findComparedFiles } from "../broken-expectations/shell-expectations.ts";
import type { QuestionContext } from "./question-context.ts";

export async function findOwnCommands(context: QuestionContext): Promise<string | null> {
  const { command } = context.check;
  const own = await findNewCommands(command, context.differences, context.lab.textAt);
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
