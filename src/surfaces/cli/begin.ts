// begin: from the process to the command line and back. An uncaught error is a bug of ours, and reported as such.

import { crashed } from "./carry-out.ts";
import { closeInherited } from "./inherited-files.ts";
import type { Io } from "./io.ts";
import { processIo } from "./process-io.ts";

export function begin(work: (argv: readonly string[], io: Io) => Promise<number>): void {
  const argv = process.argv.slice(2);
  closeInherited(argv);
  const io = processIo();
  const leave = (code: number): never => process.exit(codeFor(code, io));
  process.on("uncaughtException", (error) => leave(crashed(error, argv, io)));
  process.on("unhandledRejection", (error) => leave(crashed(error, argv, io)));
  void work(argv, io).then(leave);
}

/** An answer that could not be delivered isn't a success, whatever it says. */
function codeFor(code: number, io: Io): number {
  const lost = io.lost();
  if (lost === null) return code;
  io.write("err", `✗ The answer could not be written: ${lost}\n`);
  return code === 0 ? 1 : code;
}
