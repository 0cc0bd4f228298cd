// named-commands: finds commands of the project that a document names and that do not exist:
// scripts of a manifest, targets of a makefile, programs by their path. Pure.
//
// Invariants:
//   N1. Only what can be looked up counts: neither a program of the machine nor a command in
//       another folder.
//   N2. A command that is planned, quoted, or said to be missing is not claimed to exist.

import { readProseLines } from "./citations.ts";

export type CommandTree = {
  readonly paths: ReadonlySet<string>;
  /**
   * Scripts of every manifest, now or before the work; null if there is none or one cannot be read.
   */
  readonly scripts: ReadonlySet<string> | null;
  /** Targets of the top makefile; null if there is none, or it computes targets. */
  readonly targets: ReadonlySet<string> | null;
};

const commandsMax = 200;
/** Words by which a line plans, quotes or denies a command (N2). */
const hedges =
  /\b(?:add(?:s|ed|ing)?|creat\w+|introduc\w+|new|propos\w+|plan(?:s|ned)?|will|would|should|could|todo|future|missing|absent|no|not|isn't|doesn't|without|remov\w+|delet\w+|renam\w+|former(?:ly)?|instead of|e\.g\.|example|if)\b/i;
const shellSyntax = /&&|\|\||[|;<>$*{]|\bcd\s|--prefix|--workspace|\s-w\b|\s-C\b|--filter|--dir\b/;

/** The missing commands, as they are written in the document. */
export function findMissingCommands(text: string, tree: CommandTree): readonly string[] {
  const claims = readProseLines(text).filter(
    (line) => !hedges.test(line.replaceAll(/`[^`]*`/g, "")),
  ); // N2
  const quotes = claims.flatMap((line) => [...line.matchAll(/`([^`\n]{3,200})`/g)]);
  const commands = quotes
    .map(([, command = ""]) => command.replace(/^\$\s+/, "").trim())
    .filter((command) => !shellSyntax.test(command)); // N1

  return [...new Set(commands)].slice(0, commandsMax).filter((command) => isMissing(command, tree));
}

function isMissing(command: string, { paths, scripts, targets }: CommandTree): boolean {
  const script = /^(?:npm|pnpm|yarn|bun) run(?:-script)? ([\w:.-]+)(?:\s|$)/.exec(command)?.[1];
  if (script !== undefined) return scripts !== null && !scripts.has(script);
  const target = /^make ([\w.-]+)$/.exec(command)?.[1];
  if (target !== undefined) return targets !== null && !targets.has(target);

  const program = startedProgram.exec(command)?.[1];
  // The arguments of a program don't count: a plan names files that are still to be made. Nor does
  // a path outside the project's folders.
  if (program === undefined || paths.has(program)) return false;
  const topFolder = program.slice(0, program.indexOf("/") + 1);

  return [...paths].some((path) => path.startsWith(topFolder));
}

/** `node scripts/a.mjs`, `./ci/run.sh`. */
const startedProgram =
  /^(?:(?:node|python3?|bash|sh|ruby|perl) )?(?:\.\/)?([\w@.-]+(?:\/[\w@.-]+)+\.(?:[cm]?[jt]s|py|sh|bash|rb|pl))(?:\s|$)/;

/** The scripts of a package.json; null if it can't be read. */
export function parseScripts(manifest: string): readonly string[] | null {
  try {
    const parsed: unknown = JSON.parse(manifest);
    const scripts =
      typeof parsed === "object" && parsed !== null && "scripts" in parsed ? parsed.scripts : {};
    return typeof scripts === "object" && scripts !== null ? Object.keys(scripts) : null;
  } catch {
    return null;
  }
}

/** In the order in which make looks for them. */
export const makefileNames = ["GNUmakefile", "makefile", "Makefile"] as const;

/** The targets of a makefile; null if it includes other makefiles, or computes targets. */
export function parseMakeTargets(makefile: string): readonly string[] | null {
  if (/^-?s?include\b|^[^\t#=\n]*[%$][^=\n]*:(?!=)/m.test(makefile)) return null;
  return listMakeTargets(makefile);
}

/**
 * The targets that a makefile names itself: `lev lev_test: lev.c`; neither patterns (`%.o`) nor
 * computed ones.
 */
export function listMakeTargets(makefile: string): readonly string[] {
  const rules = [...makefile.matchAll(/^([\w. /-]+?)\s*::?(?!=)/gm)].map(([, names = ""]) => names);
  return rules.flatMap((names) => names.split(/\s+/)).filter((name) => name !== "");
}
