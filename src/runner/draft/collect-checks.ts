// collect-checks: collects the checks of a run: the user's own commands and those detected at the
// base commit.

import type { Check } from "../../contracts/evidence.ts";
import type { Objective } from "../../contracts/objective.ts";
import { titleSecretCheck } from "../../contracts/secret-checks.ts";
import { type DetectConfig, detectChecks } from "../../verify/detect/detect.ts";
import { type RestoreSetting, detectRestores } from "../../verify/detect/detect-restore.ts";
import type { DetectWarning, Tree } from "../../verify/detect/manifest.ts";
import { toCommandKey } from "../../verify/same-command.ts";
import { asSet } from "../../kit/as-set.ts";
import { git } from "../../workspace/git/git.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { listDisplayPaths } from "../../workspace/git/tree-list.ts";

const manifestBytesMax = 1024 * 1024;
const manifestPattern =
  /^(package\.json|deno\.jsonc?|pyproject\.toml|setup\.cfg|pytest\.ini|tox\.ini|\.?mypy\.ini|ruff\.toml|\.ruff\.toml|Cargo\.toml|[Mm]akefile|GNUmakefile|go\.mod)$/;

/**
 * Collects every command that may decide something in this run: the objective's, then those of the
 * project's manifests at the base.
 */
export async function collectChecks(
  repository: Repository,
  objective: Objective,
  config: DetectConfig & { readonly restore?: RestoreSetting | undefined },
): Promise<{ checks: Check[]; restores: readonly Check[]; warnings: readonly DetectWarning[] }> {
  const { files, read } = await loadTree(repository.root, repository.head.commit);
  const { checks, warnings } = detectChecks({ files, read }, config);

  const objectiveChecks = listObjectiveChecks(objective);
  const objectiveCommands = new Set(objectiveChecks.map(({ command }) => toCommandKey(command)));
  const projectChecks = checks.filter(
    ({ command }) => !objectiveCommands.has(toCommandKey(command)),
  );

  const restores = detectRestores({ files, read }, config.restore ?? "copy");
  return { checks: [...objectiveChecks, ...projectChecks], restores, warnings };
}

function listObjectiveChecks({ done_criteria, red_green, holdout }: Objective): readonly Check[] {
  const checks: Check[] = [];
  const add = (kind: Check["kind"], id: string | number, title: string, command: string): void => {
    checks.push({ id: `${kind}:${id}`, kind, title, command, source: "objective" });
  };

  for (const { id, text, check } of done_criteria) {
    if (check !== null) add("criterion", id, text, check);
  }

  for (const [index, command] of red_green.entries()) {
    add("red_green", index + 1, command, command);
  }

  for (const [index, command] of holdout.entries()) {
    add("holdout", index + 1, titleSecretCheck(index + 1), command);
  }

  return checks;
}

let cached: { readonly key: string; readonly tree: WeakRef<Promise<Tree>> } | null = null;

/**
 * Loads a commit's paths and manifests: what is committed counts, not the working tree. Cached,
 * since a draft asks several times.
 */
export function loadTree(root: string, commit: string): Promise<Tree> {
  const key = JSON.stringify([root, commit]);
  const cachedTree = cached?.key === key ? cached.tree.deref() : undefined;
  if (cachedTree !== undefined) return cachedTree;
  const tree = readTree(root, commit);
  cached = { key, tree: new WeakRef(tree) };
  tree.catch(() => (cached = null));

  return tree;
}

async function readTree(root: string, commit: string): Promise<Tree> {
  const files = asSet(await listDisplayPaths({ cwd: root }, commit));
  const manifests = [...files].filter((path) => manifestPattern.test(path)); // those at the top of the tree
  const texts = new Map<string, string>();

  for (const path of manifests) {
    const blob = await git({
      cwd: root,
      args: ["cat-file", "blob", `${commit}:${path}`],
      outputBytesMax: manifestBytesMax,
      acceptedExitCodes: [0, 128],
    });
    if (blob.code === 0) texts.set(path, blob.out.toString("utf8"));
  }

  return { files, read: (path) => texts.get(path) ?? null };
}
