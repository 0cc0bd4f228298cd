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
  const parts = splitChain(command).map((part, index) => planPart(part, index, project));
  if (parts.includes(null)) return null;

  // Only the first name of a package is replaced: what follows a pipe only looks.
  return command.replace(splitChain(command)[0] ?? "", () => parts[0] ?? "");
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
    return index > 0 ||
      (first !== "ls" && others.some((word) => project.paths.has(normalize(word))))
      ? part
      : null;
  }

  const bin = project.bins.get(first);
  if (bin !== undefined) return part.replace(first, `node ${bin}`);
  if (first.includes("/") && project.paths.has(normalize(first))) return part;
  if (!interpreter.test(first)) return null;
  const { code } = splitInlineCode(part);
  if (code.length > 0) {
    return !code.some(doesReachOut) &&
      [...code, part].some((text) => doesNameProject(text, project))
      ? part
      : null;
  }

  if (first === "cargo") {
    return others[0] === "run" && project.paths.has("Cargo.toml") ? part : null;
  }

  if (first === "go") {
    return others[0] === "run" && others.slice(1).some((word) => isOfProject(word, project))
      ? part
      : null;
  }

  return others.some((word) => isOfProject(word, project)) ? part : null; // C1
}

/**
 * `npm run bench`, `make bench`: how scripts of a `package.json` and targets are started. One that
 * reaches out is none.
 */
export function listTasks(
  manifest: string | null,
  makefiles: readonly string[],
): readonly string[] {
  const targets = makefiles.flatMap((text) => (reachesOut.test(text) ? [] : listMakeTargets(text)));
  const scripts = Object.entries(readManifest(manifest)?.scripts ?? {});
  const names = scripts.flatMap(([name, body]) =>
    typeof body === "string" && !reachesOut.test(body) ? [name] : [],
  );

  const starters = [
    "npm run",
    "npm run -s",
    "npm run --silent",
    "pnpm",
    "pnpm run",
    "yarn",
    "yarn run",
    "bun run",
  ];
  const started = names.flatMap((name) => starters.map((starter) => `${starter} ${name}`));
  const short = names
    .filter((name) => name === "test" || name === "start")
    .map((name) => `npm ${name}`);

  return [
    ...started,
    ...short,
    ...targets.flatMap((target) => [`make ${target}`, `make -s ${target}`]),
  ];
}

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
  const entries =
    typeof bin === "string" && typeof name === "string"
      ? [[name.replace(/^@[^/]+\//, ""), bin]]
      : Object.entries(bin ?? {});
  return new Map(
    entries.flatMap(([key, path]) =>
      typeof path === "string" && key !== undefined ? [[key, normalize(path)]] : [],
    ),
  );
}
