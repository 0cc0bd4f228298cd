// run-elsewhere: finds the run that a command names. A portfolio's tasks run in copies of their
// repositories, so in a portfolio's folder a task's run lies elsewhere.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { findProject, isBegun } from "../../project/runs/project-paths.ts";
import { commands } from "./catalog.ts";
import type { Command, ParsedInput } from "./spec.ts";

/**
 * The context and input with which a command finds the run it names, and what adapts the hints of
 * its response to this folder.
 */
export async function locateNamedRun<Context extends CommandContext>(
  context: Context,
  command: Command,
  input: ParsedInput,
): Promise<{
  readonly context: Context;
  readonly input: ParsedInput;
  readonly adaptHints: (response: CommandResponse) => CommandResponse;
}> {
  const takesRunAsWord = command.arguments[0]?.name === "RUN";
  const runName = (takesRunAsWord ? input.words[0] : undefined) ?? input.run;
  const project = findProject(context.cwd);

  const unchanged = {
    context,
    input,
    adaptHints: (response: CommandResponse): CommandResponse => response,
  };
  if (runName === undefined || (project !== null && isBegun(project, runName))) return unchanged;
  const { findTaskRun } = await import("../../commands/portfolio/task-run.ts"); // `status` of a repository's own run never gets here
  const taskRun = await findTaskRun(context, runName, findReadingCommand);
  if (taskRun === null) return unchanged;
  const { copy, run, hinted } = taskRun;

  return {
    context: { ...context, cwd: copy, callerFolder: context.cwd },
    input: { ...input, words: takesRunAsWord ? [] : input.words, run },
    adaptHints: command.ofTask === "changes" ? hintToContinue : hinted,
  };
}

/** A task's run is not resumed by hand: the portfolio does it. */
const hintToContinue = (response: CommandResponse): CommandResponse =>
  response.result === "FAIL" ? response : { ...response, remediation: ["autopilot portfolio run"] };

/** So that `budget raise` is found before `budget`. */
const longestFirst = commands.toSorted((a, b) => b.name.length - a.name.length);

/** The name of the command that a text begins with, if that command only reads a run; else null. */
export function findReadingCommand(text: string): string | null {
  const command = longestFirst.find(
    ({ name }) => text.startsWith(name) && !/^[\w-]/.test(text.slice(name.length)),
  );
  return command?.ofTask === "reads" ? command.name : null;
}

/**
 * If no run was found because a portfolio's folder has none of its own, the hint says to name a
 * task.
 */
export async function addTaskHint(
  { cwd }: CommandContext,
  { name }: Command,
  response: CommandResponse,
): Promise<CommandResponse> {
  if (response.reason_code !== "run_missing" || findProject(cwd) !== null) return response;
  const { isInPortfolio } = await import("../../commands/portfolio/task-run.ts");
  return isInPortfolio(cwd)
    ? { ...response, remediation: [`autopilot ${name} --run TASK`, "autopilot portfolio status"] }
    : response;
}
