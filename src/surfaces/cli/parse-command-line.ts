// parse-command-line: parses a command line into a command and its input, or into one sentence
// about what is wrong.
//
// Invariants:
//   P1. Nothing unknown is passed over: an unknown flag, a missing or needless value, a bad number
//       or word is an error.
//   P2. Words that name no command are a goal; a single one without blanks isn't: it is taken for a
//       command that is not there.

import { didYouMean, suggest } from "../../kit/suggest.ts";
import {
  type ArgumentSpec,
  type Command,
  type FlagSpec,
  type ParsedInput,
  globalFlags,
  reservedNames,
} from "./spec.ts";

const argumentsMax = 10_000;
/** Of words that are repeated in an error. */
const shownCharsMax = 100;

/** The values of the flags that every command has. */
export type Globals = {
  readonly json: boolean;
  readonly directory: string | undefined;
  readonly help: boolean;
  readonly version: boolean;
  readonly noColor: boolean;
};
export type ParsedCommandLine = {
  readonly command: Command;
  readonly input: ParsedInput;
  readonly globals: Globals;
  /** No command was named: it is `go`. */
  readonly isImplied: boolean;
};
/** `command` is the one whose usage helps, if it is known. */
export type Misuse = {
  readonly misuse: string;
  readonly hint: string;
  readonly command: Command | null;
};

export function parseCommandLine(
  argv: readonly string[],
  commands: readonly Command[],
): ParsedCommandLine | Misuse {
  if (argv.length > argumentsMax) {
    return {
      misuse: `More than ${argumentsMax} words were given.`,
      hint: "autopilot help",
      command: null,
    };
  }

  const commandMatch = findCommand(argv, commands);
  if ("misuse" in commandMatch) return commandMatch;
  const { command, rest, isImplied } = commandMatch;
  const flagsRead = readFlags(rest, [...command.flags, ...globalFlags]);
  if ("misuse" in flagsRead) {
    return { ...flagsRead, hint: `autopilot help ${command.name}`, command };
  }

  const { words, values } = flagsRead;
  const globals: Globals = {
    json: values.has("json"),
    directory: values.get("directory")?.[0],
    help: values.has("help"),
    version: values.has("version"),
    noColor: values.has("no-color"),
  };

  const parsed: ParsedCommandLine = {
    command,
    input: toParsedInput(words, values),
    globals,
    isImplied,
  };
  if (globals.help || globals.version) return parsed;
  const commandSlip = isImplied && !flagsRead.isEnded ? findCommandSlip(words, commands) : null;
  if (commandSlip !== null) return { ...commandSlip, command: null };
  const argumentMisuse =
    findArgumentMisuse(words, command, commands) ?? findRunMisuse(values, command);

  return argumentMisuse === null ? parsed : { ...argumentMisuse, command };
}

type CommandMatch = {
  readonly command: Command;
  readonly rest: readonly string[];
  readonly isImplied: boolean;
};

/**
 * The command is the first word that isn't a global flag; `/autopilot` may be before it, as slash
 * commands are typed.
 */
function findCommand(argv: readonly string[], commands: readonly Command[]): CommandMatch | Misuse {
  const { globals, rest } = splitGlobalFlags(argv);
  const [first = "", second = ""] = rest;
  if (reservedNames.includes(first)) {
    return {
      misuse: `\`${first}\` is not part of this version.`,
      hint: `if you mean it as a goal: autopilot go -- ${first} …`,
      command: null,
    };
  }

  const findByName = (name: string): Command | undefined =>
    commands.find((command) => command.name === name);
  const twoWordCommand = findByName(`${first} ${second}`);
  if (twoWordCommand !== undefined) {
    return { command: twoWordCommand, rest: [...globals, ...rest.slice(2)], isImplied: false };
  }

  const command = findByName(first);
  if (command !== undefined) {
    return { command, rest: [...globals, ...rest.slice(1)], isImplied: false };
  }

  const go = findByName("go");
  if (go === undefined) {
    return { misuse: `There is no command ${first}.`, hint: "autopilot help", command: null };
  }

  return { command: go, rest: [...globals, ...rest], isImplied: true };
}

/** The global flags before the command, with their values, and everything from the command on. */
function splitGlobalFlags(argv: readonly string[]): {
  readonly globals: readonly string[];
  readonly rest: readonly string[];
} {
  const globals: string[] = [];
  let position = 0;
  for (; position < argv.length; position += 1) {
    const word = argv[position] ?? "";
    // Only before the command: a value of a flag may be that word too.
    if (word === "/autopilot" && globals.every((earlier) => earlier.startsWith("-"))) continue;

    const flag = globalFlags.find(
      ({ name, short }) =>
        word === `--${name}` ||
        word.startsWith(`--${name}=`) ||
        (short !== undefined && word.startsWith(`-${short}`)),
    );
    if (flag === undefined || word === "--") break;
    globals.push(word);
    const isValueNext =
      flag.kind !== "flag" && (word === `--${flag.name}` || word === `-${flag.short ?? ""}`);
    if (isValueNext && position + 1 < argv.length) {
      position += 1;
      globals.push(argv[position] ?? "");
    }
  }

  return { globals, rest: argv.slice(position) };
}

type Values = ReadonlyMap<string, readonly string[]>;
/** `isEnded`: a `--` came, after which everything is a word. */
type FlagsRead = {
  readonly words: readonly string[];
  readonly values: Values;
  readonly isEnded: boolean;
};

function readFlags(
  argv: readonly string[],
  flags: readonly FlagSpec[],
): FlagsRead | { readonly misuse: string } {
  const words: string[] = [];
  const values = new Map<string, string[]>();
  let isEnded = false;

  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? "";
    if (isEnded || word === "-" || !word.startsWith("-")) {
      words.push(word);
      continue;
    }

    if (word === "--") {
      isEnded = true;
      continue;
    }

    const { flag, name, attached } = findFlag(word, flags);
    if (flag === undefined) {
      const visibleFlags = flags
        .filter(({ isHidden }) => isHidden !== true)
        .map((known) => `--${known.name}`);

      return { misuse: `Unknown flag ${name}.${didYouMean(name, visibleFlags)}` }; // P1
    }

    if (flag.kind !== "flag" && attached === undefined) index += 1;
    const value = flag.kind === "flag" ? undefined : (attached ?? argv[index]);
    const misuse = findValueMisuse(flag, { name, attached, value });
    if (misuse !== null) return { misuse };
    const earlier = values.get(flag.name);
    if (earlier !== undefined && flag.isRepeatable !== true && flag.kind !== "flag") {
      return { misuse: `${name} is given twice.` };
    }

    values.set(flag.name, [...(earlier ?? []), value ?? ""]);
  }

  const clash = flags.find(
    ({ name, excludes }) => excludes !== undefined && values.has(name) && values.has(excludes),
  );
  if (clash !== undefined) {
    return { misuse: `--${clash.name} and --${clash.excludes ?? ""} do not go together.` };
  }

  return { words, values, isEnded };
}

function findFlag(
  word: string,
  flags: readonly FlagSpec[],
): {
  readonly flag: FlagSpec | undefined;
  readonly name: string;
  readonly attached: string | undefined;
} {
  if (!word.startsWith("--")) {
    const flag = flags.find(({ short }) => short !== undefined && word.startsWith(`-${short}`));
    const attached = word.length > 2 ? word.slice(2) : undefined;
    // Short flags can't be combined (`-hV`): it is more often a typing error, so only a flag with a
    // value may have something attached.
    if (flag === undefined || (flag.kind === "flag" && attached !== undefined)) {
      return { flag: undefined, name: word, attached: undefined };
    }

    return { flag, name: `-${flag.short ?? ""}`, attached };
  }

  const equals = word.indexOf("=");
  const name = equals === -1 ? word : word.slice(0, equals);
  return {
    flag: flags.find((known) => `--${known.name}` === name),
    name,
    attached: equals === -1 ? undefined : word.slice(equals + 1),
  };
}

/**
 * A flag as it was typed; `attached`: its value if it came with `=`, or directly after a short
 * flag.
 */
type TypedFlag = {
  readonly name: string;
  readonly attached: string | undefined;
  readonly value: string | undefined;
};

function findValueMisuse(flag: FlagSpec, { name, attached, value }: TypedFlag): string | null {
  if (flag.kind === "flag") return attached === undefined ? null : `${name} takes no value.`;
  const looksLikeFlag = attached === undefined && value !== undefined && /^--?[A-Za-z]/.test(value);
  if (value === undefined || value === "" || looksLikeFlag) {
    return `${name} needs a value${looksLikeFlag ? `; if it is ${value}, write ${name}=${value}` : ""}.`;
  }

  if (flag.kind === "enum" && flag.values?.includes(value) === false) {
    return `${name} is one of ${flag.values.join(", ")}, not ${value}.${didYouMean(value, flag.values)}`;
  }

  if (flag.form?.matches.test(value) === false) {
    return `${name} is ${flag.form.says}, not ${value}.`;
  }

  if (flag.kind !== "number") return null;
  const least = flag.min ?? 0;
  const isWhole =
    /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= (flag.max ?? Infinity);

  if (flag.max === undefined && /^\d{10,}$/.test(value)) {
    return `${name} is a whole number of at most nine digits, not ${value}.`;
  }

  const bounds = flag.max === undefined ? `of at least ${least}` : `from ${least} to ${flag.max}`;
  return isWhole ? null : `${name} is a whole number ${bounds}, not ${value}.`;
}

/** Command names of other tools, and what the command is called here. */
const foreignCommandNames: Readonly<Record<string, string>> = {
  cancel: "stop",
  continue: "resume",
  list: "runs",
  version: "--version",
};

/** The same for the second word of a command. */
const foreignSubcommandNames: Readonly<Record<string, string>> = {
  list: "status",
  ls: "status",
  show: "status",
  start: "run",
  new: "add",
  remove: "cancel",
  delete: "cancel",
};

/** P2: one word alone is meant as a command. A goal of one word needs `go` before it. */
function findCommandSlip(
  words: readonly string[],
  commands: readonly Command[],
): Omit<Misuse, "command"> | null {
  const [word = ""] = words;
  // A word that begins with `$` is a slash command's placeholder that was not replaced.
  if (words.length !== 1 || /\s|^\$/.test(word.trim())) return null;
  const names = commands.flatMap(({ name }) => (name.includes(" ") ? [] : [name]));
  if (names.includes(word)) {
    return { misuse: `Put the command first: autopilot ${word} …`, hint: `autopilot help ${word}` };
  }

  const ourName = Object.hasOwn(foreignCommandNames, word) ? foreignCommandNames[word] : undefined;
  const ourCommand =
    ourName !== undefined && (ourName.startsWith("-") || names.includes(ourName)) ? ourName : null;
  const suggestion = ourCommand ?? suggest(word, names);

  return {
    misuse: `There is no command ${word}.${suggestion === null ? "" : ` Did you mean ${suggestion}?`}`,
    hint: `${suggestion === null ? "autopilot help" : `autopilot ${suggestion}`}; if it is your goal: autopilot go ${word}`,
  };
}

function findArgumentMisuse(
  words: readonly string[],
  command: Command,
  commands: readonly Command[],
): Omit<Misuse, "command"> | null {
  const specs = command.arguments;
  const hint = `autopilot help ${command.name}`;
  const missing = specs.find(
    (spec, index) => spec.isOptional !== true && words[index] === undefined,
  );
  if (missing !== undefined) {
    return { misuse: `autopilot ${command.name} needs ${missing.name}: ${missing.about}`, hint };
  }

  if (specs.at(-1)?.isRepeatable !== true && words.length > specs.length) {
    const takes = specs.length === 0 ? "no words" : `at most ${specs.length}`;
    const misuse = `autopilot ${command.name} takes ${takes}, but ${words.length} came: ${words.join(" ").slice(0, shownCharsMax)}`;
    const suggestion = suggestSubcommand(words[0] ?? "", command, commands);
    if (suggestion !== "") return { misuse: `${misuse}.${suggestion}`, hint };

    return { misuse, hint: `${hint}; if it is your goal: autopilot go -- ${command.name} …` };
  }

  for (const [index, word] of words.entries()) {
    const spec: ArgumentSpec | undefined = specs[index] ?? specs.at(-1);
    if (spec?.values !== undefined && !spec.values.includes(word)) {
      return {
        misuse: `${spec.name} is one of ${spec.values.join(", ")}, not ${word}.${didYouMean(word, spec.values)}`,
        hint,
      };
    }
  }

  return null;
}

function suggestSubcommand(word: string, command: Command, commands: readonly Command[]): string {
  const subcommands = commands.flatMap(({ name }) =>
    name.startsWith(`${command.name} `) ? name.slice(command.name.length + 1) : [],
  );

  const ourName = Object.hasOwn(foreignSubcommandNames, word)
    ? foreignSubcommandNames[word]
    : undefined;
  const isKnown = ourName !== undefined && subcommands.includes(ourName);
  return isKnown ? ` Did you mean ${command.name} ${ourName}?` : didYouMean(word, subcommands);
}

function findRunMisuse(values: Values, command: Command): Omit<Misuse, "command"> | null {
  if (!values.has("run") || command.takesRun) return null;
  return {
    misuse: `autopilot ${command.name} is not about one run, so --run means nothing here.`,
    hint: `autopilot help ${command.name}`,
  };
}

function toParsedInput(words: readonly string[], values: Values): ParsedInput {
  return {
    words,
    run: values.get("run")?.[0],
    flag: (name) => values.has(name),
    text: (name) => values.get(name)?.[0],
    texts: (name) => values.get(name),
    number: (name) => {
      const value = values.get(name)?.[0];
      return value === undefined ? undefined : Number(value);
    },
  };
}
