// workspace: port to the workspace: layers, change sets, commits, reverts and landing.

import type { AttemptId, GitSha, Hash } from "../contracts/ids.ts";

export type Violation = {
  readonly path: string;
  readonly kind:
    | "outside_scope"
    | "symlink"
    | "hard_link"
    | "special_file"
    | "unreadable"
    | "damaged_base"
    | "nested_repository"
    | "git_metadata"
    | "case_collision"
    | "bad_path"
    | "runner_owned"
    | "outside_layer"
    | "too_large"
    | "secret";
  readonly detail: string;
};

/**
 * What an attempt changed in its layer, judged against the scope. Either all of it may be applied,
 * or none.
 */
export type ChangeSet = {
  readonly paths: readonly string[];
  readonly violations: readonly Violation[];
  /**
   * Changed paths that stay in the layer, neither applied nor violations: those the base tree's
   * ignore rules ignore, those a playbook keeps for the runner, and in a layer that keeps only some
   * paths all the others.
   */
  readonly ignored: number;
  /** A hash of the layer's whole content, including what is left out. */
  readonly tree: GitSha;
};

export type AppliedCommit = {
  readonly commit: GitSha;
  readonly parent: GitSha;
  readonly tree: GitSha;
  readonly paths: readonly string[];
  readonly notApplied: number;
};

/**
 * Judges a merge before it lands: what fails on it, in one sentence, or null. It is on no branch
 * yet.
 */
export type JudgeMerge = (merge: GitSha) => Promise<string | null>;

export type LandResult =
  | {
      readonly landed: true;
      readonly how: "fast_forward" | "merge" | "squash";
      readonly commit: GitSha;
    }
  | {
      readonly landed: false;
      readonly because:
        | "checkout_dirty"
        | "checkout_busy"
        | "checkout_moved"
        | "checkout_unwritable"
        | "branch_rewritten"
        | "merge_conflict"
        | "merge_unproved"
        | "nothing_to_land";
      readonly detail: string;
      /** Some of these `git status` doesn't show: those that are ignored. */
      readonly hasUntrackedInTheWay?: true;
    };

/**
 * Reverts all commits after `since` of attempts whose names begin with the prefix `of`; they are
 * saved under `branch` first.
 */
export type RevertRequest = {
  readonly attempt: AttemptId;
  readonly since: GitSha;
  readonly of: string;
  readonly branch: string;
  readonly subject: string;
};
export type RevertResult = {
  /** Null if nothing was reverted; then there is no branch either. */
  readonly applied: AppliedCommit | null;
  readonly branch: string | null;
  /**
   * Paths that others changed since in a way that cannot be separated: because of them nothing was
   * reverted.
   */
  readonly conflict: readonly string[];
};

/** What a child run did between two of its commits, to be merged into its parent's branch. */
export type MergeChildRequest = {
  readonly attempt: AttemptId;
  readonly since: GitSha;
  readonly commit: GitSha;
  readonly subject: string;
};

/**
 * Files that the runner itself writes or deletes (`text: null`) on its branch, as they were read at
 * `since`.
 */
export type CommitFilesRequest = {
  readonly attempt: AttemptId;
  readonly since: GitSha;
  readonly files: readonly { readonly path: string; readonly text: string | null }[];
  readonly subject: string;
};

/**
 * In a checkout: these paths as in another commit, those removed, and some with a text of the
 * runner's.
 */
export type CheckoutOverrides = {
  readonly from: GitSha;
  readonly paths: readonly string[];
  readonly without: readonly string[];
  readonly written?: readonly { readonly path: string; readonly text: string }[];
};
export type RestoreRequest = {
  readonly attempt: AttemptId;
  readonly baseFiles: CheckoutOverrides;
  readonly subject: string;
};
/**
 * `was`, `is`: hashes of the kind and content in either commit; null if the path does not exist.
 */
export type Difference = {
  readonly path: string;
  readonly kind: "added" | "changed" | "deleted";
  readonly was?: string | null;
  readonly is?: string | null;
};

/**
 * The run's own tree and branch. The agent works in a layer, a disposable repository; only the
 * runner commits to the branch.
 */
export interface Workspace {
  /** The branch's newest commit. */
  tip(): Promise<{ readonly commit: GitSha; readonly tree: GitSha }>;
  /**
   * A folder with the branch's tree for one attempt; masked paths are absent. Opening it again
   * recreates the same folder. With `keeps`, only changes of paths that match these patterns are
   * ever applied; the layer remembers it. `isOver`: attempts whose layers nobody needs.
   */
  openLayer(
    attempt: AttemptId,
    masks: readonly string[],
    keeps?: readonly string[],
    isOver?: (attempt: AttemptId) => boolean,
  ): Promise<string>;
  /** Reads the layer without trusting anything in it. */
  changesOf(attempt: AttemptId): Promise<ChangeSet>;
  /**
   * Commits the layer's in-scope changes under the attempt's key; null if nothing changed. Safe to
   * call again: a commit with that key is found, not made twice.
   */
  apply(
    attempt: AttemptId,
    subject: string,
  ): Promise<AppliedCommit | { readonly conflict: readonly string[] } | null>;
  /**
   * A commit of what the layer holds, on no branch, to look at its artifacts; null if it may not be
   * applied or changed nothing.
   */
  preview(attempt: AttemptId): Promise<GitSha | null>;
  /**
   * Reverts in one commit on top what some attempts did, and nothing of others. Safe to call again:
   * its commit is found by its key.
   */
  revert(request: RevertRequest): Promise<RevertResult>;
  /**
   * Merges in one commit on top what a child run did; null if nothing differs. Safe to call again:
   * its commit is found by its key.
   */
  mergeChild(
    request: MergeChildRequest,
  ): Promise<AppliedCommit | { readonly conflict: readonly string[] } | null>;
  /**
   * Commits the runner's own files in one commit on top, without any folder; null if nothing
   * differs. What is in a file's place or in the place of a folder above it, a link say, is
   * replaced. Safe to call again: its commit is found by its key.
   */
  commitFiles(
    request: CommitFilesRequest,
  ): Promise<AppliedCommit | { readonly conflict: readonly string[] } | null>;
  /**
   * Commits files as they are in another commit, on top; null if nothing differs. Safe to call
   * again: its commit is found by its key.
   */
  restore(request: RestoreRequest): Promise<AppliedCommit | null>;
  /** Saves the layer's diff beside the journal and removes the layer. */
  quarantine(attempt: AttemptId): Promise<void>;
  /**
   * The crash state of an attempt's workspace. `layerTree` is the tree its recorded turn left, if
   * one is recorded.
   */
  inspect(
    attempt: AttemptId,
    layerTree: GitSha | null,
  ): Promise<{ readonly layer: "absent" | "dirty" | "intact"; readonly commit: GitSha | null }>;
  /** A clean checkout of a commit in a folder no agent has seen, for checks. */
  checkout(commit: GitSha, purpose: string, overrides?: CheckoutOverrides): Promise<string>;
  /**
   * The folders to look for a file of a `checkout` in, its own first: a view holds only what was
   * written in it.
   */
  foldersOf(folder: string): readonly string[];
  /**
   * Deletes a folder made by `checkout` with all that was written in it; does nothing if it is
   * already gone.
   */
  dropCheckout(folder: string): Promise<void>;
  /** The paths that differ between two commits. */
  differences(from: GitSha, to: GitSha): Promise<readonly Difference[]>;
  /** Every path of a commit. */
  pathsAt(commit: GitSha): Promise<readonly string[]>;
  /**
   * The text of a file in a commit; null if there is none, it isn't text, or it is larger than the
   * bound.
   */
  textAt(commit: GitSha, path: string, bytesMax: number): Promise<string | null>;
  /**
   * Whether the agent's own disposable repository has this commit, by full or abbreviated hash;
   * null if it hasn't and the history is cut off, as in a shallow clone.
   */
  hasCommit(attempt: AttemptId, name: string): Promise<boolean | null>;
  /**
   * Whether a path was last changed in a later commit than another, in the history that ends with
   * `commit`; null if unknown.
   */
  isLater(commit: GitSha, path: string, than: string): Promise<boolean | null>;
  /**
   * Throws if something else changed the shared files that checkouts are made from: what was
   * checked with them proves nothing then.
   */
  requireIntact(): Promise<void>;
  /** The tree hash of a folder made by `checkout`, to see whether a check changed it. */
  treeOf(folder: string): Promise<GitSha>;
  /** The files of the commit that differ or are missing in a folder made by `checkout`. */
  rewrittenIn(folder: string): Promise<readonly string[]>;
  /**
   * The files of the commit that were written to in a folder made by `checkout`, even if they have
   * their old content again.
   */
  touchedIn(folder: string): Promise<readonly string[]>;
  /**
   * A hash that changes when anything is written in a folder made by `checkout`, also where git
   * doesn't look; null if that is unknown.
   */
  stampOf(folder: string): Promise<Hash | null>;
  /**
   * A hash of the installed packages that were copied into a folder made by `checkout`; null if
   * there are none.
   */
  dependenciesIn(folder: string): Promise<Hash | null>;
  /**
   * Merges the branch into the user's own, if nothing is forced. A merge that has other files than
   * the branch is judged first. Idempotent.
   */
  land(message: string, judgeMerge: JudgeMerge): Promise<LandResult>;
  /**
   * Lines added, removed and files changed between the base and the tip, with the run's commits.
   */
  summary(): Promise<{
    readonly files: number;
    readonly insertions: number;
    readonly deletions: number;
    readonly commits: readonly { readonly sha: GitSha; readonly subject: string }[];
  }>;
}
