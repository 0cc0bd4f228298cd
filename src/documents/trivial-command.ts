// trivial-command: whether a check can fail at all. A table has the result of each command; an unknown one may fail.
//
// Invariants:
//   T1. No project can make a trivial command fail, and no command is called trivial that a broken project could make fail.

import type { Expectation } from "../contracts/evidence.ts";
import { parseCommands, type Joint, type ShellWord } from "./shell-words.ts";

/** Whether its exit code is always 0, and whether its output is always the same. */
type Nature = { readonly isSure: boolean; readonly isConstant: boolean };
const open: Nature = { isSure: false, isConstant: false };
const empty: Nature = { isSure: true, isConstant: true };
const prints: Nature = { isSure: true, isConstant: false };

const depthMax = 4;

/** Why a command proves nothing, in words; null if it may fail. */
export function trivialBecause(command: string, expect: Expectation | null): string | null {
  if (expect?.kind === "at_least" && expect.count === 0) return "every output has at least 0";
  if (expect?.kind === "text" && expect.text.trim() === "") return "every output holds an empty text";
  const nature = lineNature(command, 0);
  if (expect === null) return nature.isSure ? "it comes out the same whatever the project is like" : null;
  if (nature.isConstant) return "its output is the same whatever the project is like";
  return expect.kind === "text" && saysItself(command, expect.text) ? "it prints the expected text itself" : null;
}

/** Commands that feed each other, and the sign behind the last of them. */
type Pipe = { readonly commands: readonly (readonly ShellWord[])[]; readonly joint: Joint };

function parsePipes(line: string): readonly Pipe[] | null {
  const pipes: Pipe[] = [];
  let commands: (readonly ShellWord[])[] = [];
  for (const { words, joint } of parseCommands(line) ?? [{ words: [], joint: "|" as const }]) {
    commands.push(words);
    if (joint === "|") continue;
    pipes.push({ commands, joint });
    commands = [];
  }
  return commands.length > 0 ? null : pipes;
}

function lineNature(line: string, depth: number): Nature {
  const group = /^\s*(?:\(([^()]*)\)|\{\s([^{}]*)\})\s*$/.exec(line);
  if (group !== null && depth < depthMax) return lineNature(group[1] ?? group[2] ?? "", depth + 1);
  const pipes = parsePipes(line);
  if (pipes === null) return open;
  if (pipes[0]?.commands[0]?.[0]?.text === "set") return open; // `set -e` and its like change what follows
  let [isSure, isConstant] = [true, true];
  let previousJoint: Joint = "";
  for (const { commands, joint } of pipes) {
    const own = pipeNature(commands, depth);
    const ownSure = own.isSure || joint === "&";
    if (previousJoint === "&&") isSure &&= ownSure;
    else if (previousJoint === "||") isSure ||= ownSure;
    else isSure = ownSure; // behind `;` only the last counts
    isConstant &&= own.isConstant && own.isSure; // what may fail can show in a later `$?`, or keep what follows from running
    previousJoint = joint;
  }
  return { isSure, isConstant };
}

function pipeNature(commands: readonly (readonly ShellWord[])[], depth: number): Nature {
  let nature: Nature | null = null;
  for (const words of commands) nature = simpleNature(words, depth, { isFed: nature !== null, isFeedConstant: nature?.isConstant ?? true });
  return nature ?? empty;
}

/** `npm test; echo done` (expect done): the last command says what is expected, whatever came before. */
function saysItself(line: string, text: string): boolean {
  const pipes = parsePipes(line) ?? [];
  const last = pipes.at(-1)?.commands;
  const [words] = last ?? [];
  const isAlone = pipes.length === 1 || pipes.at(-2)?.joint === ";";
  if (last?.length !== 1 || words === undefined || !isAlone || !["echo", "printf"].includes(words[0]?.text ?? "")) return false;
  const said = words.slice(1).filter(({ holds }) => holds === "nothing");
  return said
    .map((word) => word.text)
    .join(" ")
    .includes(text);
}

type Fed = { readonly isFed: boolean; readonly isFeedConstant: boolean };

function simpleNature(words: readonly ShellWord[], depth: number, fed: Fed): Nature {
  const [first, ...rest] = words;
  if (first === undefined) return empty;
  const name = first.text.replace(/^.*\//, "");
  if (name === "!") {
    const negated = rest[0]?.text;
    return negated === "false" || negated === "/bin/false" ? empty : open;
  }
  if (/^[A-Za-z_]\w*=/.test(first.text) && !first.isQuoted)
    return rest.length === 0 ? (isPlain([first]) ? empty : open) : simpleNature(rest, depth, fed);
  if (["command", "exec", "time", "nohup", "sudo", "env", "nice"].includes(name) && rest.length > 0 && !rest[0]?.text.startsWith("-"))
    return simpleNature(rest, depth, fed);
  if (["sh", "bash", "dash", "zsh", "eval"].includes(name) && depth < depthMax) {
    const script = name === "eval" ? rest[0] : rest[0]?.text === "-c" ? rest[1] : undefined;
    return script !== undefined && script.holds !== "something" ? lineNature(script.text, depth + 1) : open;
  }
  return table[name]?.(rest, fed) ?? (rest.length === 1 && versionFlags.has(rest[0]?.text ?? "") ? prints : open);
}

const versionFlags = new Set(["--version", "-v", "-V", "--help", "-h", "version", "help"]);
const isPlain = (words: readonly ShellWord[]): boolean => words.every(({ holds }) => holds !== "something");
const flagless = (words: readonly ShellWord[]): readonly ShellWord[] => words.filter(({ text }) => !text.startsWith("-"));
/** Places that are there in every project. */
const isEverywhere = ({ text, holds }: ShellWord): boolean => holds === "nothing" && /^(\.|\.\/|\.\.|\/|~|\/tmp|\/dev\/null)$/.test(text);

type Row = (words: readonly ShellWord[], fed: Fed) => Nature;
const never: Row = () => empty;
const lists: Row = (words) => (flagless(words).every(isEverywhere) ? prints : open);
const filters: Row = (words, { isFed, isFeedConstant }) =>
  isFed && flagless(words).every(({ text }) => !/[./]/.test(text)) ? { isSure: true, isConstant: isFeedConstant } : open;
const says: Row = (words) => ({ isSure: true, isConstant: isPlain(words) });
const looks: Row = () => prints;

const table: Readonly<Record<string, Row | undefined>> = Object.assign(Object.create(null) as Record<string, Row>, {
  true: never,
  ":": never,
  sleep: never,
  wait: never,
  export: never,
  unset: never,
  exit: (words) => (words[0] === undefined || words[0].text === "0" ? empty : open),
  return: (words) => (words[0] === undefined || words[0].text === "0" ? empty : open),
  echo: says,
  printf: says,
  test: (words) => (isConstantTest(words) ? empty : open),
  "[": (words) => (words.at(-1)?.text === "]" && isConstantTest(words.slice(0, -1)) ? empty : open),
  "[[": (words) => (words.at(-1)?.text === "]]" && isConstantTest(words.slice(0, -1)) ? empty : open),
  ls: lists,
  dir: lists,
  find: (words) => (isEverywhere(words[0] ?? dot) && !words.some(({ text }) => text === "-exec" || text === "-execdir") ? prints : open),
  cd: lists,
  stat: (words) => (words.length > 0 && flagless(words).every(isEverywhere) ? prints : open),
  touch: never, // it makes what it should look for
  mkdir: (words) => (words.some(({ text }) => /^-\w*p|^--parents$/.test(text)) ? empty : open),
  pwd: looks,
  date: looks,
  whoami: looks,
  id: (words) => (words.length === 0 ? prints : open),
  uname: looks,
  hostname: looks,
  uptime: looks,
  history: looks,
  printenv: (words) => (words.length === 0 ? prints : open),
  env: (words) => (words.length === 0 ? prints : open),
  git: (words) => (isSureGit(words) ? prints : open),
  cat: filters,
  head: filters,
  tail: filters,
  sort: filters,
  uniq: filters,
  wc: filters,
  tee: (_words, { isFed, isFeedConstant }) => (isFed ? { isSure: true, isConstant: isFeedConstant } : open),
  grep: (words, { isFed, isFeedConstant }) => (isFed && isFeedConstant && isPlain(words) && flagless(words).length === 1 ? empty : open),
} satisfies Record<string, Row>);

const dot: ShellWord = { text: ".", holds: "nothing", isQuoted: false };

/** `git status` and the like succeed in every repository, unless an option reports through the exit code. */
function isSureGit(words: readonly ShellWord[]): boolean {
  if (!["status", "log", "branch", "diff", "version", "show"].includes(words[0]?.text ?? "")) return false;
  return words
    .slice(1)
    .every(({ text, holds }) => holds === "nothing" && text.startsWith("-") && !/^--(exit-code|quiet|check)$|^-q$/.test(text));
}

/** A test whose operands are all literals: it has the same result everywhere. One that is always false proves nothing either. */
function isConstantTest(words: readonly ShellWord[]): boolean {
  if (!words.every(({ holds }) => holds === "nothing")) return false;
  const [first, second] = words.map(({ text }) => text);
  if (words.length === 1) return true;
  if (words.length === 2 && (first === "-n" || first === "-z")) return true;
  if (words.length === 2 && /^-[defrsx]$/.test(first ?? "")) return isEverywhere(words[1] ?? dot);
  return words.length === 3 && /^(=|==|!=|-eq|-ne|-gt|-ge|-lt|-le|<|>)$/.test(second ?? "");
}
