// completion-script: generates the shell script that completes commands, flags and their values,
// from the command specs.

import { unreachable } from "../../kit/unreachable.ts";
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
  flags.filter(({ isHidden }) => isHidden !== true);

const listTopLevelCommands = (commands: readonly Command[]): readonly Command[] =>
  commands.filter(({ name }) => !name.includes(" "));

const listTopLevelNames = (commands: readonly Command[]): readonly string[] =>
  listTopLevelCommands(commands).map(({ name }) => name);

const listSubcommands = (commands: readonly Command[], first: string): readonly Command[] =>
  commands.filter(({ name }) => name.startsWith(`${first} `));

const getSecondWord = ({ name }: Command): string => name.split(" ")[1] ?? "";

/** Shell commands that print the names which only the user's folder knows, one a line. */
const nameCommands: Readonly<Record<CompletionNames, string>> = {
  flows: "autopilot flow list 2>/dev/null | cut -d' ' -f1",
  schemas: "autopilot schema 2>/dev/null",
};

/** What a flag's value may be, in the shell's notation; null if nothing is known of it. */
function listValueWords(
  { values, names }: Pick<FlagSpec, "values" | "names">,
  toShell: (nameCommand: string) => string,
): string | null {
  if (values !== undefined) return values.join(" ");
  return names === undefined ? null : toShell(nameCommands[names]);
}

/**
 * The words that may follow a command, without what only the user's folder knows: its subcommands,
 * and the values of its first argument.
 */
function listCompletionsAfter(command: Command, commands: readonly Command[]): readonly string[] {
  if (command.name === "help") return listTopLevelNames(commands);

  const subcommands = listSubcommands(commands, command.name).map(getSecondWord);
  const values = command.arguments[0]?.values ?? [];
  return [...subcommands, ...values];
}

/**
 * One bash function: it finds the command among the words typed so far, and offers its flags,
 * subcommands or values.
 */
function buildBashScript(commands: readonly Command[]): readonly string[] {
  const flagsWithValue = listFlagsWithValue(commands);
  const flagsPattern = flagsWithValue.map(toBashPattern).join("|");
  const topLevelNames = listTopLevelNames(commands).join(" ");

  const twoWordCommands = commands.filter(({ name }) => name.includes(" "));
  const pairsPattern = twoWordCommands.map(({ name }) => `"${name}"`).join("|");

  return [
    "_autopilot() {",
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command="" words="" flags="" count=0 skip="" word',
    "  COMPREPLY=()",
    '  case "$prev" in',
    ...flagsWithValue.flatMap(buildBashValueCase),
    "  esac",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do', // `count`: the words after the command
    '    if [[ -n "$skip" ]]; then skip=""; continue; fi',
    '    case "$word" in',
    `      ${flagsPattern}) skip=1 ;;`,
    "      -*) ;;",
    '      *) if [[ -z "$command" ]]; then command="$word"; else',
    `           case "$command $word" in ${pairsPattern}) command="$command $word" ;; *) count=$((count+1)) ;; esac`,
    "         fi ;;",
    "    esac",
    "  done",
    '  case "$command" in',
    `    "") words="${topLevelNames}" ;;`,
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

/** Each name once: commands share flags. */
function listFlagsWithValue(commands: readonly Command[]): readonly FlagSpec[] {
  const commandFlags = commands.flatMap(({ flags }) => flags);
  const flagsByName = new Map<string, FlagSpec>();
  for (const flag of listVisibleFlags([...globalFlags, ...commandFlags])) {
    if (flag.kind !== "flag") flagsByName.set(flag.name, flag);
  }

  return [...flagsByName.values()];
}

const toBashPattern = ({ name, short }: FlagSpec): string =>
  short === undefined ? `--${name}` : `-${short}|--${name}`;

/** The case that completes a flag's value; none if nothing is known of it. */
function buildBashValueCase(flag: FlagSpec): readonly string[] {
  const pattern = toBashPattern(flag);
  if (flag.name === "directory") {
    return [`    ${pattern}) COMPREPLY=($(compgen -d -- "$cur")); return ;;`];
  }

  const words = listValueWords(flag, (nameCommand) => `$(${nameCommand})`);
  if (words === null) return [];
  return [`    ${pattern}) COMPREPLY=($(compgen -W "${words}" -- "$cur")); return ;;`];
}

function listFlagWords(flags: readonly FlagSpec[]): string {
  const words = listVisibleFlags(flags).map(({ name }) => `--${name}`);
  return words.join(" ");
}

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
  if (wordsByPosition.length === 0) wordsByPosition.push(firstWords);

  const wordCompletions = wordsByPosition.map((words, index) =>
    words === "" ? "" : ` [[ $count -ne ${index} ]] || words="${words}";`,
  );
  const flags = listFlagWords(commandAndSubcommands.flatMap((item) => item.flags));
  return `    "${command.name}")${wordCompletions.join("")} flags="${flags}" ;;`;
}

/**
 * Lines such as `complete -c autopilot -n '__fish_seen_subcommand_from log' -l since -r -d 'Only
 * from this number on.'`
 */
function buildFishScript(commands: readonly Command[]): readonly string[] {
  const topLevelCommands = listTopLevelCommands(commands);
  const topLevelNames = listTopLevelNames(commands).join(" ");

  const commandLines = topLevelCommands.map(({ name, summary }) => {
    const condition = ' -n "not __fish_seen_subcommand_from $autopilot_commands"';
    return `complete -c autopilot${condition} -a ${name} -d ${quoteForFish(summary)}`;
  });

  return [
    `set -l autopilot_commands ${topLevelNames}`,
    ...commandLines,
    ...topLevelCommands.flatMap((command) => buildFishLines(command, commands)),
    ...globalFlags.map((flag) => buildFishFlagLine("", flag)),
  ];
}

/** What may follow one command: its subcommands and values, theirs, and the flags of all. */
function buildFishLines(command: Command, commands: readonly Command[]): readonly string[] {
  const lines: string[] = [];
  const { name } = command;
  const condition = toFishCondition(name);
  const subcommands = listSubcommands(commands, name);
  const secondWords = subcommands.map(getSecondWord).join(" ");

  const words = listCompletionsAfter(command, commands).join(" ");
  if (words !== "") {
    const isBeforeSubcommand = `${name}; and not __fish_seen_subcommand_from ${secondWords}`;
    const wordsCondition =
      subcommands.length === 0 ? condition : toFishCondition(isBeforeSubcommand);
    lines.push(buildFishWordsLine(wordsCondition, words));
  }

  const argumentNames = command.arguments[0]?.names;
  if (argumentNames !== undefined) {
    lines.push(buildFishWordsLine(condition, `(${nameCommands[argumentNames]})`));
  }

  for (const subcommand of subcommands) {
    const names = subcommand.arguments[0]?.names;
    if (names === undefined) continue;
    const isAfterBoth = `${name}; and __fish_seen_subcommand_from ${getSecondWord(subcommand)}`;
    lines.push(buildFishWordsLine(toFishCondition(isAfterBoth), `(${nameCommands[names]})`));
  }

  const flags = [command, ...subcommands].flatMap((item) => listVisibleFlags(item.flags));
  return [...lines, ...flags.map((flag) => buildFishFlagLine(condition, flag))];
}

const toFishCondition = (seenWords: string): string =>
  ` -n ${quoteForFish(`__fish_seen_subcommand_from ${seenWords}`)}`;

const buildFishWordsLine = (condition: string, words: string): string =>
  `complete -c autopilot -f${condition} -a ${quoteForFish(words)}`;

function buildFishFlagLine(condition: string, flag: FlagSpec): string {
  const short = flag.short === undefined ? "" : ` -s ${flag.short}`;
  const value = buildFishValueOption(flag);
  return `complete -c autopilot${condition}${short} -l ${flag.name}${value} -d ${quoteForFish(flag.about)}`;
}

function buildFishValueOption(flag: FlagSpec): string {
  if (flag.kind === "flag") return "";
  const words = listValueWords(flag, (nameCommand) => `(${nameCommand})`);
  return words === null ? " -r" : ` -x -a ${quoteForFish(words)}`;
}

const quoteForFish = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
