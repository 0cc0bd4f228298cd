// checks-of: collects the checks of a run: the user's own commands and those detected at the base commit.

import type { Check } from "../../contracts/evidence.ts";
import type { Objective } from "../../contracts/objective.ts";
import { type DetectConfig, detectChecks } from "../../verify/detect/detect.ts";
import { type RestoreSetting, restoresOf } from "../../verify/detect/detect-restore.ts";
import type { DetectWarning, Tree } from "../../verify/detect/manifest.ts";
import { commandKey } from "../../verify/same-command.ts";
import { git } from "../../workspace/git/git.ts";
import type { Repository } from "../../workspace/git/repository.ts";

const manifestBytesMax = 1024 * 1024;

/** Every command that may decide something in this run: the user's own, then what the project's manifests tell at the base. */
export async function checksOf(
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
    ...objective.red_green.map((command, at) => named(`red_green:${at + 1}`, "red_green", command, command)),
    // Its title may come before the agent, in words about what failed; its command never.
    ...objective.holdout.map((command, at) => named(`holdout:${at + 1}`, "holdout", `holdout ${at + 1}`, command)),
  ];
  const commands = new Set(own.map(({ command }) => commandKey(command)));
  const restores = restoresOf({ files, read }, config.restore ?? "copy");
  return { checks: [...own, ...checks.filter(({ command }) => !commands.has(commandKey(command)))], restores, warnings };
}

const named = (id: string, kind: Check["kind"], title: string, command: string): Check => ({
  id,
  kind,
  title,
  command,
  source: "objective",
});

let listed: { readonly key: string; readonly names: WeakRef<Promise<ReadonlySet<string>>> } | null = null;

/** Every file's name at a commit; a draft asks for the same commit's several times, and nobody after it. */
export function namesAt(root: string, commit: string): Promise<ReadonlySet<string>> {
  const key = JSON.stringify([root, commit]);
  const before = listed?.key === key ? listed.names.deref() : undefined;
  if (before !== undefined) return before;
  const names = git({ cwd: root, args: ["ls-tree", "-r", "--name-only", "-z", commit] }).then(
    ({ out }) =>
      new Set(
        out
          .toString("utf8")
          .split("\0")
          .filter((name) => name !== ""),
      ),
  );
  listed = { key, names: new WeakRef(names) };
  names.catch(() => (listed = null));
  return names;
}

/** The base tree's names, and its manifests' text: what is committed counts, not what lies about. */
export async function treeAt(root: string, commit: string): Promise<Tree> {
  const files = await namesAt(root, commit);
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
