// code-readers: tells compilers, linters and formatters in a command from what may run tests. Those
// only read code: their expectations are in no test file. Pure.

import { splitChain, splitPipelines } from "../../protected/programs.ts";

const reader =
  /\b(?:tsc|vue-tsc|[a-z]*lint\w*|ruff|mypy|pyright|flake8|clippy|\w*fmt|format|prettier|biome|type-?check|build|compile|vet|--check)\b/i;
/** What dislikes a style, so that tests which are changed a little may not pass it. */
const styleReader =
  /\b(?:[a-z]*lint\w*|staticcheck|ruff|black|isort|flake8|clippy|(?:go|rust|clang-)?fmt|format|prettier|biome|vet)\b/i;
/** A part that runs tests, whatever its other words are: `go test ./build/...`. */
const testRun =
  /(?:^|\s)(?:(?:go|cargo|npm|yarn|pnpm|bun|deno|just|mvn|gradle|swift|dotnet|mix)\s+(?:-\S+\s+)*(?:run\s+)?(?:t|tests?)(?=[\s:]|$)|(?:pytest|unittest|prove|ctest|mocha|jest|vitest|tox|nox)\b|node\s+(?:\S+\s+)*--test\b)/;
/** What judges nothing: `set -e`, `cd web`, `CI=1`. */
const preparation = /^(?:set|cd|export|echo|mkdir|true|:|\w+=\S*)(?:\s|$)/;
/** `sh -c '…'`, `bash -ec "…"`. */
const shellCommand = /^(\s*(?:\S*\/)?(?:ba|da|z)?sh\s+(?:-\w+\s+)*?-\w*c\s+(["']))(.*)(\2\s*)$/s;
const makeCommand = /^(?:\w+=\S*\s+)*g?make\s/;

/** Whether every part of the command that judges is a compiler, linter or formatter. */
export function readsOnlyCode(command: string): boolean {
  const inner = shellCommand.exec(command)?.[3];
  if (inner !== undefined) return readsOnlyCode(inner);
  const parts = splitChain(command)
    .filter((part) => !preparation.test(part))
    .flatMap(splitTargets);

  return parts.length === 0
    ? isReader(command, reader)
    : parts.every((part) => isReader(part, reader));
}

const isReader = (part: string, words: RegExp): boolean => words.test(part) && !testRun.test(part);

/** `make lint test` asks for two things. */
function splitTargets(part: string): readonly string[] {
  if (!makeCommand.test(part)) return [part];
  const targets = part
    .replace(makeCommand, "")
    .split(/\s+/)
    .filter((word) => isTarget(word));
  return targets.length < 2 ? [part] : targets.map((target) => `make ${target}`);
}

const isTarget = (word: string): boolean => /^[A-Za-z][\w./-]*$/.test(word);

/**
 * The command without linters and formatters, if other parts of it may run tests: a test with
 * another expectation need not please those.
 */
export function withoutStyleReaders(command: string): string {
  const [, start, , inner, end] = shellCommand.exec(command) ?? [];
  if (inner !== undefined) return `${start}${withoutStyleReaders(inner)}${end}`;
  if (command.includes("||") || readsOnlyCode(command)) return command;

  let text = command;
  for (const { text: part, from } of splitPipelines(command).toReversed()) {
    text = text.slice(0, from) + withoutStyle(part) + text.slice(from + part.length);
  }

  return text;
}

function withoutStyle(part: string): string {
  const targets = splitTargets(part.trim());
  if (targets.length === 1) {
    return isReader(part, styleReader) && !makesSomething.test(part)
      ? part.replace(/\S(?:.*\S)?/s, "true")
      : part;
  }

  return part
    .split(/(?<=\S)(?=\s)/)
    .filter((word) => !(isTarget(word.trim()) && styleReader.test(word)))
    .join("");
}

/** What may make what the tests need. */
const makesSomething = /\b(?:build|compile|generate|--fix|--write)\b|>/;
