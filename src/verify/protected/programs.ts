// programs: reads check commands: the scripts, settings and paths that they use, and which of their
// parts may judge.

import { normalize } from "node:path/posix";

const interpreters =
  /^(?:sh|bash|zsh|dash|node|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|env|exec|time|command)$/;
const isSetting = (word: string): boolean => /^\w+=/.test(word) || word.startsWith("-");
/**
 * A script that a check runs is a judge if its path says so; a script among the code is under test.
 */
export const judgingPathPattern =
  /(?:^|[/._-])(?:tests?|checks?|verify|lint|ci|smoke|e2e|spec|assert|validate|coverage)(?:[._-]|$|\/)/i;
export const codePathPattern = /^(?:src|lib|app|pkg|internal|cmd|bin|packages|crates)\//;

/** Folders of programs that work on the project and are not part of it. */
export const toolPathPattern = /(?:^|\/)(?:scripts?|tools?|hack|ci|\.ci|dev)\//;

/**
 * The files that commands start, as paths from the top: `sh scripts/check.sh`, `./run-tests`.
 * `isTesting`: these commands are the project's own tests, so every tool they start was made for
 * that.
 */
export function findPrograms(commands: readonly string[], isTesting = false): ReadonlySet<string> {
  const programs = commands
    .flatMap((command) => command.split(/&&|\|\||[;|&\n()]/))
    .map((part) => findStartedFile(part))
    .filter((path) => path !== null);

  const isJudge = (path: string): boolean =>
    judgingPathPattern.test(path) || (isTesting && toolPathPattern.test(path));
  return new Set(programs.filter((path) => isJudge(path) && !codePathPattern.test(path)));
}

/** The file of the project that a single command starts. */
function findStartedFile(command: string): string | null {
  const words = command
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/["']/g, ""));

  const index = words.findIndex((word) => !isSetting(word) && !interpreters.test(word));
  const program = words[index];
  if (program === undefined || program.startsWith("/") || program.startsWith("~")) return null;

  // A bare first word is searched in PATH, not here.
  const isInterpreted = words.slice(0, index).some((word) => interpreters.test(word));
  return program.includes("/") || isInterpreted ? normalize(program) : null;
}

const settingsOption =
  /(?:^|\s)(?:-c|-r|-p|--config(?:uration)?|--rcfile|--require|--import|--loader|--project|--file|--makefile|-f|--setup-files?)[ =]["']?([\w./@-]+\.(?:json5?|jsonc|[cm]?[jt]s|ya?ml|toml|ini|cfg|mk|xml|py))\b/g;

/**
 * The settings files that commands name: `jest --config ci/jest.json`, `mocha -r ./bootstrap.js`.
 */
export function findSettings(commands: readonly string[]): ReadonlySet<string> {
  const settings = commands.flatMap((command) =>
    [...command.matchAll(settingsOption)].map(([, path = ""]) => normalize(path)),
  );
  return new Set(settings.filter((path) => !codePathPattern.test(path)));
}

/** Every path that texts name, whatever for. */
export const findNamedPaths = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(texts.flatMap(listNamedPaths));

/** A command that changes its folder first names paths from there too. */
function listNamedPaths(text: string): readonly string[] {
  const words = text.match(/[\p{L}\p{N}_@/-][\p{L}\p{N}_.@/-]*/gu) ?? [];
  const paths = words.map((word) => normalize(word));

  const [, quoted, bare] = /^\s*cd\s+(?:["']([^"']+)["']|([^\s;&|"']+))\s*&&/.exec(text) ?? [];
  const folder = quoted ?? bare;
  if (folder === undefined) return paths;

  const pathsInFolder = paths.map((path) => normalize(`${folder}/${path}`));
  return [...paths, ...pathsInFolder];
}

/** `python3 -c '…'`, `node --eval "…"`. */
const inlineCode =
  /\b(?:(?:python[\d.]*|node|deno|bun|ruby|perl|php|tsx)\b[^'"|;&\n]{0,200}?\s(?:-[a-zA-Z]?[cep]|--eval|--print)|php\s+-r)[ =]*('[^']*'|"(?:[^"\\]|\\.)*")/g;

/**
 * Splits a command into the programs inside it (`python3 -c '…'`) and the rest. What such a program
 * loads is what it inspects.
 */
export function splitInlineCode(command: string): {
  readonly code: readonly string[];
  readonly rest: string;
} {
  const code = [...command.matchAll(inlineCode)].map(([, text = ""]) => text.slice(1, -1));
  return { code, rest: code.length === 0 ? command : command.replaceAll(inlineCode, " ") };
}

/**
 * The commands that a line chains with `;`, `&`, `|` and the like; separators inside quotes don't
 * count.
 */
export const splitChain = (command: string): readonly string[] =>
  (command.match(/(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^;&|\n'"\\]|["'\\])+/g) ?? [])
    .map((part) => part.trim())
    .filter((part) => part !== "");

type Pipeline = {
  readonly text: string;
  /** Where in the command it begins. */ readonly from: number;
};

/** The parts of a command that `;`, `&` and the like chain, each with all that it pipes into. */
export function splitPipelines(command: string): readonly Pipeline[] {
  const parts = command.matchAll(
    /(?:>&|&>|'[^']*'|"(?:[^"\\]|\\.)*"|\\.|(?<!\|)\|(?!\|)|[^;&|\n'"\\]|["'\\])+/g,
  );
  return [...parts].map(({ 0: text, index }) => ({ text, from: index }));
}

const readOnlyProgram =
  /^(?:grep|egrep|fgrep|rg|test|\[|\[\[|ls|cat|head|tail|wc|sort|uniq|cut|tr|diff|cmp|stat|true|cd|!)$/;

/**
 * Whether a command only reads files and starts nothing of the project (`grep -q word file`), so
 * nothing in it can keep it from failing.
 */
export function isReadOnly(command: string): boolean {
  if (/[$`<>]\(|`|\$\{?\w|\n/.test(command)) return false;
  const withoutStrings = command.replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, "x");

  const commands = withoutStrings.split(/&&|\|\||[;|&]/);

  return commands.every((part) => {
    const withoutNegation = part.trim().replace(/^(?:!\s+)+/, "");
    const [program = ""] = withoutNegation.split(/\s+/);
    return readOnlyProgram.test(program);
  });
}

/**
 * The parts of a chain of commands that may judge: not those that only look at files, nor code in
 * the command, which holds what it expects.
 */
export function splitJudgingParts(command: string): readonly string[] {
  const folder = /^\s*cd\s+(?:["'][^"']+["']|[^\s;&|"']+)\s*&&/.exec(command)?.[0] ?? "";
  const { rest } = splitInlineCode(command.slice(folder.length));
  return splitChain(rest)
    .filter((part) => !isReadOnly(part))
    .map((part) => folder + part);
}

/** The command without its parts that only ask whether something exists (`! test -e src/a.py`). */
export const removeExistenceTests = (command: string): string =>
  command.replaceAll(
    /(?<=^|&&|;)\s*(?:!\s+)*(?:test|\[)\s+(?:!\s+)?-[defsx]\s+[^\s;&|]+(?:\s+\])?\s*(?=$|&&|;)/g,
    " ",
  );
