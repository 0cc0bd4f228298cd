// inside-repository: refuses to start a run from a subfolder, because checks run in the repository's root.

import { realpathSync } from "node:fs";
import { relative } from "node:path";
import type { ProjectPaths } from "./runs/project-paths.ts";
import type { CommandContext } from "./command-context.ts";
import { refuse } from "./reply.ts";

/** A run works on the whole repository: started in a subfolder, it would run its checks elsewhere than its user expects. */
export function refuseInside(context: Pick<CommandContext, "cwd">, paths: Pick<ProjectPaths, "root">): void {
  const [folder, root] = [realpathSync(context.cwd), realpathSync(paths.root)];
  if (folder === root) return;
  const inside = relative(root, folder);
  refuse("workspace_unusable", {
    message: `You are in ${inside}/, but checks and criteria run in the root of the repository, ${root}.`,
    remediation: [
      `autopilot -C ${relative(folder, root)} go "GOAL" --scope "${inside}/**" --done-criteria "TEXT :: cd ${quoted(inside)} && COMMAND"`,
    ],
    data: { root, inside },
  });
}

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);
