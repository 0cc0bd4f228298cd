// help-page: renders the help of one command, and the overview of all, from their specs.

import { type ArgumentSpec, type Command, type FlagSpec, globalFlags } from "./spec.ts";

/** A longer name of a flag or an argument has its text on the next line. */
const headColumnsMax = 32;

/** A part of the overview. */
export type Chapter = { readonly title: string; readonly commands: readonly Command[] };

export const formatUsageLine = ({ name, usage }: Command): string =>
  `Usage: autopilot ${name}${usage === "" ? "" : ` ${usage}`}`;

export const overviewUsage =
  'Usage: autopilot ["GOAL"] | COMMAND [ARGS] [--json] [-C DIR] [--run ID]';

/** Everything about one command. */
export function renderHelpPage(command: Command): readonly string[] {
  const isRare = (flag: FlagSpec): boolean => flag.isRare === true;
  const visibleFlags = command.flags.filter(({ isHidden }) => isHidden !== true);
  const flags = [...visibleFlags.filter((flag) => !isRare(flag)), ...visibleFlags.filter(isRare)];
  const globals = globalFlags.filter(({ name }) => name !== "run" || command.takesRun);

  return [
    command.summary,
    "",
    formatUsageLine(command),
    "",
    ...command.details,
    ...renderRows(
      "Words",
      command.arguments.map((argument) => [formatArgument(argument), argument.about]),
    ),
    ...renderRows(
      "Flags",
      flags.map((flag) => [formatFlag(flag), describeFlag(flag)]),
    ),
    ...renderRows(
      "Everywhere",
      globals.map((flag) => [formatFlag(flag), describeFlag(flag)]),
    ),
  ];
}

/** The commands of the first chapter with their summaries, all others only by name. */
export function renderOverviewPage([first, ...others]: readonly Chapter[]): readonly string[] {
  const topLevelCommands = (chapter: Chapter): readonly Command[] =>
    chapter.commands.filter(({ name }) => !name.includes(" "));
  return [
    "autopilot drives AI coding agents towards a goal, inside bounds, and proves what they did.",
    "",
    overviewUsage,
    ...(first === undefined
      ? []
      : renderRows(
          first.title,
          topLevelCommands(first).map(({ name, summary }) => [name, summary]),
        )),
    ...renderRows(
      "More commands",
      others.map((chapter) => [
        chapter.title,
        topLevelCommands(chapter)
          .map(({ name }) => name)
          .join(", "),
      ]),
    ),
    "",
    "Everywhere: --json  -C DIR  --run ID  -v  --no-color  -h  -V",
    "Try it: autopilot demo      More: autopilot help COMMAND, or every command: autopilot help -v",
  ];
}

/** All commands, a line each. */
export function renderAllCommandsPage(chapters: readonly Chapter[]): readonly string[] {
  return [
    "autopilot drives AI coding agents towards a goal, inside bounds, and proves what they did.",
    "",
    overviewUsage,
    ...chapters.flatMap(({ title, commands }) =>
      renderRows(
        title,
        commands
          .filter(({ name }) => !name.includes(" "))
          .map(({ name, summary }) => [name, summary]),
      ),
    ),
    ...renderRows(
      "Everywhere",
      globalFlags.map((flag) => [formatFlag(flag), describeFlag(flag)]),
    ),
    "",
    "Try it: autopilot demo      More: autopilot help COMMAND",
  ];
}

/** A title, and under it rows of two columns; nothing if there are no rows. */
function renderRows(
  title: string,
  rows: readonly (readonly [string, string])[],
): readonly string[] {
  if (rows.length === 0) return [];
  const width = Math.min(headColumnsMax, Math.max(...rows.map(([head]) => head.length)));
  return [
    "",
    title,
    ...rows
      .map(([head, about]) =>
        head.length > width
          ? `  ${head}\n  ${" ".repeat(width)}  ${about}`
          : `  ${head.padEnd(width)}  ${about}`,
      )
      .flatMap((row) => row.split("\n")),
  ];
}

const formatArgument = ({ name, isRepeatable, isOptional }: ArgumentSpec): string => {
  const word = isRepeatable === true ? `${name}…` : name;
  return isOptional === true ? `[${word}]` : word;
};

function formatFlag({ name, short, kind, placeholder, values }: FlagSpec): string {
  const long = short === undefined ? `--${name}` : `-${short}, --${name}`;
  if (kind === "flag") return long;
  return `${long} ${placeholder ?? (values === undefined ? "VALUE" : name.split("-").at(-1)?.toUpperCase())}`;
}

function describeFlag({ about, values, isRepeatable, defaultText }: FlagSpec): string {
  const allowed = values === undefined ? "" : ` One of: ${values.join(", ")}.`;
  return `${about}${allowed}${isRepeatable === true ? " May be repeated." : ""}${defaultText === undefined ? "" : ` Default: ${defaultText}.`}`;
}
