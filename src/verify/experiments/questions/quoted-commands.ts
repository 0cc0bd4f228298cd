// quoted-commands: decides which commands that a document quotes may be run to compare what they
// print. Pure.
//
// Invariants:
//   C1. Only programs of the project are run, by their path, module or package name, its scripts
//       and make targets, and commands that are checks anyway, also with further options or names:
//       what a document quotes may have been meant for another machine, or change the world.
//      A one-liner (`node -e '…'`) is run if its code names a file or module of the project, and
//      nothing in it reaches out.
//   C2. What installs something or asks git is passed over, since the checkout has its
//       dependencies. Any other command that is not run ends the comparison of a document: those
//       behind it may need what it did.

import { normalize } from "node:path/posix";
import type { StringSet } from "../../../kit/as-set.ts";
import { listMakeTargets } from "../../gates/named-commands.ts";
import { isReadOnly, splitChain, splitInlineCode } from "../../protected/programs.ts";
import {
  doesNameProject,
  doesReachOut,
  hasFolder,
  isOfProject,
  reachesOut,
} from "../documents/one-liners.ts";

/**
 * What is known of the project: its paths, its folders, the programs that its manifest names, and
 * the commands of its checks.
 */
export type ProjectPrograms = {
  readonly paths: StringSet;
  /** A program's name in `package.json` and its path. */
  readonly bins: ReadonlyMap<string, string>;
  readonly checks: readonly string[];
  /** Commands that start a script of its `package.json` or a target of its makefile. */
  readonly tasks?: readonly string[];
};

const interpreter =
  /^(?:node|nodejs|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|lua|sh|bash|zsh|dash|go|cargo|java|Rscript)$/;
/** Redirections into files, background jobs and substitutions. */
const otherSyntax = />|(?<!&)&(?!&)|`|\$\(|<</;
const passedOver =
  /^(?:sudo\s+)?(?:npm|pnpm|yarn|bun|pip3?|pipx|uv|poetry|cargo|go|brew|apt(?:-get)?|gem|composer|dnf|apk|python[\d.]* -m pip)\s+(?:i|install|ci|add|get|sync|update|upgrade)\b|^git\s+(?:clone|status|log|show|diff|--version)\b|^npx\s|^(?:yarn|clear|date)$/;

/**
 * The command as it is to be run, an empty text if it is passed over, null if it may not be run.
 */
export function planCommand(quoted: string, project: ProjectPrograms): string | null {
  const command = quoted.replaceAll(/\s*2>&1/g, ""); // both are read as one
  if (project.checks.includes(command)) return command;
  if (passedOver.test(command)) return ""; // C2

  const bare = command.replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, (text) =>
    isSubstituted(text) ? text : "x",
  );
  if (otherSyntax.test(bare) || reachesOut.test(command)) return null;

  if (project.checks.some((check) => isNarrowed(command, check))) return command;
  if (project.tasks?.includes(command) === true) return command;
  if (/^(?:cd|pushd)\s/.test(command) && !/&&|;/.test(bare)) {
    return hasFolder(project, command.split(/\s+/)[1] ?? "") ? command : "";
  }

  if (/^export\s+\w+=[\w./:-]*$/.test(command)) return command;

  const parts = splitChain(command);
  const planned = parts.map((part, index) => planPart(part, index, project));
  if (planned.includes(null)) return null;

  // Only the first name of a package is replaced: what follows a pipe only looks.
  const [first = ""] = parts;
  return command.replace(first, () => planned[0] ?? "");
}

/** A text in double quotes in which a shell runs a command. */
const isSubstituted = (text: string): boolean =>
  text.startsWith('"') && /`|\$\(/.test(text.replaceAll(/\\./g, ""));

/** `python3 -m pytest -q tests/test_a.py`, if `python3 -m pytest` is a check. */
const isNarrowed = (command: string, check: string): boolean =>
  command.startsWith(`${check} `) && /^(?: +[\w@%+=:,./-]+)+$/.test(command.slice(check.length));

function planPart(part: string, index: number, project: ProjectPrograms): string | null {
  const words = part.split(/\s+/).filter((word) => !/^\w+=/.test(word));
  const [first = "", ...others] = words.map((word) => word.replaceAll(/["']/g, ""));

  if (isReadOnly(part)) {
    const isBehindPipe = index > 0;
    const looksAtProject = others.some((word) => project.paths.has(normalize(word)));
    return isBehindPipe || (looksAtProject && first !== "ls") ? part : null;
  }

  const bin = project.bins.get(first);
  if (bin !== undefined) return part.replace(first, () => `node ${bin}`);
  if (first.includes("/") && project.paths.has(normalize(first))) return part;

  const isRun = interpreter.test(first) && runsProject(part, first, others, project);
  return isRun ? part : null; // C1
}

/** Whether what an interpreter or a build tool runs is the project's. */
function runsProject(
  part: string,
  program: string,
  args: readonly string[],
  project: ProjectPrograms,
): boolean {
  const { code } = splitInlineCode(part);
  if (code.length > 0) {
    return (
      !code.some(doesReachOut) && [...code, part].some((text) => doesNameProject(text, project))
    );
  }

  const [subcommand, ...others] = args;
  if (program === "cargo") return subcommand === "run" && project.paths.has("Cargo.toml");
  if (program === "go") {
    return subcommand === "run" && others.some((word) => isOfProject(word, project));
  }

  return args.some((word) => isOfProject(word, project));
}

/**
 * `npm run bench`, `make bench`: how scripts of a `package.json` and targets are started. One that
 * reaches out is none.
 */
export function listTasks(
  manifest: string | null,
  makefiles: readonly string[],
): readonly string[] {
  const scripts = Object.entries(readManifest(manifest)?.scripts ?? {})
    .filter(([, body]) => typeof body === "string" && !reachesOut.test(body))
    .map(([name]) => name);
  const started = scripts.flatMap((name) => scriptStarters.map((starter) => `${starter} ${name}`));
  const short = scripts
    .filter((name) => name === "test" || name === "start")
    .map((name) => `npm ${name}`);

  const targets = makefiles.filter((text) => !reachesOut.test(text)).flatMap(listMakeTargets);
  const makeCommands = targets.flatMap((target) => [`make ${target}`, `make -s ${target}`]);
  return [...started, ...short, ...makeCommands];
}

const scriptStarters = [
  "npm run",
  "npm run -s",
  "npm run --silent",
  "pnpm",
  "pnpm run",
  "yarn",
  "yarn run",
  "bun run",
];

type Manifest = {
  readonly name?: unknown;
  readonly bin?: unknown;
  readonly scripts?: Readonly<Record<string, unknown>>;
};

function readManifest(text: string | null): Manifest | null {
  try {
    return JSON.parse(text ?? "{}") as Manifest | null;
  } catch {
    return null;
  }
}

/**
 * The programs of a `package.json`: `"bin": "cli.js"` under the package's name, or `"bin": {
 * "slug": "bin/slug.js" }`.
 */
export function readBins(manifest: string | null): ReadonlyMap<string, string> {
  const { name, bin } = readManifest(manifest) ?? {};
  if (typeof bin === "string" && typeof name === "string") {
    return new Map([[name.replace(/^@[^/]+\//, ""), normalize(bin)]]);
  }

  const bins = new Map<string, string>();
  for (const [program, path] of Object.entries(bin ?? {})) {
    if (typeof path === "string") bins.set(program, normalize(path));
  }

  return bins;
}
