// status-entry: the fast entry of `autopilot status`, which is called often: it loads only what
// that command needs. Whatever is not plainly that command (help, a usage error, a missing folder,
// no run, a run with documents) is left to the whole command line.

import { needsNoExtensions, status } from "../../commands/status.ts";
import { respond } from "../../project/respond.ts";
import { startProcess } from "./start-process.ts";
import { runCommand, reportCrash, resolveFolder } from "./run-command.ts";
import { statusCommand } from "./commands/status-command.ts";
import { omitUndefined } from "../../kit/omit-undefined.ts";
import { parseCommandLine, type ParsedCommandLine } from "./parse-command-line.ts";
import type { Command } from "./spec.ts";

const fastStatus: Command = {
  ...statusCommand,
  run: (context, input) =>
    status(context, omitUndefined({ run: input.run }), {
      idle: () => Promise.resolve(respond("run_idle")), // the run was removed after `needsNoExtensions` had found it
      playbookStatus: () => Promise.resolve(null),
    }),
};

const plainStatus = parsePlainStatus(process.argv.slice(2));

/** Whether this entry can handle the command line by itself. */
export const isTaken = plainStatus !== null;

if (plainStatus !== null) {
  startProcess((argv, io) =>
    runCommand(plainStatus.parsed, { cwd: plainStatus.cwd, argv, io }).catch((error: unknown) =>
      reportCrash(error, argv, io),
    ),
  );
}

/** The command line, if it is a `status` that this entry can answer; else null. */
function parsePlainStatus(
  argv: readonly string[],
): { readonly parsed: ParsedCommandLine; readonly cwd: string } | null {
  const parsed = parseCommandLine(argv, [fastStatus]);
  if ("misuse" in parsed || parsed.globals.help || parsed.globals.version) return null;
  const { cwd, isFolder } = resolveFolder(parsed.globals, process.cwd());
  if (!isFolder || !needsNoExtensions(cwd, parsed.input.run)) return null;

  return { parsed, cwd };
}
