// completion-script: what a shell needs to complete commands, flags and their values, made from the specs.

import { unreachable } from "../../kit/never.ts";
import { type Command, type FlagSpec, globalFlags } from "./spec.ts";

export const shells = ["bash", "zsh", "fish"] as const;

export function completionScript(shell: (typeof shells)[number], commands: readonly Command[]): readonly string[] {
  switch (shell) {
    case "bash":
      return bashScript(commands);
    case "zsh":
      // zsh reads bash completions through bashcompinit; one script to keep right is better than two.
      return ["#compdef autopilot", "autoload -Uz bashcompinit && bashcompinit", ...bashScript(commands)];
    case "fish":
      return fishScript(commands);
    default:
      return unreachable(shell);
  }
}

const shown = (flags: readonly FlagSpec[]): readonly FlagSpec[] => flags.filter(({ hidden }) => hidden !== true);
const firstWords = (commands: readonly Command[]): readonly Command[] => commands.filter(({ name }) => !name.includes(" "));
const secondWords = (commands: readonly Command[], first: string): readonly Command[] =>
  commands.filter(({ name }) => name.startsWith(`${first} `));
const second = ({ name }: Command): string => name.split(" ")[1] ?? "";

/** What may follow a command that is no flag: its sub-commands, or the values of its first word. */
const wordsAfter = (command: Command, commands: readonly Command[]): readonly string[] =>
  command.name === "help"
    ? firstWords(commands).map(({ name }) => name)
    : [...secondWords(commands, command.name).map(second), ...(command.arguments[0]?.values ?? [])];

function bashScript(commands: readonly Command[]): readonly string[] {
  const valued = new Map(
    commands.flatMap(({ flags }) =>
      shown(flags).flatMap(({ name, values }) => (values === undefined ? [] : [[name, values.join(" ")] as const])),
    ),
  );
  const flagWords = (flags: readonly FlagSpec[]): string =>
    shown(flags)
      .map(({ name }) => `--${name}`)
      .join(" ");
  const cases = firstWords(commands).map((command) => {
    const own = [command, ...secondWords(commands, command.name)].flatMap(({ flags }) => flags);
    return `    ${command.name}) words="${wordsAfter(command, commands).join(" ")}"; flags="${flagWords(own)}" ;;`;
  });
  return [
    "_autopilot() {",
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command="" words="" flags="" word',
    "  COMPREPLY=()",
    '  case "$prev" in',
    ...[...valued].map(([name, values]) => `    --${name}) COMPREPLY=($(compgen -W "${values}" -- "$cur")); return ;;`),
    '    -C|--directory) COMPREPLY=($(compgen -d -- "$cur")); return ;;',
    "  esac",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    case "$word" in -*) ;; *) command="$word"; break ;; esac',
    "  done",
    '  case "$command" in',
    `    "") words="${firstWords(commands)
      .map(({ name }) => name)
      .join(" ")}" ;;`,
    ...cases,
    "  esac",
    '  if [[ "$cur" == -* ]]; then',
    `    COMPREPLY=($(compgen -W "$flags ${flagWords(globalFlags)}" -- "$cur"))`,
    "  else",
    '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '    [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$cur"))',
    "  fi",
    "}",
    "complete -F _autopilot autopilot",
  ];
}

function fishScript(commands: readonly Command[]): readonly string[] {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const names = firstWords(commands)
    .map(({ name }) => name)
    .join(" ");
  const flagLine = (condition: string, flag: FlagSpec): string => {
    const short = flag.short === undefined ? "" : ` -s ${flag.short}`;
    const value = flag.kind === "flag" ? "" : flag.values === undefined ? " -r" : ` -x -a ${quoted(flag.values.join(" "))}`;
    return `complete -c autopilot${condition}${short} -l ${flag.name}${value} -d ${quoted(flag.about)}`;
  };
  const within = (name: string): string => ` -n ${quoted(`__fish_seen_subcommand_from ${name}`)}`;
  return [
    `set -l autopilot_commands ${names}`,
    ...firstWords(commands).map(
      ({ name, summary }) =>
        `complete -c autopilot -n "not __fish_seen_subcommand_from $autopilot_commands" -a ${name} -d ${quoted(summary)}`,
    ),
    ...firstWords(commands).flatMap((command) => {
      const words = wordsAfter(command, commands);
      const own = [command, ...secondWords(commands, command.name)].flatMap(({ flags }) => shown(flags));
      return [
        ...(words.length === 0 ? [] : [`complete -c autopilot -f${within(command.name)} -a ${quoted(words.join(" "))}`]),
        ...own.map((flag) => flagLine(within(command.name), flag)),
      ];
    }),
    ...globalFlags.map((flag) => flagLine("", flag)),
  ];
}
