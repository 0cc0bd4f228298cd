// collect-checks: collects the checks of a run: the user's own commands and those detected at the base commit.

import type { Check } from "../../contracts/evidence.ts";
import type { Objective } from "../../contracts/objective.ts";
import { type DetectConfig, detectChecks } from "../../verify/detect/detect.ts";
import { type RestoreSetting, detectRestores } from "../../verify/detect/detect-restore.ts";
import type { DetectWarning, Tree } from "../../verify/detect/manifest.ts";
import { commandKey } from "../../verify/same-command.ts";
import { asSet } from "../../kit/as-set.ts";
import { git } from "../../workspace/git/git.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { listDisplayPaths } from "../../workspace/git/tree-list.ts";

const manifestBytesMax = 1024 * 1024;

/** Every command that may decide something in this run: the user's own, then those of the project's manifests at the base. */
export async function readChecks(
  repository: Repository,
  objective: Objective,
  config: DetectConfig & { readonly restore?: RestoreSetting | undefined },
): Promise<{ checks: Check[]; restores: readonly Check[]; warnings: readonly DetectWarning[] }> {
  const { files, read } = await treeAt(repository.root, repository.head.commit);
  const { checks, warnings } = detectChecks({ files, read }, config);
  const own = [
    ...objective.done_criteria.flatMap(({ id, text, check }) =>
      check === null ? [] : [named(`criterion:${id}`, "criterion", text, check)],
    ),
    ...objective.red_green.map((command, index) => named(`red_green:${index + 1}`, "red_green", command, command)),
    // An agent may see its title when it fails, never its command.
    ...objective.holdout.map((command, index) => named(`holdout:${index + 1}`, "holdout", `holdout ${index + 1}`, command)),
  ];
  const commands = new Set(own.map(({ command }) => commandKey(command)));
  const restores = detectRestores({ files, read }, config.restore ?? "copy");
  return { checks: [...own, ...checks.filter(({ command }) => !commands.has(commandKey(command)))], restores, warnings };
}

const named = (id: string, kind: Check["kind"], title: string, command: string): Check => ({
  id,
  kind,
  title,
  command,
  source: "objective",
});

let looked: { readonly key: string; readonly tree: WeakRef<Promise<Tree>> } | null = null;

/** The base tree's paths and manifests: what is committed counts, not the working tree. A draft asks for the same several times. */
export function treeAt(root: string, commit: string): Promise<Tree> {
  const key = JSON.stringify([root, commit]);
  const before = looked?.key === key ? looked.tree.deref() : undefined;
  if (before !== undefined) return before;
  const tree = lookAt(root, commit);
  looked = { key, tree: new WeakRef(tree) };
  tree.catch(() => (looked = null));
  return tree;
}

async function lookAt(root: string, commit: string): Promise<Tree> {
  const files = asSet(await listDisplayPaths({ cwd: root }, commit));
  const manifests = [...files].filter((path) => !path.includes("/"));
  const texts = new Map<string, string>();
  for (const path of manifests.filter((name) =>
    /^(package\.json|deno\.jsonc?|pyproject\.toml|setup\.cfg|pytest\.ini|tox\.ini|\.?mypy\.ini|ruff\.toml|\.ruff\.toml|Cargo\.toml|[Mm]akefile|GNUmakefile|go\.mod)$/.test(
      name,
    ),
  )) {
    const blob = await git({
      cwd: root,
      args: ["cat-file", "blob", `${commit}:${path}`],
      outputBytesMax: manifestBytesMax,
      codes: [0, 128],
    });
    if (blob.code === 0) texts.set(path, blob.out.toString("utf8"));
  }
  return { files, read: (path) => texts.get(path) ?? null };
}
