// run-command: runs a parsed command, prints its response and returns the exit code.
//
// Invariants:
//   M1. With --json stdout holds exactly one JSON object, whatever happens: a usage error and a bug
//       of ours too.
//   M2. The exit code follows from the response alone (exit-code.ts), except that it is 1 if that
//       could not be written (start-process.ts).

import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { stopAtOnce } from "../../project/command-context.ts";
import { catchRefusals } from "../../project/respond.ts";
import { markForeign } from "../../project/runs/run-binding.ts";
import { redactResponse, redactText } from "../../project/secrets/redaction.ts";
import { InvariantBroken } from "../../kit/invariant.ts";
import { visible } from "../../kit/visible.ts";
import { computeExitCode } from "./exit-code.ts";
import { formatUsageLine } from "./help-page.ts";
import type { CommandIo } from "./io.ts";
import type { Globals, ParsedCommandLine } from "./parse-command-line.ts";
import { openTerminalContext, type TerminalContext } from "./terminal-context.ts";
import type * as RunElsewhere from "./run-elsewhere.ts";
import {
  addRemediation,
  formatResponseJson,
  formatResponseLines,
  fitScreen,
  type TerminalFormat,
} from "./render.ts";
import type { Command } from "./spec.ts";

/** The folder a command acts in. */
export function resolveFolder(
  { directory }: Globals,
  from: string,
): { readonly cwd: string; readonly isFolder: boolean } {
  const cwd = resolve(from, directory ?? ".");
  return { cwd, isFolder: statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true };
}

/**
 * How a command was started. `elsewhere`: finds a run that is not in this folder; the fast `status`
 * does without it.
 */
export type Invocation = {
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly io: CommandIo;
  readonly elsewhere?: typeof RunElsewhere;
};

export async function runCommand(
  parsed: ParsedCommandLine,
  { cwd, argv, io, elsewhere }: Invocation,
): Promise<number> {
  const { command, input, globals } = parsed;
  const interruption = new AbortController();
  const hurry = new AbortController();
  const mayAsk = !globals.json && io.isTerminal.in && io.isTerminal.err;

  const context = openTerminalContext(io, {
    cwd,
    mayAsk,
    hasColour: hasColour("err", argv, io),
    interrupted: interruption.signal,
    interruptedAgain: hurry.signal,
  });
  const release = handleInterrupts(command, context, { io, interruption, hurry });
  const isRaw = command.isRaw?.(input) === true && !globals.json;
  const print = (line: string): void =>
    io.write("out", `${io.isTerminal.out ? visible(line) : line}\n`);

  try {
    const response = await catchRefusals(() => respondTo(parsed, context, print, elsewhere));
    context.settle();

    // With --json the response has all warnings; on a screen, none a second time.
    const isNew = (warning: string): boolean => globals.json || !context.hasShown(`! ${warning}`);
    const warnings = response.warnings.filter(isNew);

    if (!isRaw || response.result === "FAIL") {
      const usage = response.reason_code === "usage" ? [formatUsageLine(command)] : [];
      return printResponse({ ...response, warnings }, argv, io, usage);
    }

    for (const line of response.page ?? []) print(line);
    for (const warning of warnings) io.write("err", `! ${visible(warning)}\n`);
    return computeExitCode(response);
  } finally {
    context.settle();
    release();
  }
}

/** Runs the command: in its own folder, or in the copy of the portfolio's task that it names. */
async function respondTo(
  { command, input }: ParsedCommandLine,
  context: TerminalContext,
  print: (line: string) => void,
  elsewhere: typeof RunElsewhere | undefined,
): Promise<CommandResponse> {
  if (command.ofTask === undefined || elsewhere === undefined) {
    return markForeign(context, await command.run(context, input, print));
  }

  const located = await elsewhere.locateNamedRun(context, command, input);
  const response = await command.run(located.context, located.input, print);
  const marked = markForeign(located.context, response);
  const hinted = await elsewhere.addTaskHint(located.context, command, marked);
  return located.adaptHints(hinted);
}

type InterruptHandling = {
  readonly io: CommandIo;
  readonly interruption: AbortController;
  readonly hurry: AbortController;
};

/**
 * The first interrupt asks the command to end in order, a second one to hurry if it can, the next
 * one ends the process. A command without a message for interrupts is ended by the first. Returns a
 * function that stops listening.
 */
function handleInterrupts(
  command: Command,
  context: TerminalContext,
  { io, interruption, hurry }: InterruptHandling,
): () => void {
  return io.onInterrupt(({ kind, code }) => {
    if (command.onInterrupt === undefined) return io.leave(code);

    // Without a terminal a hang-up means `nohup`. When a terminal closes, kernel and shell may both
    // send the signal.
    if (kind === "hangup" && (!hasTerminal(io) || interruption.signal.aborted)) return;
    if (!interruption.signal.aborted) {
      const isEnd = kind === "end";
      context.show(isEnd ? (command.onTerminate ?? command.onInterrupt) : command.onInterrupt);
      return interruption.abort(isEnd ? stopAtOnce : undefined);
    }

    const mayHurry = interruption.signal.reason !== stopAtOnce && !hurry.signal.aborted;
    if (command.onSecondInterrupt !== undefined && mayHurry) {
      context.show(command.onSecondInterrupt);
      return hurry.abort();
    }

    context.settle(); // the shell's prompt begins on a clean line
    io.leave(code);
  });
}

/**
 * Prints the response and returns the exit code. `usage`: lines that show how the command is used,
 * after a usage error.
 */
export function printResponse(
  response: CommandResponse,
  argv: readonly string[],
  io: CommandIo,
  usage: readonly string[] = [],
): number {
  const isVerbose = hasGlobalFlag("--verbose", argv) || hasGlobalFlag("-v", argv);
  const columns = io.isTerminal.out ? io.columns() : undefined;
  const safeResponse = response.result === "FAIL" ? redactResponse(response, io.env) : response; // a refusal repeats what was typed
  const fullResponse = fitScreen(addRemediation(safeResponse), { isVerbose, columns });

  if (hasGlobalFlag("--json", argv)) {
    if (usage.length > 0) io.write("err", `${usage.join("\n")}\n`);
    io.write("out", `${formatResponseJson(fullResponse, { isPretty: io.isTerminal.out })}\n`); // M1
    return computeExitCode(fullResponse);
  }

  const terminal = (to: "out" | "err"): TerminalFormat => ({
    hasColour: hasColour(to, argv, io),
    ...(io.isTerminal[to] ? { columns: io.columns() } : {}),
  });

  const { out } = formatResponseLines(fullResponse, terminal("out"));
  const { err } = formatResponseLines(fullResponse, terminal("err"), usage);
  if (out.length > 0) io.write("out", `${out.join("\n")}\n`);
  if (err.length > 0) io.write("err", `${err.join("\n")}\n`);

  return computeExitCode(fullResponse);
}

/**
 * Reports a bug of autopilot's: the response names the broken invariant, and --json still gets an
 * object.
 */
export function reportCrash(error: unknown, argv: readonly string[], io: CommandIo): number {
  const rule = error instanceof Error ? error.message : String(error);
  const problem =
    error instanceof InvariantBroken
      ? `The rule that did not hold: ${rule}`
      : `Unexpected: ${rule}`;

  if (io.env["AUTOPILOT_DEBUG"] === "1" && error instanceof Error) {
    const stackLines = redactText(error.stack ?? "", io.env).split("\n");
    io.write("err", `${stackLines.map(visible).join("\n")}\n`);
  }

  const failure = createFailureResponse(
    "internal_error",
    `This is a bug of autopilot's. ${problem}`,
  );
  const remediation = [
    "please report it with this sentence; AUTOPILOT_DEBUG=1 shows where",
    "autopilot status: what was acknowledged is safe in the journal",
  ];
  const data = { rule, kind: error instanceof Error ? error.name : typeof error };
  return printResponse({ ...failure, remediation, data }, argv, io);
}

/** A failure that the command line reports itself, before or outside any command. */
export const createFailureResponse = (
  code: "usage" | "internal_error",
  message: string,
): CommandResponse => ({
  result: "FAIL",
  reason_code: code,
  run_id: null,
  state: null,
  message,
  warnings: [],
  remediation: [],
});

/** A global flag as it was written, even if the rest of the line could not be understood. */
function hasGlobalFlag(flag: string, argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? undefined : end).includes(flag);
}

const hasTerminal = ({ isTerminal }: CommandIo): boolean =>
  isTerminal.in || isTerminal.out || isTerminal.err;

function hasColour(to: "out" | "err", argv: readonly string[], io: CommandIo): boolean {
  const isRefused =
    (io.env["NO_COLOR"] ?? "") !== "" ||
    io.env["TERM"] === "dumb" ||
    hasGlobalFlag("--no-color", argv);
  return io.isTerminal[to] && !isRefused;
}
