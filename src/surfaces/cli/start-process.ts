// start-process: runs a command line in this process and exits with its code. An uncaught error is
// reported as a bug of autopilot's. So is a command that waits for something that can never come:
// Node would otherwise exit silently and with success.

import { reportCrash } from "./run-command.ts";
import { closeInheritedFiles } from "./inherited-files.ts";
import type { CommandIo } from "./io.ts";
import { createProcessIo } from "./process-io.ts";

export function startProcess(
  work: (argv: readonly string[], io: CommandIo) => Promise<number>,
): void {
  const argv = process.argv.slice(2);
  closeInheritedFiles(argv);
  const io = createProcessIo();
  const leave = (code: number): never => process.exit(adjustExitCode(code, io));
  process.on("uncaughtException", (error) => leave(reportCrash(error, argv, io)));
  process.on("unhandledRejection", (error) => leave(reportCrash(error, argv, io)));
  process.on("beforeExit", () =>
    leave(reportCrash(new Error("the command waits for something that never comes"), argv, io)),
  );

  void work(argv, io).then(leave);
}

/** A response that could not be delivered isn't a success, whatever it says. */
function adjustExitCode(code: number, io: CommandIo): number {
  const writeError = io.writeFailure();
  if (writeError === null) return code;
  io.write("err", `✗ The answer could not be written: ${writeError}\n`);

  return code === 0 ? 1 : code;
}
