// turn-diff: shows what one turn changed: its commit, or what it did before it was discarded.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandResponse } from "../contracts/command-response.ts";
import type { RunView } from "../core/state.ts";
import { readEntries } from "../project/runs/read-entries.ts";
import { requireRepository } from "../project/runs/require-repository.ts";
import { type ProjectPaths, runFolder } from "../project/runs/project-paths.ts";
import { refuse, respond } from "../project/respond.ts";
import { plural } from "../views/wording.ts";
import { hasCommits, readPatch } from "../workspace/git/diff.ts";
import { findDiscardedPatches } from "../workspace/landing/quarantine.ts";

/**
 * Shows one turn's patch. Turns are counted from 1, in the order in which they began, as `go`
 * counts them.
 */
export async function turnDiff(
  paths: ProjectPaths,
  run: string,
  view: RunView,
  turn: number,
): Promise<CommandResponse> {
  const runFields = { run_id: run, state: view.status };
  const attempt = view.turns[turn - 1]?.attempt;
  if (attempt === undefined) {
    return refuse("usage", {
      ...runFields,
      message: `${run} has ${plural(view.turns.length, "turn")}; there is no turn ${turn}.`,
      remediation: ["autopilot log"],
    });
  }

  const { entries } = await readEntries(paths, run);
  const applied = entries.findLast(
    (entry) => entry.event === "changes_applied" && entry.attempt === attempt,
  );
  const discarded = readDiscardedPatches(runFolder(paths, run), attempt);
  if (applied?.event !== "changes_applied") {
    return respond("ok", { ...runFields, ...describeDiscarded(turn, attempt, discarded) });
  }

  const { parent, commit } = applied;
  const repository = await requireRepository(paths.root);
  if (!(await hasCommits(repository, [parent, commit]))) {
    return refuse("work_missing", {
      ...runFields,
      message: `The commit of turn ${turn} is no longer in this repository: its branch was deleted.`,
    });
  }

  const { text, isCut } = await readPatch(repository, parent, commit);
  const warnings: string[] = [];
  if (discarded.length > 0) {
    const tries = plural(discarded.length, "earlier try", "earlier tries");
    warnings.push(`${tries} of this turn were discarded.`);
  }

  if (isCut) {
    const command = `git diff ${parent.slice(0, 12)} ${commit.slice(0, 12)}`;
    warnings.push(`The patch is too large and was cut: ${command} shows all of it.`);
  }

  return respond("ok", {
    ...runFields,
    message: `Turn ${turn} of ${run}.`,
    page: patchLines(text),
    data: { attempt, parent, commit, patch: text, discarded },
    warnings,
  });
}

/** Nothing of the turn was kept: shows what it did before that was thrown away. */
function describeDiscarded(turn: number, attempt: string, discarded: readonly string[]) {
  const data = { attempt, discarded };
  if (discarded.length === 0) {
    const message = `Turn ${turn} changed nothing.`;
    return { message, page: [message], data };
  }

  const message = `What turn ${turn} did was discarded.`;
  return { message, page: discarded.flatMap(patchLines), data };
}

const patchLines = (text: string): readonly string[] => text.replace(/\n$/, "").split("\n");

/** The patches of the attempt's work that was not kept, oldest first. */
function readDiscardedPatches(folder: string, attempt: string): readonly string[] {
  const { folder: patchesFolder, isPatchName } = findDiscardedPatches(folder, attempt);
  if (!existsSync(patchesFolder)) return [];
  const names = readdirSync(patchesFolder).filter(isPatchName).toSorted();
  return names.map((name) => readFileSync(join(patchesFolder, name), "utf8"));
}
