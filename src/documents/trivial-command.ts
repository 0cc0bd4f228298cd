// trivial-command: detects commands that cannot fail, by a table of known commands; an unknown
// command may fail.
//
// Invariants:
//   T1. A command is called trivial only if what the project does cannot make it fail. A file of
//       the project itself is never trivial.

import type { Expectation } from "../contracts/evidence.ts";
import { parseCommands, type Operator, type ShellWord } from "./shell-words.ts";

/** Whether its exit code is always 0, and whether its output is always the same. */
type Outcome = { readonly alwaysPasses: boolean; readonly hasConstantOutput: boolean };
const mayFail: Outcome = { alwaysPasses: false, hasConstantOutput: false };
const alwaysSucceeds: Outcome = { alwaysPasses: true, hasConstantOutput: true };
const succeedsWithOutput: Outcome = { alwaysPasses: true, hasConstantOutput: false };

const depthMax = 4;

/** Why a command proves nothing; null if it may fail. */
export function whyTrivial(command: string, expect: Expectation | null): string | null {
  if (expect?.kind === "at_least" && expect.count === 0) return "every output has at least 0";
  if (expect?.kind === "text" && expect.text.trim() === "") {
    return "every output holds an empty text";
  }

  const outcome = lineOutcome(command, 0);
  if (expect === null) {
    return outcome.alwaysPasses ? "it comes out the same whatever the project is like" : null;
  }

  if (outcome.hasConstantOutput) return "its output is the same whatever the project is like";
  return expect.kind === "text" && printsExpected(command, expect.text)
    ? "it prints the expected text itself"
    : null;
}

/** The commands of a pipeline, and the operator after it. */
type Pipeline = {
  readonly commands: readonly (readonly ShellWord[])[];
  readonly operator: Operator;
};

function parsePipes(line: string): readonly Pipeline[] | null {
  const pipes: Pipeline[] = [];
  let commands: (readonly ShellWord[])[] = [];

  for (const { words, operator } of parseCommands(line) ?? [
    { words: [], operator: "|" as const },
  ]) {
    commands.push(words);
    if (operator === "|") continue;
    pipes.push({ commands, operator });
    commands = [];
  }

  return commands.length > 0 ? null : pipes;
}

function lineOutcome(line: string, depth: number): Outcome {
  const group = /^\s*(?:\(([^()]*)\)|\{\s([^{}]*)\})\s*$/.exec(line);
  if (group !== null && depth < depthMax) return lineOutcome(group[1] ?? group[2] ?? "", depth + 1);
  const pipes = parsePipes(line);
  if (pipes === null) return mayFail;
  if (pipes[0]?.commands[0]?.[0]?.text === "set") return mayFail; // `set -e` and its like change what follows
  let [alwaysPasses, hasConstantOutput] = [true, true];
  let previousOperator: Operator = "";

  for (const { commands, operator } of pipes) {
    const pipelineOutcome = pipelineOutcomeOf(commands, depth);
    const passes = pipelineOutcome.alwaysPasses || operator === "&";
    if (previousOperator === "&&") alwaysPasses &&= passes;
    else if (previousOperator === "||") alwaysPasses ||= passes;
    else alwaysPasses = passes; // behind `;` only the last counts

    // A failure can show in a later `$?`, or keep what follows from running.
    hasConstantOutput &&= pipelineOutcome.hasConstantOutput && pipelineOutcome.alwaysPasses;
    previousOperator = operator;
  }

  return { alwaysPasses, hasConstantOutput };
}

function pipelineOutcomeOf(commands: readonly (readonly ShellWord[])[], depth: number): Outcome {
  let outcome: Outcome | null = null;
  for (const words of commands) {
    outcome = commandOutcome(words, depth, {
      hasInput: outcome !== null,
      isInputConstant: outcome?.hasConstantOutput ?? true,
    });
  }

  return outcome ?? alwaysSucceeds;
}

/**
 * `npm test; echo done` (expect done): the last command prints the expected text, whatever the
 * first one does.
 */
function printsExpected(line: string, text: string): boolean {
  const pipes = parsePipes(line) ?? [];
  const last = pipes.at(-1)?.commands;
  const [words] = last ?? [];
  const isAlone = pipes.length === 1 || pipes.at(-2)?.operator === ";";
  if (
    last?.length !== 1 ||
    words === undefined ||
    !isAlone ||
    !["echo", "printf"].includes(words[0]?.text ?? "")
  ) {
    return false;
  }

  const printedWords = words.slice(1).filter(({ expansion }) => expansion === "nothing");
  return printedWords
    .map((word) => word.text)
    .join(" ")
    .includes(text);
}

type PipeInput = { readonly hasInput: boolean; readonly isInputConstant: boolean };

function commandOutcome(words: readonly ShellWord[], depth: number, pipeInput: PipeInput): Outcome {
  const [first, ...args] = words;
  if (first === undefined) return alwaysSucceeds;
  const isProjectFile = first.text.includes("/") && !first.text.startsWith("/");
  if (isProjectFile) return mayFail; // ./bin/cli --version: T1
  const name = first.text.replace(/^.*\//, "");
  if (name === "!") {
    const negated = args[0]?.text;
    return negated === "false" || negated === "/bin/false" ? alwaysSucceeds : mayFail;
  }

  const isAssignment = /^[A-Za-z_]\w*=/.test(first.text) && !first.isQuoted;
  if (isAssignment && args.length > 0) return commandOutcome(args, depth, pipeInput); // `CI=1 npm test`
  if (isAssignment) return hasNoExpansion([first]) ? alwaysSucceeds : mayFail;
  if (
    ["command", "exec", "time", "nohup", "sudo", "env", "nice"].includes(name) &&
    args.length > 0 &&
    !args[0]?.text.startsWith("-")
  ) {
    return commandOutcome(args, depth, pipeInput);
  }

  if (["sh", "bash", "dash", "zsh", "eval"].includes(name) && depth < depthMax) {
    const scriptOfShell = args[0]?.text === "-c" ? args[1] : undefined;
    const script = name === "eval" ? args[0] : scriptOfShell;
    return script !== undefined && script.expansion !== "something"
      ? lineOutcome(script.text, depth + 1)
      : mayFail;
  }

  const isVersionQuery = args.length === 1 && versionFlags.has(args[0]?.text ?? "");
  return rulesByCommand[name]?.(args, pipeInput) ?? (isVersionQuery ? succeedsWithOutput : mayFail);
}

const versionFlags = new Set(["--version", "-v", "-V", "--help", "-h", "version", "help"]);
const hasNoExpansion = (words: readonly ShellWord[]): boolean =>
  words.every(({ expansion }) => expansion !== "something");
const withoutFlags = (words: readonly ShellWord[]): readonly ShellWord[] =>
  words.filter(({ text }) => !text.startsWith("-"));
/** Paths that exist in every project. */
const existsEverywhere = ({ text, expansion }: ShellWord): boolean =>
  expansion === "nothing" && /^(\.|\.\/|\.\.|\/|~|\/tmp|\/dev\/null)$/.test(text);

/** `words`: those behind the command's name. */
type CommandRule = (words: readonly ShellWord[], pipeInput: PipeInput) => Outcome;
const alwaysRule: CommandRule = () => alwaysSucceeds;
const listRule: CommandRule = (words) =>
  withoutFlags(words).every(existsEverywhere) ? succeedsWithOutput : mayFail;
const filterRule: CommandRule = (words, { hasInput, isInputConstant }) =>
  hasInput && withoutFlags(words).every(({ text }) => !/[./]/.test(text))
    ? { alwaysPasses: true, hasConstantOutput: isInputConstant }
    : mayFail;
const printRule: CommandRule = (words) => ({
  alwaysPasses: true,
  hasConstantOutput: hasNoExpansion(words),
});
const infoRule: CommandRule = () => succeedsWithOutput;

/** Without a prototype, so that no command is called `constructor`. */
const rulesByCommand: Readonly<Record<string, CommandRule | undefined>> = Object.assign(
  Object.create(null) as Record<string, CommandRule>,
  {
    true: alwaysRule,
    ":": alwaysRule,
    sleep: alwaysRule,
    wait: alwaysRule,
    export: alwaysRule,
    unset: alwaysRule,
    exit: (words) => (words[0] === undefined || words[0].text === "0" ? alwaysSucceeds : mayFail),
    return: (words) => (words[0] === undefined || words[0].text === "0" ? alwaysSucceeds : mayFail),
    echo: printRule,
    printf: printRule,
    test: (words) => (isConstantTest(words) ? alwaysSucceeds : mayFail),
    "[": (words) =>
      words.at(-1)?.text === "]" && isConstantTest(words.slice(0, -1)) ? alwaysSucceeds : mayFail,
    "[[": (words) =>
      words.at(-1)?.text === "]]" && isConstantTest(words.slice(0, -1)) ? alwaysSucceeds : mayFail,
    ls: listRule,
    dir: listRule,
    find: (words) =>
      existsEverywhere(words[0] ?? dot) &&
      !words.some(({ text }) => text === "-exec" || text === "-execdir")
        ? succeedsWithOutput
        : mayFail,
    cd: listRule,
    stat: (words) =>
      words.length > 0 && withoutFlags(words).every(existsEverywhere)
        ? succeedsWithOutput
        : mayFail,
    touch: alwaysRule, // it makes what it should look for
    mkdir: (words) =>
      words.some(({ text }) => /^-\w*p|^--parents$/.test(text)) ? alwaysSucceeds : mayFail,
    pwd: infoRule,
    date: infoRule,
    whoami: infoRule,
    id: (words) => (words.length === 0 ? succeedsWithOutput : mayFail),
    uname: infoRule,
    hostname: infoRule,
    uptime: infoRule,
    history: infoRule,
    printenv: (words) => (words.length === 0 ? succeedsWithOutput : mayFail),
    env: (words) => (words.length === 0 ? succeedsWithOutput : mayFail),
    git: (words) => (alwaysPassesGit(words) ? succeedsWithOutput : mayFail),
    cat: filterRule,
    head: filterRule,
    tail: filterRule,
    sort: filterRule,
    uniq: filterRule,
    wc: filterRule,
    tee: (_words, { hasInput, isInputConstant }) =>
      hasInput ? { alwaysPasses: true, hasConstantOutput: isInputConstant } : mayFail,
    grep: (words, { hasInput, isInputConstant }) =>
      hasInput && isInputConstant && hasNoExpansion(words) && withoutFlags(words).length === 1
        ? alwaysSucceeds
        : mayFail,
  } satisfies Record<string, CommandRule>,
);

const dot: ShellWord = { text: ".", expansion: "nothing", isQuoted: false };

/**
 * `git status` and the like succeed in every repository, unless an option reports through the exit
 * code.
 */
function alwaysPassesGit(words: readonly ShellWord[]): boolean {
  if (!["status", "log", "branch", "diff", "version", "show"].includes(words[0]?.text ?? "")) {
    return false;
  }

  return words
    .slice(1)
    .every(
      ({ text, expansion }) =>
        expansion === "nothing" &&
        text.startsWith("-") &&
        !/^--(exit-code|quiet|check)$|^-q$/.test(text),
    );
}

/**
 * Whether the operands of a test are all literals, so that it has the same result everywhere. If
 * that is false, it proves nothing either.
 */
function isConstantTest(words: readonly ShellWord[]): boolean {
  if (!words.every(({ expansion }) => expansion === "nothing")) return false;
  const [first, second] = words.map(({ text }) => text);
  if (words.length === 1) return true;
  if (words.length === 2 && (first === "-n" || first === "-z")) return true;
  if (words.length === 2 && /^-[defrsx]$/.test(first ?? "")) {
    return existsEverywhere(words[1] ?? dot);
  }

  return words.length === 3 && /^(=|==|!=|-eq|-ne|-gt|-ge|-lt|-le|<|>)$/.test(second ?? "");
}
