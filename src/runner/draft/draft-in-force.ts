// draft-in-force: checks that a draft is still what its preview showed: only what was acknowledged
// is run.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunView } from "../../core/state.ts";
import type { Redactor } from "../../kit/redact.ts";
import { loadCheckedFlow } from "./load-checked-flow.ts";
import { type ProjectPaths, listRuns } from "../../project/runs/project-paths.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readRun } from "../../project/runs/read-run.ts";
import { isOwnRun } from "../../project/runs/run-binding.ts";
import { getRedaction } from "../../project/secrets/context-redaction.ts";
import { requireSettings } from "../../project/config/settings.ts";

/** Says why a draft can no longer be acknowledged or started; null while it is in force. */
export async function explainStale(
  context: CommandContext,
  paths: ProjectPaths,
  { drafted }: RunView,
): Promise<string | null> {
  const laterRun = await findLaterRun(context, paths, drafted.run_id, drafted.flow.flow);
  if (laterRun !== null) return `${laterRun} took the place of this draft.`;
  const { hash } = await loadCheckedFlow(context, drafted.flow.flow);
  if (hash !== drafted.flow_hash) {
    return `The flow ${drafted.flow.flow} changed since this preview was shown.`;
  }

  if (requireSettings(context, paths).hash !== drafted.config_hash) {
    return "The config changed since this preview was shown.";
  }

  const { redactor } = getRedaction(context, paths.root);
  const isChanged = ({
    path,
    hash: shownHash,
  }: {
    readonly path: string;
    readonly hash: string;
  }): boolean => readDocumentHash(join(paths.root, path), redactor) !== shownHash;
  const changed = (drafted.documents ?? []).find(isChanged);
  if (changed !== undefined) return `${changed.path} changed since this preview was shown.`;
  const { head, branch } = await requireRepository(paths.root);
  if (head.commit === drafted.base.commit && branch === drafted.base.branch) return null;
  const [shownCommit, commit] = [drafted.base.commit.slice(0, 10), head.commit.slice(0, 10)];
  const onBranch = branch === null ? "" : ` on ${branch}`;

  return `The checkout was at ${shownCommit} when this preview was shown and is at ${commit}${onBranch} now.`;
}

/** Hashes a document as it would be recorded; null if it cannot be read any more. */
function readDocumentHash(path: string, redactor: Redactor): string | null {
  try {
    return createHash("sha256")
      .update(redactor.text(readFileSync(path, "utf8")))
      .digest("hex");
  } catch {
    return null;
  }
}

/** Finds a later run of the same flow, in whatever state: it has replaced this draft. */
async function findLaterRun(
  context: CommandContext,
  paths: ProjectPaths,
  run: string,
  flow: string,
): Promise<string | null> {
  const runs = listRuns(paths);
  for (const later of runs.slice(runs.indexOf(run) + 1)) {
    if (
      isOwnRun(context, paths, later) &&
      (await readRun(paths, later)).view.drafted.flow.flow === flow
    ) {
      return later;
    }
  }

  return null;
}
