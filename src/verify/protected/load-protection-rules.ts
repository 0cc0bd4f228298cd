// load-protection-rules: decides which files of a run are protected, from its base, its commands
// and the user's own globs.

import picomatch from "picomatch";
import type { GitSha } from "../../contracts/ids.ts";
import { asSet, type StringSet } from "../../kit/as-set.ts";
import type { CommandSet } from "./command-set.ts";
import { extractProtectedParts } from "./parts/extract-parts.ts";
import { findShadowableTargets } from "./parts/makefile-parts.ts";
import { listIncludedFiles } from "./parts/parse-makefile.ts";
import { findImportedScripts } from "./imported-scripts.ts";
import type { ProtectionRules } from "./judge.ts";
import { findPrograms, findSettings } from "./programs.ts";
import { createRowFinder } from "./protect.ts";
import { textBytesMax, type TreeReader } from "./read-change.ts";
import type { ProtectionRow } from "./rows/protection-row.ts";
import { mayBeTest } from "./rows/test-rows.ts";

export type ProtectionSources = {
  readonly workspace: TreeReader;
  /** Globs of further protected files; with `!`, of files that are not protected. */
  readonly protect: readonly string[];
  /** Whether dependencies are restored before checks. */
  readonly restores: boolean;
  /** Whether experiments follow a pass. */
  readonly areTriedOut?: boolean;
};

// `(?!)` matches nothing: these rows are given to paths, never found by their pattern.
const programRow: ProtectionRow = { kind: "scripts", path: /(?!)/ };
const includedRow: ProtectionRow = {
  kind: "scripts",
  path: /(?!)/,
  part: "included",
  rules: "named",
};
const shadowingRow: ProtectionRow = {
  kind: "scripts",
  path: /(?!)/,
  rules: "named",
  because:
    "it bears the name of a rule that the makefile runs, and while it is there make finds nothing to do",
};

/** The scripts and rules by which a project tests itself: `scripts.test`, `target check`. */
const testingPart =
  /^(?:scripts\.|target )(?:pre|post)?(?:tests?|unit|e2e|spec|lint|checks?|verify|validate|ci|cov|coverage)(?:[:._-].*)?$/;

export async function loadProtectionRules(
  { workspace, protect, restores }: ProtectionSources,
  base: GitSha,
  commands: readonly string[],
): Promise<ProtectionRules> {
  const paths = asSet(await workspace.pathsAt(base));
  const commandSet: CommandSet = { commands, usedCommands: commands, restores };
  const read = (path: string): Promise<string | null> => workspace.textAt(base, path, textBytesMax);

  const manifests = await readManifests(commandSet, paths, read);
  const usedCommands = [...commands, ...manifests.commands];
  const programs = await findJudgingPrograms({ commands, manifests, paths, read });
  const isShadowing = createShadowingFilter(manifests.makefiles, commandSet, paths);
  const isIncluded = createIncludedFilter(manifests.makefiles);
  const findRow = createRowFinder(protect);

  const rowOf = (path: string): ProtectionRow | null => {
    if (isShadowing(path)) return shadowingRow;
    const row = findRow(path);
    // New or not: the base's makefile names it.
    if (isIncluded(path) && (row === null || row.part === "included")) return includedRow;
    if (row !== null) return row;
    return programs.has(path) && paths.has(path) ? programRow : null;
  };

  return {
    base: paths,
    rowOf,
    named: { ...commandSet, usedCommands },
    // What the user protects by name counts as a test, whatever it is called.
    ...(protect.length === 0 ? { mayBeTest } : {}),
  };
}

type ReadFile = (path: string) => Promise<string | null>;

/** What the base's manifest and makefiles say about the commands that are run. */
type Manifests = {
  /** What their scripts and rules expand the commands to. */
  readonly commands: readonly string[];
  /** Those of them by which the project tests itself. */
  readonly testCommands: readonly string[];
  readonly texts: readonly string[];
  readonly makefiles: readonly string[];
};

const manifestFiles = [
  ["package.json", "package"],
  ["Makefile", "make"],
  ["makefile", "make"],
  ["GNUmakefile", "make"],
] as const;

async function readManifests(
  commandSet: CommandSet,
  paths: StringSet,
  read: ReadFile,
): Promise<Manifests> {
  const commands: string[] = [];
  const testCommands: string[] = [];
  const texts: string[] = [];
  const makefiles: string[] = [];

  for (const [path, part] of manifestFiles) {
    const text = paths.has(path) ? await read(path) : null;
    if (text === null) continue;
    texts.push(text);
    if (part === "make") makefiles.push(text);

    for (const [name, content] of Object.entries(
      extractProtectedParts(part, text, commandSet) ?? {},
    )) {
      commands.push(content);
      if (testingPart.test(name)) testCommands.push(content);
    }
  }

  return { commands, testCommands, texts, makefiles };
}

type ProgramSources = {
  readonly commands: readonly string[];
  readonly manifests: Manifests;
  readonly paths: StringSet;
  readonly read: ReadFile;
};

/** The scripts and settings that the commands start or load, and what those scripts import. */
async function findJudgingPrograms({
  commands,
  manifests,
  paths,
  read,
}: ProgramSources): Promise<ReadonlySet<string>> {
  const usedCommands = [...commands, ...manifests.commands];
  const started = new Set([
    ...findPrograms(usedCommands),
    ...findPrograms(manifests.testCommands, true),
  ]);
  const namingTexts = [...commands, ...manifests.texts];
  const imported = await findImportedScripts(started, namingTexts, paths, read);

  return new Set([...started, ...findSettings(usedCommands), ...imported]);
}

/**
 * Returns a predicate: whether a path would keep make from running a check, as a new file or folder
 * with the name of a target.
 */
function createShadowingFilter(
  makefiles: readonly string[],
  commandSet: CommandSet,
  paths: StringSet,
): (path: string) => boolean {
  if (!commandSet.commands.some((command) => /\bmake\b/.test(command))) return () => false;
  const topName = (path: string): string => path.split("/", 1)[0] ?? "";
  const existingNames = new Set([...paths].map(topName));

  const targets = new Set(
    makefiles
      .flatMap((text) => findShadowableTargets(text, commandSet))
      .filter((target) => !existingNames.has(target)),
  );
  return (path) => targets.has(topName(path));
}

function createIncludedFilter(makefiles: readonly string[]): (path: string) => boolean {
  const included = listIncludedFiles(makefiles);
  return included.length === 0 ? () => false : picomatch([...included], { dot: true });
}
