// help: the `help` command, which shows an overview of all commands, or everything about one.

import type { CommandResponse } from "../../../contracts/command-response.ts";
import { screenRows } from "../../../project/respond.ts";
import { didYouMean } from "../../../kit/suggest.ts";
import {
  renderAllCommandsPage,
  type Chapter,
  renderHelpPage,
  renderOverviewPage,
} from "../help-page.ts";
import type { Command } from "../spec.ts";

/** The chapters come as a function, because help itself is in one of them. */
export const createHelpCommand = (chapters: () => readonly Chapter[]): Command => ({
  name: "help",
  summary: "All commands, or everything about one.",
  usage: "[COMMAND]",
  details: ["`autopilot COMMAND --help` says the same."],
  arguments: [{ name: "COMMAND", about: "one command", isRepeatable: true, isOptional: true }],
  flags: [],
  takesRun: false,
  run: (_context, input) => Promise.resolve(createHelpResponse(chapters(), input.words.join(" "))),
});

export function createHelpResponse(chapters: readonly Chapter[], name: string): CommandResponse {
  const allCommands = chapters.flatMap(({ commands }) => commands);
  if (name === "") {
    return {
      ...answerWithPage(
        "All commands.",
        renderOverviewPage(chapters),
        allCommands.map(describeCommand),
      ),
      whole: renderAllCommandsPage(chapters),
    };
  }

  const command = allCommands.find((candidate) => candidate.name === name);
  if (command !== undefined) {
    return {
      ...answerWithPage(command.summary, renderHelpPage(command), [describeCommand(command)]),
      rowsMax: screenRows,
    };
  }

  const message = `There is no command ${name}.${didYouMean(
    name,
    allCommands.map((candidate) => candidate.name),
  )}`;

  return {
    result: "FAIL",
    reason_code: "usage",
    run_id: null,
    state: null,
    message,
    warnings: [],
    remediation: ["autopilot help"],
  };
}

const answerWithPage = (
  message: string,
  page: readonly string[],
  commands: readonly unknown[],
): CommandResponse => ({
  result: "PASS",
  reason_code: "ok",
  run_id: null,
  state: null,
  message,
  warnings: [],
  remediation: [],
  page,
  data: { commands },
});

/** The spec without its code. */
const describeCommand = ({
  name,
  summary,
  usage,
  details,
  arguments: words,
  flags,
}: Command): object => ({
  name,
  summary,
  usage,
  details,
  arguments: words,
  flags: flags.map(({ form: _form, ...flag }) => flag),
});
