// help-page: renders the help of one command, and the overview of all, from their specs.

import { type ArgumentSpec, type Command, type FlagSpec, globalFlags } from "./spec.ts";

export type Chapter = { readonly title: string; readonly commands: readonly Command[] };

export const usageLine = ({ name, usage }: Command): string => `Usage: autopilot ${name}${usage === "" ? "" : ` ${usage}`}`;

export const overviewUsage = 'Usage: autopilot ["GOAL"] | COMMAND [ARGS] [--json] [-C DIR] [--run ID]';

/** Everything about one command. */
export function helpPage(command: Command): readonly string[] {
  const isRare = ({ rare }: FlagSpec): boolean => rare === true;
  const visibleFlags = command.flags.filter(({ hidden }) => hidden !== true);
  const flags = [...visibleFlags.filter((flag) => !isRare(flag)), ...visibleFlags.filter(isRare)];
  const globals = globalFlags.filter(({ name }) => name !== "run" || command.takesRun);
  return [
    command.summary,
    "",
    usageLine(command),
    "",
    ...command.details,
    ...titledRows(
      "Words",
      command.arguments.map((argument) => [argumentHead(argument), argument.about]),
    ),
    ...titledRows(
      "Flags",
      flags.map((flag) => [flagHead(flag), flagAbout(flag)]),
    ),
    ...titledRows(
      "Everywhere",
      globals.map((flag) => [flagHead(flag), flagAbout(flag)]),
    ),
  ];
}

/** The commands of the first chapter with their summaries, all others only by name. */
export function overviewPage([first, ...others]: readonly Chapter[]): readonly string[] {
  const topLevelCommands = (chapter: Chapter): readonly Command[] => chapter.commands.filter(({ name }) => !name.includes(" "));
  return [
    "autopilot drives AI coding agents towards a goal, inside bounds, and proves what they did.",
    "",
    overviewUsage,
    ...(first === undefined
      ? []
      : titledRows(
          first.title,
          topLevelCommands(first).map(({ name, summary }) => [name, summary]),
        )),
    ...titledRows(
      "More commands",
      others.map((chapter) => [
        chapter.title,
        topLevelCommands(chapter)
          .map(({ name }) => name)
          .join(", "),
      ]),
    ),
    "",
    "Everywhere: --json  -C DIR  --run ID  -q  -v  --no-color  -h  -V",
    "Try it: autopilot demo      More: autopilot help COMMAND, or every command: autopilot help -v",
  ];
}

/** All commands, a line each. */
export function allCommandsPage(chapters: readonly Chapter[]): readonly string[] {
  return [
    "autopilot drives AI coding agents towards a goal, inside bounds, and proves what they did.",
    "",
    overviewUsage,
    ...chapters.flatMap(({ title, commands }) =>
      titledRows(
        title,
        commands.filter(({ name }) => !name.includes(" ")).map(({ name, summary }) => [name, summary]),
      ),
    ),
    ...titledRows(
      "Everywhere",
      globalFlags.map((flag) => [flagHead(flag), flagAbout(flag)]),
    ),
    "",
    "Try it: autopilot demo      More: autopilot help COMMAND",
  ];
}

function titledRows(title: string, rows: readonly (readonly [string, string])[]): readonly string[] {
  if (rows.length === 0) return [];
  const width = Math.min(32, Math.max(...rows.map(([head]) => head.length)));
  return [
    "",
    title,
    ...rows
      .map(([head, about]) => (head.length > width ? `  ${head}\n  ${" ".repeat(width)}  ${about}` : `  ${head.padEnd(width)}  ${about}`))
      .flatMap((row) => row.split("\n")),
  ];
}

const argumentHead = ({ name, many, optional }: ArgumentSpec): string => {
  const word = many === true ? `${name}…` : name;
  return optional === true ? `[${word}]` : word;
};

function flagHead({ name, short, kind, placeholder, values }: FlagSpec): string {
  const long = short === undefined ? `--${name}` : `-${short}, --${name}`;
  if (kind === "flag") return long;
  return `${long} ${placeholder ?? (values === undefined ? "VALUE" : name.split("-").at(-1)?.toUpperCase())}`;
}

function flagAbout({ about, values, many, standard }: FlagSpec): string {
  const allowed = values === undefined ? "" : ` One of: ${values.join(", ")}.`;
  return `${about}${allowed}${many === true ? " May be repeated." : ""}${standard === undefined ? "" : ` Default: ${standard}.`}`;
}
