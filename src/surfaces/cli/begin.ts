// begin: from the process to the command line and back. What nobody caught is a bug of ours, told as such.

import { crashed } from "./carry-out.ts";
import type { Io } from "./io.ts";
import { processIo } from "./process-io.ts";

export function begin(work: (argv: readonly string[], io: Io) => Promise<number>): void {
  const argv = process.argv.slice(2);
  const io = processIo();
  process.on("uncaughtException", (error) => process.exit(crashed(error, argv, io)));
  process.on("unhandledRejection", (error) => process.exit(crashed(error, argv, io)));
  void work(argv, io).then((code) => process.exit(code));
}
