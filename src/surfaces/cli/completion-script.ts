// completion-script: generates the shell script that completes commands, flags and their values,
// from the command specs.

import { unreachable } from "../../kit/never.ts";
import { type Command, type FlagSpec, globalFlags, type CompletionNames } from "./spec.ts";

export const shells = ["bash", "zsh", "fish"] as const;

export function buildCompletionScript(
  shell: (typeof shells)[number],
  commands: readonly Command[],
): readonly string[] {
  switch (shell) {
    case "bash":
      return buildBashScript(commands);
    case "zsh":
      // zsh reads bash completions through bashcompinit; one script to keep right is better than
      // two.
      return [
        "#compdef autopilot",
        "autoload -Uz bashcompinit && bashcompinit",
        ...buildBashScript(commands),
      ];
    case "fish":
      return buildFishScript(commands);
    default:
      return unreachable(shell);
  }
}

const listVisibleFlags = (flags: readonly FlagSpec[]): readonly FlagSpec[] =>
  flags.filter(({ hidden }) => hidden !== true);
const listTopLevelCommands = (commands: readonly Command[]): readonly Command[] =>
  commands.filter(({ name }) => !name.includes(" "));
const listSubcommands = (commands: readonly Command[], first: string): readonly Command[] =>
  commands.filter(({ name }) => name.startsWith(`${first} `));
const getSecondWord = ({ name }: Command): string => name.split(" ")[1] ?? "";

/** Shell commands that print the names which only the user's folder knows, one a line. */
const nameCommands: Readonly<Record<CompletionNames, string>> = {
  flows: "autopilot flow list 2>/dev/null | cut -d' ' -f1",
  schemas: "autopilot schema 2>/dev/null",
};

/**
 * The words that may follow a command, without what only the user's folder knows: its subcommands,
 * and the values of its first argument.
 */
const listCompletionsAfter = (command: Command, commands: readonly Command[]): readonly string[] =>
  command.name === "help"
    ? listTopLevelCommands(commands).map(({ name }) => name)
    : [
        ...listSubcommands(commands, command.name).map(getSecondWord),
        ...(command.arguments[0]?.values ?? []),
      ];

/**
 * One bash function: it finds the command among the words typed so far, and offers its flags,
 * subcommands or values.
 */
function buildBashScript(commands: readonly Command[]): readonly string[] {
  const flags = listVisibleFlags([...globalFlags, ...commands.flatMap((command) => command.flags)]);
  const flagsWithValue = [
    ...new Map(
      flags.filter(({ kind }) => kind !== "flag").map((flag) => [flag.name, flag]),
    ).values(),
  ];

  const flagPattern = ({ name, short }: FlagSpec): string =>
    short === undefined ? `--${name}` : `-${short}|--${name}`;
  const valueCases = flagsWithValue.flatMap((flag) => {
    if (flag.name === "directory") {
      return [`    ${flagPattern(flag)}) COMPREPLY=($(compgen -d -- "$cur")); return ;;`];
    }

    const values =
      flag.values?.join(" ") ??
      (flag.names === undefined ? null : `$(${nameCommands[flag.names]})`);
    return values === null
      ? []
      : [`    ${flagPattern(flag)}) COMPREPLY=($(compgen -W "${values}" -- "$cur")); return ;;`];
  });

  const pairs = commands.filter(({ name }) => name.includes(" ")).map(({ name }) => `"${name}"`);
  return [
    "_autopilot() {",
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command="" words="" flags="" count=0 skip="" word',
    "  COMPREPLY=()",
    '  case "$prev" in',
    ...valueCases,
    "  esac",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do', // `count`: the words after the command
    '    if [[ -n "$skip" ]]; then skip=""; continue; fi',
    '    case "$word" in',
    `      ${flagsWithValue.map(flagPattern).join("|")}) skip=1 ;;`,
    "      -*) ;;",
    '      *) if [[ -z "$command" ]]; then command="$word"; else',
    `           case "$command $word" in ${pairs.join("|")}) command="$command $word" ;; *) count=$((count+1)) ;; esac`,
    "         fi ;;",
    "    esac",
    "  done",
    '  case "$command" in',
    `    "") words="${listTopLevelCommands(commands)
      .map(({ name }) => name)
      .join(" ")}" ;;`,
    ...commands.map((command) => buildBashCase(command, commands)),
    "  esac",
    '  if [[ "$cur" == -* ]]; then',
    `    COMPREPLY=($(compgen -W "$flags ${listFlagWords(globalFlags)}" -- "$cur"))`,
    '  elif [[ -n "$words" ]]; then',
    '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    "  else",
    '    COMPREPLY=($(compgen -f -- "$cur"))',
    "  fi",
    "}",
    "complete -F _autopilot autopilot",
  ];
}

const listFlagWords = (flags: readonly FlagSpec[]): string =>
  listVisibleFlags(flags)
    .map(({ name }) => `--${name}`)
    .join(" ");

/**
 * The case of one command: the words that may come at each position, and its flags.
 * `    "budget") [[ $count -ne 0 ]] || words="raise"; flags="--reason" ;;`
 */
function buildBashCase(command: Command, commands: readonly Command[]): string {
  const commandAndSubcommands = command.name.includes(" ")
    ? [command]
    : [command, ...listSubcommands(commands, command.name)];

  const firstWords = listCompletionsAfter(command, commands).join(" ");
  const wordsByPosition = command.arguments.map(({ names, values = [] }, index) => {
    if (names !== undefined) return `$(${nameCommands[names]})`;
    return index === 0 ? firstWords : values.join(" ");
  });
  const wordCompletions = (wordsByPosition.length === 0 ? [firstWords] : wordsByPosition).flatMap(
    (words, index) => (words === "" ? [] : [` [[ $count -ne ${index} ]] || words="${words}";`]),
  );

  const flags = listFlagWords(commandAndSubcommands.flatMap((item) => item.flags));
  return `    "${command.name}")${wordCompletions.join("")} flags="${flags}" ;;`;
}

/**
 * Lines such as `complete -c autopilot -n '__fish_seen_subcommand_from log' -l since -r -d 'Only
 * from this number on.'`
 */
function buildFishScript(commands: readonly Command[]): readonly string[] {
  const quoteForFish = (text: string): string =>
    `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const names = listTopLevelCommands(commands)
    .map(({ name }) => name)
    .join(" ");

  const valueOption = ({ kind, values, names }: FlagSpec): string => {
    if (kind === "flag") return "";
    const candidates =
      values?.join(" ") ?? (names === undefined ? undefined : `(${nameCommands[names]})`);
    return candidates === undefined ? " -r" : ` -x -a ${quoteForFish(candidates)}`;
  };

  const flagLine = (condition: string, flag: FlagSpec): string => {
    const short = flag.short === undefined ? "" : ` -s ${flag.short}`;
    return `complete -c autopilot${condition}${short} -l ${flag.name}${valueOption(flag)} -d ${quoteForFish(flag.about)}`;
  };

  const conditionFor = (name: string): string =>
    ` -n ${quoteForFish(`__fish_seen_subcommand_from ${name}`)}`;
  return [
    `set -l autopilot_commands ${names}`,
    ...listTopLevelCommands(commands).map(
      ({ name, summary }) =>
        `complete -c autopilot -n "not __fish_seen_subcommand_from $autopilot_commands" -a ${name} -d ${quoteForFish(summary)}`,
    ),
    ...listTopLevelCommands(commands).flatMap((command) => {
      const words = listCompletionsAfter(command, commands);
      const commandFlags = [command, ...listSubcommands(commands, command.name)].flatMap(
        ({ flags }) => listVisibleFlags(flags),
      );

      const argumentNames = command.arguments[0]?.names;
      const subcommands = listSubcommands(commands, command.name);
      const condition =
        subcommands.length === 0
          ? command.name
          : `${command.name}; and not __fish_seen_subcommand_from ${subcommands.map(getSecondWord).join(" ")}`;

      return [
        ...(words.length === 0
          ? []
          : [
              `complete -c autopilot -f${conditionFor(condition)} -a ${quoteForFish(words.join(" "))}`,
            ]),
        ...(argumentNames === undefined
          ? []
          : [
              `complete -c autopilot -f${conditionFor(command.name)} -a ${quoteForFish(`(${nameCommands[argumentNames]})`)}`,
            ]),
        ...subcommands.flatMap((subcommand) => {
          const names = subcommand.arguments[0]?.names;
          const both = `${command.name}; and __fish_seen_subcommand_from ${getSecondWord(subcommand)}`;
          return names === undefined
            ? []
            : [
                `complete -c autopilot -f${conditionFor(both)} -a ${quoteForFish(`(${nameCommands[names]})`)}`,
              ];
        }),
        ...commandFlags.map((flag) => flagLine(conditionFor(command.name), flag)),
      ];
    }),
    ...globalFlags.map((flag) => flagLine("", flag)),
  ];
}
