// preflight: whether a phase may begin at all. It only looks; what is in the way is reported at once, all of it.

import { specHash, specMismatch } from "../files/spec.ts";
import type { RunView } from "../../../core/state.ts";
import { findRepository } from "../../../workspace/git/repository.ts";
import { ownedAlways } from "../../../workspace/owned.ts";
import { ownedPathTest } from "../../../workspace/layers/scope.ts";
import { readChangedFiles } from "../../../workspace/git/status.ts";
import { ownedInPhases } from "../../../contracts/roadmap-places.ts";
import { readDocument } from "../../contract/read-document.ts";
import type { StepResult, StepInput, RoadmapParts } from "./parts.ts";
import { partsRoadmap, textOption } from "./recorded.ts";

const debugFolder = ".planning/debug/";
const noteBytesMax = 262_144;
const notesMax = 200;

type Issue = {
  readonly reason: "spec_hash_mismatch" | "workspace_changed" | "checkout_dirty" | "dependencies_unmet" | "debug_unresolved";
  readonly text: string;
};

export function preflight(parts: RoadmapParts) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ state, cursor }: StepInput): StepResult {
      const tip = await parts.workspace.tip();
      const spec = specIssue(parts, state);
      const isClean = tip.commit === state.tip.commit;
      const dirty = await uncommitted(parts, state);
      const unmet = unmetOf(parts, state, cursor.phase);
      const unresolved = await unresolvedDebug(parts, state);
      const issues: readonly Issue[] = [
        ...(spec === null ? [] : [{ reason: "spec_hash_mismatch" as const, text: spec }]),
        ...(isClean
          ? []
          : [
              {
                reason: "workspace_changed" as const,
                text: `The run's branch is at ${tip.commit}, and the journal knows ${state.tip.commit}.`,
              },
            ]),
        ...(dirty.length === 0
          ? []
          : [
              {
                reason: "checkout_dirty" as const,
                text: `Your checkout has uncommitted changes, so nothing could land: ${dirty.slice(0, filesMax).join(", ")}${dirty.length > filesMax ? ` and ${dirty.length - filesMax} more` : ""}. Commit or stash them.`,
              },
            ]),
        ...unmet.map((text) => ({ reason: "dependencies_unmet" as const, text })),
        ...unresolved.map((path) => ({
          reason: "debug_unresolved" as const,
          text: `${path} is not resolved; mark it status: resolved or move it out of ${debugFolder}, and commit that.`,
        })),
      ];
      const detail = issues.map(({ text }) => text).join(" ");
      const facts = {
        all_clear: issues.length === 0,
        spec_hash_match: spec === null,
        working_tree_clean: isClean && dirty.length === 0,
        dependencies_met: unmet.length === 0,
        unresolved_debug: unresolved.join(", "),
        issues: detail,
        checkpoint: state.tip.commit,
      };
      const [first] = issues;
      return first === undefined ? { ok: true, facts } : { ok: false, facts, reason: first.reason, detail };
    },
  };
}

const filesMax = 5;

/** Tracked files with uncommitted changes: they would keep this phase's work from landing. The run's documents may be edited. */
async function uncommitted({ paths }: RoadmapParts, state: RunView): Promise<readonly string[]> {
  const lookup = await findRepository(paths.root);
  if (!("repository" in lookup)) return [];
  const changed = await readChangedFiles(lookup.repository, ownedPathTest([...ownedAlways, ...ownedInPhases]));
  const documents = (state.drafted.documents ?? []).map(({ path }) => path);
  return changed.filter((path) => !documents.includes(path));
}

/** The specification as it is in the user's checkout must be the one the run is locked to. */
function specIssue({ paths }: RoadmapParts, state: RunView): string | null {
  const [path, locked] = [textOption(state, "spec_path"), textOption(state, "spec_hash")];
  if (path === null || locked === null) return null;
  const read = readDocument(paths.root, path);
  if (read === null || "findings" in read)
    return `The specification ${path} was ${locked} when the run began and cannot be read now. Put it back.`;
  const mismatch = specMismatch(path, locked, specHash(read.bytes));
  return mismatch === null ? null : `${mismatch} Resume with --accept-spec-change, or put it back.`;
}

/** Dependencies that are not completed, each with its state. */
function unmetOf(parts: RoadmapParts, state: RunView, id: string): readonly string[] {
  const phase = partsRoadmap(parts, state)?.phases.find((candidate) => candidate.id === id);
  if (phase === undefined) return [`Phase ${id} is not in the roadmap the run was drafted with.`];
  return phase.depends_on.flatMap((other) => {
    const found = state.phases.find((candidate) => candidate.id === other);
    const isDone = found?.status === "completed" || (found?.status === "skipped" && found.because?.startsWith("already_") === true);
    if (isDone) return [];
    const status = found === undefined ? "neither completed nor part of this run" : found.status;
    return [`Phase ${id} depends on phase ${other}, which is ${status}: run it first.`];
  });
}

/**
 * Unfinished debugging notes. One from before the run began is the user's, and is finished in their checkout: the run's own branch never
 * sees that.
 */
async function unresolvedDebug({ workspace, paths }: RoadmapParts, state: RunView): Promise<readonly string[]> {
  const { commit } = state.tip;
  const notes = (await workspace.pathsAt(commit))
    .filter((path) => path.startsWith(debugFolder) && path.endsWith(".md") && !path.slice(debugFolder.length).includes("/"))
    .slice(0, notesMax);
  const unresolved: string[] = [];
  for (const path of notes) {
    const text = await workspace.textAt(commit, path, noteBytesMax);
    if (text !== null && isResolved(text)) continue;
    const isUsers = (await workspace.textAt(state.drafted.base.commit, path, noteBytesMax)) === text;
    if (!isUsers || !isOverNow(paths.root, path)) unresolved.push(path);
  }
  return unresolved;
}

/** Whether a note is resolved, or gone, in the user's checkout. */
function isOverNow(root: string, path: string): boolean {
  const read = readDocument(root, path);
  return read === null || (!("findings" in read) && isResolved(read.text));
}

/** A debug note ends resolved or diagnosed; one that says no status is not at its end. */
export function isResolved(note: string): boolean {
  const status = /^[ \t]*(?:[-*][ \t]+)?(?:\*\*)?status(?:\*\*)?[ \t]*:(?:\*\*)?[ \t]*["'`]?([a-z_ -]{1,40})/im.exec(note)?.[1] ?? "";
  return /^(?:resolved|diagnosed)\b/i.test(status.trim());
}
