// status-entry: `autopilot status` in a file of its own, because it is asked over and over: the file holds what that command needs and no more.
// What is not plainly that command (help, a slip, a folder that is not there) is left to the whole command line.

import { begin } from "./begin.ts";
import { carryOut, crashed, folderOf } from "./carry-out.ts";
import { status } from "./commands/status.ts";
import { parse, type Parsed } from "./parse.ts";

const plain = plainly(process.argv.slice(2));

/** Whether the answer is given here. */
export const isTaken = plain !== null;

if (plain !== null) begin((argv, io) => carryOut(plain.parsed, plain.cwd, argv, io).catch((error: unknown) => crashed(error, argv, io)));

function plainly(argv: readonly string[]): { readonly parsed: Parsed; readonly cwd: string } | null {
  const parsed = parse(argv, [status]);
  if ("misuse" in parsed || parsed.globals.help || parsed.globals.version) return null;
  const { cwd, isFolder } = folderOf(parsed.globals, process.cwd());
  return isFolder ? { parsed, cwd } : null;
}
