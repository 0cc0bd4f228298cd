// main: parses a command line, runs its command and returns the exit code.

import type { CommandResponse } from "../../contracts/command-response.ts";
import * as runElsewhere from "./run-elsewhere.ts";
import {
  runCommand,
  reportCrash,
  resolveFolder,
  createFailureResponse,
  printResponse,
} from "./run-command.ts";
import { chapters, commands } from "./catalog.ts";
import { createHelpResponse } from "./commands/help.ts";
import { overviewUsage, formatUsageLine } from "./help-page.ts";
import type { CommandIo } from "./io.ts";
import { type Misuse, parseCommandLine, type ParsedCommandLine } from "./parse-command-line.ts";
import type { Command } from "./spec.ts";

export async function main(
  argv: readonly string[],
  io: CommandIo,
  knownCommands: readonly Command[] = commands,
): Promise<number> {
  try {
    const parsed = parseCommandLine(argv, knownCommands);
    if ("misuse" in parsed) return reportMisuse(parsed, argv, io);
    const { cwd, isFolder } = resolveFolder(parsed.globals, io.cwd);
    if (!isFolder) {
      return reportMisuse(
        { misuse: `${cwd} is not a folder.`, hint: "autopilot help", command: null },
        argv,
        io,
      );
    }

    const helpOrVersion = await respondToHelpOrVersion(parsed);
    if (helpOrVersion !== null) return printResponse(helpOrVersion, argv, io);
    return await runCommand(parsed, { cwd, argv, io, elsewhere: runElsewhere });
  } catch (error) {
    return reportCrash(error, argv, io);
  }
}

function reportMisuse(
  { misuse, hint, command }: Misuse,
  argv: readonly string[],
  io: CommandIo,
): number {
  const usage = command === null ? overviewUsage : formatUsageLine(command);
  return printResponse(
    { ...createFailureResponse("usage", misuse), remediation: [hint] },
    argv,
    io,
    [usage],
  );
}

/** The response to --version and --help, which need no project; null if neither was given. */
async function respondToHelpOrVersion({
  globals,
  command,
  isImplied,
}: ParsedCommandLine): Promise<CommandResponse | null> {
  if (globals.help) return createHelpResponse(chapters, isImplied ? "" : command.name);
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
