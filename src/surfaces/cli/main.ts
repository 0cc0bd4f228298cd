// main: parses a command line, runs its command and returns the exit code.

import type { Answer } from "../../contracts/answer.ts";
import * as runElsewhere from "./run-elsewhere.ts";
import { carryOut, answerCrash, resolveFolder, plainAnswer, printAnswer } from "./carry-out.ts";
import { chapters, commands } from "./catalog.ts";
import { helpAnswer } from "./commands/help.ts";
import type { Io } from "./io.ts";
import { type Misuse, parse, type Parsed } from "./parse.ts";
import type { Command } from "./spec.ts";

export async function main(argv: readonly string[], io: Io, knownCommands: readonly Command[] = commands): Promise<number> {
  try {
    const parsed = parse(argv, knownCommands);
    if ("misuse" in parsed) return answerMisuse(parsed, argv, io);
    const { cwd, isFolder } = resolveFolder(parsed.globals, io.cwd);
    if (!isFolder) return answerMisuse({ misuse: `${cwd} is not a folder.`, hint: "autopilot help", command: null }, argv, io);
    const special = await specialAnswer(parsed);
    if (special !== null) return printAnswer(special, argv, io);
    return await carryOut(parsed, cwd, argv, io, runElsewhere);
  } catch (error) {
    return answerCrash(error, argv, io);
  }
}

function answerMisuse({ misuse, hint, command }: Misuse, argv: readonly string[], io: Io): number {
  return printAnswer({ ...plainAnswer("usage", misuse), remediation: [hint] }, argv, io, command);
}

/** The answer to --version and --help, which need no project. */
async function specialAnswer({ globals, command, isImplied }: Parsed): Promise<Answer | null> {
  if (globals.help) return helpAnswer(chapters, isImplied ? "" : command.name);
  if (!globals.version) return null;
  const { product, version } = await import("../../project/runs/product.ts");
  return {
    result: "PASS",
    reason_code: "ok",
    run_id: null,
    state: null,
    message: product,
    warnings: [],
    remediation: [],
    page: [product],
    data: { version },
  };
}
