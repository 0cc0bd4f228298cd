// status-entry: `autopilot status` in its own file, because it is called often: the file has only what that command needs. What is not
// plainly that command (help, a slip, a folder that is not there, no run to speak of, documents beside it) is left to the whole command
// line.

import { isPlain, status } from "../../commands/status.ts";
import { respond } from "../../project/respond.ts";
import { begin } from "./begin.ts";
import { runCommand, reportCrash, resolveFolder } from "./run-command.ts";
import { statusCommand } from "./commands/status-command.ts";
import { defined } from "./defined.ts";
import { parse, type Parsed } from "./parse.ts";
import type { Command } from "./spec.ts";

const quick: Command = {
  ...statusCommand,
  run: (context, input) =>
    status(context, defined({ run: input.run }), {
      idle: () => Promise.resolve(respond("run_idle")), // gone since it was looked for
      playbookStatus: () => Promise.resolve(null),
    }),
};

const plainStatus = parsePlainStatus(process.argv.slice(2));

/** Whether this entry can handle the command line by itself. */
export const isTaken = plainStatus !== null;

if (plainStatus !== null)
  begin((argv, io) =>
    runCommand(plainStatus.parsed, { cwd: plainStatus.cwd, argv, io }).catch((error: unknown) => reportCrash(error, argv, io)),
  );

function parsePlainStatus(argv: readonly string[]): { readonly parsed: Parsed; readonly cwd: string } | null {
  const parsed = parse(argv, [quick]);
  if ("misuse" in parsed || parsed.globals.help || parsed.globals.version) return null;
  const { cwd, isFolder } = resolveFolder(parsed.globals, process.cwd());
  if (!isFolder || !isPlain(cwd, parsed.input.run)) return null;
  return { parsed, cwd };
}
