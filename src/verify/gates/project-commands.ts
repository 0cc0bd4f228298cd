// project-commands: reads which commands a project has: its paths, the scripts of its manifests and
// the targets of its makefile, now and before the work.

import {
  type CommandTree,
  makefileNames,
  parseMakeTargets,
  parseScripts,
} from "./named-commands.ts";

/** One state of a project. `read` answers null for what can't be read as text. */
export type ProjectVersion = {
  readonly paths: readonly string[];
  readonly read: (path: string) => Promise<string | null>;
};

const manifestsMax = 50;

export async function readProjectCommands(
  now: ProjectVersion,
  readBefore: ProjectVersion["read"],
): Promise<CommandTree> {
  const manifests = now.paths.filter((path) => /(?:^|\/)package\.json$/.test(path));
  const scripts = await Promise.all(
    manifests
      .slice(0, manifestsMax)
      .map(async (path) => parseScripts((await now.read(path)) ?? "")),
  );
  const areScriptsKnown =
    scripts.length > 0 && manifests.length <= manifestsMax && !scripts.includes(null);
  const earlierScripts = parseScripts((await readBefore("package.json")) ?? "") ?? [];

  return {
    paths: new Set(now.paths),
    scripts: areScriptsKnown
      ? new Set([...scripts.flatMap((names) => names ?? []), ...earlierScripts])
      : null,
    targets: await readTargets(now, readBefore),
  };
}

async function readTargets(
  { paths, read }: ProjectVersion,
  readBefore: ProjectVersion["read"],
): Promise<ReadonlySet<string> | null> {
  const makefile = makefileNames.find((name) => paths.includes(name));
  const text = makefile === undefined ? null : await read(makefile);
  const targets = text === null ? null : parseMakeTargets(text);
  if (makefile === undefined || targets === null) return null;

  const earlierTargets = parseMakeTargets((await readBefore(makefile)) ?? "") ?? [];
  return new Set([...targets, ...earlierTargets]);
}
