// preflight: step that checks whether a phase may start, and reports all obstacles at once. Reads only.

import { specHash, describeMismatch } from "../files/spec.ts";
import type { RunView } from "../../../core/state.ts";
import { findRepository } from "../../../workspace/git/repository.ts";
import { alwaysOwnedPaths } from "../../../workspace/owned-paths.ts";
import { compileOwnedPaths } from "../../../workspace/layers/scope-globs.ts";
import { readChangedFiles } from "../../../workspace/git/checkout-status.ts";
import { ownedInPhases } from "../../../contracts/roadmap-places.ts";
import { readDocument } from "../../contract/read-document.ts";
import type { StepResult, StepInput, RoadmapParts } from "./parts.ts";
import { loadRoadmap, textOption } from "./recorded-documents.ts";

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
      const spec = findSpecIssue(parts, state);
      const isClean = tip.commit === state.tip.commit;
      const dirty = await listUncommitted(parts, state);
      const unmet = findUnmet(parts, state, cursor.phase);
      const unresolved = await findUnresolvedNotes(parts, state);
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
                text: `Your checkout has uncommitted changes, so nothing could land: ${dirty.slice(0, filesShownMax).join(", ")}${dirty.length > filesShownMax ? ` and ${dirty.length - filesShownMax} more` : ""}. Commit or stash them.`,
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

const filesShownMax = 5;

/** Tracked files with uncommitted changes, which would block the landing. The run's own documents may be edited. */
async function listUncommitted({ paths }: RoadmapParts, state: RunView): Promise<readonly string[]> {
  const lookup = await findRepository(paths.root);
  if (!("repository" in lookup)) return [];
  const changed = await readChangedFiles(lookup.repository, compileOwnedPaths([...alwaysOwnedPaths, ...ownedInPhases]));
  const documents = (state.drafted.documents ?? []).map(({ path }) => path);
  return changed.filter((path) => !documents.includes(path));
}

/** The specification in the user's checkout must be the one the run is locked to. */
function findSpecIssue({ paths }: RoadmapParts, state: RunView): string | null {
  const [path, lockedHash] = [textOption(state, "spec_path"), textOption(state, "spec_hash")];
  if (path === null || lockedHash === null) return null;
  const document = readDocument(paths.root, path);
  if (document === null || "findings" in document)
    return `The specification ${path} was ${lockedHash} when the run began and cannot be read now. Put it back.`;
  const mismatch = describeMismatch(path, lockedHash, specHash(document.bytes));
  return mismatch === null ? null : `${mismatch} Resume with --accept-spec-change, or put it back.`;
}

/** Dependencies that are not completed, each with its state. */
function findUnmet(parts: RoadmapParts, state: RunView, id: string): readonly string[] {
  const phase = loadRoadmap(parts, state)?.phases.find((candidate) => candidate.id === id);
  if (phase === undefined) return [`Phase ${id} is not in the roadmap the run was drafted with.`];
  return phase.depends_on.flatMap((other) => {
    const dependency = state.phases.find((candidate) => candidate.id === other);
    const isDone =
      dependency?.status === "completed" || (dependency?.status === "skipped" && dependency.because?.startsWith("already_") === true);
    if (isDone) return [];
    const status = dependency === undefined ? "neither completed nor part of this run" : dependency.status;
    return [`Phase ${id} depends on phase ${other}, which is ${status}: run it first.`];
  });
}

/**
 * Unresolved debugging notes. A note from before the run is the user's: they may resolve it in their checkout, which the run's branch does
 * not see.
 */
async function findUnresolvedNotes({ workspace, paths }: RoadmapParts, state: RunView): Promise<readonly string[]> {
  const { commit } = state.tip;
  const notes = (await workspace.pathsAt(commit))
    .filter((path) => path.startsWith(debugFolder) && path.endsWith(".md") && !path.slice(debugFolder.length).includes("/"))
    .slice(0, notesMax);
  const unresolved: string[] = [];
  for (const path of notes) {
    const text = await workspace.textAt(commit, path, noteBytesMax);
    if (text !== null && isResolved(text)) continue;
    const isUserNote = (await workspace.textAt(state.drafted.base.commit, path, noteBytesMax)) === text;
    if (!isUserNote || !isResolvedInCheckout(paths.root, path)) unresolved.push(path);
  }
  return unresolved;
}

/** Whether a note is resolved or deleted in the user's checkout. */
function isResolvedInCheckout(root: string, path: string): boolean {
  const document = readDocument(root, path);
  return document === null || (!("findings" in document) && isResolved(document.text));
}

/** A note without the status resolved or diagnosed is unresolved. */
export function isResolved(note: string): boolean {
  const status = /^[ \t]*(?:[-*][ \t]+)?(?:\*\*)?status(?:\*\*)?[ \t]*:(?:\*\*)?[ \t]*["'`]?([a-z_ -]{1,40})/im.exec(note)?.[1] ?? "";
  return /^(?:resolved|diagnosed)\b/i.test(status.trim());
}
