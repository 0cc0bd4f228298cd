// preflight: step that checks whether a phase may start, and reports all obstacles at once. Reads
// only.

import { hashSpec, describeMismatch } from "../files/spec.ts";
import type { RunView } from "../../../core/state.ts";
import { listSome } from "../../../kit/list-some.ts";
import { findRepository } from "../../../workspace/git/repository.ts";
import { alwaysOwnedPaths } from "../../../workspace/owned-paths.ts";
import { compileOwnedPaths } from "../../../workspace/layers/scope-globs.ts";
import { readChangedFiles } from "../../../workspace/git/checkout-status.ts";
import { ownedInPhases } from "../../../contracts/roadmap-places.ts";
import { readDocument } from "../../contract/read-document.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { loadRecordedRoadmap, readTextOption } from "./recorded-documents.ts";

const debugFolder = ".planning/debug/";
const noteBytesMax = 262_144;
const notesMax = 200;
const filesShownMax = 5;

type Issue = {
  readonly reason:
    | "spec_hash_mismatch"
    | "workspace_changed"
    | "checkout_dirty"
    | "dependencies_unmet"
    | "debug_unresolved";
  readonly text: string;
  /** The path of the note that is not resolved. */
  readonly note?: string;
};

/** The step `preflight`. */
export function createPreflightStep(parts: RoadmapParts) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ state, cursor }: StepInput): StepResult {
      const issues = await findIssues(parts, state, cursor.phase);
      const has = (reason: Issue["reason"]): boolean =>
        issues.some((issue) => issue.reason === reason);
      const detail = issues.map(({ text }) => text).join(" ");

      const facts = {
        all_clear: issues.length === 0,
        spec_hash_match: !has("spec_hash_mismatch"),
        working_tree_clean: !has("workspace_changed") && !has("checkout_dirty"),
        dependencies_met: !has("dependencies_unmet"),
        unresolved_debug: issues.flatMap(({ note }) => note ?? []).join(", "),
        issues: detail,
        checkpoint: state.tip.commit,
      };

      const [firstIssue] = issues;
      return firstIssue === undefined
        ? { ok: true, facts }
        : { ok: false, facts, reason: firstIssue.reason, detail };
    },
  };
}

async function findIssues(
  parts: RoadmapParts,
  state: RunView,
  phase: string,
): Promise<readonly Issue[]> {
  const issues: Issue[] = [];
  const specIssue = findSpecIssue(parts, state);
  if (specIssue !== null) issues.push({ reason: "spec_hash_mismatch", text: specIssue });
  const branchTip = await parts.workspace.tip();
  if (branchTip.commit !== state.tip.commit) {
    issues.push({
      reason: "workspace_changed",
      text: `The run's branch is at ${branchTip.commit}, and the journal knows ${state.tip.commit}.`,
    });
  }

  const uncommittedPaths = await listUncommitted(parts, state);
  if (uncommittedPaths.length > 0) {
    const pathsText = listSome(uncommittedPaths, filesShownMax);
    issues.push({
      reason: "checkout_dirty",
      text: `Your checkout has uncommitted changes, so nothing could land: ${pathsText}. Commit or stash them.`,
    });
  }

  for (const text of findUnmet(parts, state, phase)) {
    issues.push({ reason: "dependencies_unmet", text });
  }

  for (const note of await findUnresolvedNotes(parts, state)) {
    issues.push({
      reason: "debug_unresolved",
      note,
      text: `${note} is not resolved; mark it status: resolved or move it out of ${debugFolder}, and commit that.`,
    });
  }

  return issues;
}

/**
 * Tracked files with uncommitted changes, which would block the landing. The run's documents may be
 * edited: it follows its recorded copy.
 */
async function listUncommitted(
  { paths }: RoadmapParts,
  state: RunView,
): Promise<readonly string[]> {
  const lookup = await findRepository(paths.root);
  if (!("repository" in lookup)) return [];
  const changed = await readChangedFiles(
    lookup.repository,
    compileOwnedPaths([...alwaysOwnedPaths, ...ownedInPhases]),
  );

  const documents = (state.drafted.documents ?? []).map(({ path }) => path);
  return changed.filter((path) => !documents.includes(path));
}

/** The specification in the user's checkout must be the one the run is locked to. */
function findSpecIssue({ paths }: RoadmapParts, state: RunView): string | null {
  const [path, lockedHash] = [
    readTextOption(state, "spec_path"),
    readTextOption(state, "spec_hash"),
  ];
  if (path === null || lockedHash === null) return null;
  const document = readDocument(paths.root, path);
  if (document === null || "findings" in document) {
    return `The specification ${path} was ${lockedHash} when the run began and cannot be read now. Put it back.`;
  }

  const mismatch = describeMismatch(path, lockedHash, hashSpec(document.bytes));
  return mismatch === null ? null : `${mismatch} Resume with --accept-spec-change, or put it back.`;
}

/** Dependencies that are not completed, each with its state. */
function findUnmet(parts: RoadmapParts, state: RunView, id: string): readonly string[] {
  const phase = loadRecordedRoadmap(parts, state)?.phases.find((candidate) => candidate.id === id);
  if (phase === undefined) return [`Phase ${id} is not in the roadmap the run was drafted with.`];
  return phase.depends_on.flatMap((dependencyId) => {
    const dependency = state.phases.find((candidate) => candidate.id === dependencyId);
    if (dependency !== undefined && isDone(dependency)) return [];
    const status =
      dependency === undefined ? "neither completed nor part of this run" : dependency.status;

    return [`Phase ${id} depends on phase ${dependencyId}, which is ${status}: run it first.`];
  });
}

/**
 * A phase that was completed before the run is skipped with a reason such as `already_completed`.
 */
const isDone = ({ status, because }: RunView["phases"][number]): boolean =>
  status === "completed" || (status === "skipped" && because?.startsWith("already_") === true);

/**
 * Unresolved debugging notes. A note from before the run is the user's: they may resolve it in
 * their checkout, which the run's branch does not see.
 */
async function findUnresolvedNotes(
  { workspace, paths }: RoadmapParts,
  state: RunView,
): Promise<readonly string[]> {
  const { commit } = state.tip;
  const notes = (await workspace.pathsAt(commit))
    .filter(
      (path) =>
        path.startsWith(debugFolder) &&
        path.endsWith(".md") &&
        !path.slice(debugFolder.length).includes("/"),
    )
    .slice(0, notesMax);

  const unresolved: string[] = [];
  for (const path of notes) {
    const text = await workspace.textAt(commit, path, noteBytesMax);
    if (text !== null && isResolved(text)) continue;
    const isUserNote =
      (await workspace.textAt(state.drafted.base.commit, path, noteBytesMax)) === text;
    if (!isUserNote || !isResolvedInCheckout(paths.root, path)) unresolved.push(path);
  }

  return unresolved;
}

/** Whether a note is resolved or deleted in the user's checkout. */
function isResolvedInCheckout(root: string, path: string): boolean {
  const document = readDocument(root, path);
  return document === null || (!("findings" in document) && isResolved(document.text));
}

/** `status: resolved`, `- **Status:** diagnosed`. */
const statusLine =
  /^[ \t]*(?:[-*][ \t]+)?(?:\*\*)?status(?:\*\*)?[ \t]*:(?:\*\*)?[ \t]*["'`]?([a-z_ -]{1,40})/im;

/** A note without the status resolved or diagnosed is unresolved. */
export function isResolved(note: string): boolean {
  const status = statusLine.exec(note)?.[1] ?? "";
  return /^(?:resolved|diagnosed)\b/i.test(status.trim());
}
