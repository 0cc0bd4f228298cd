// merge-commits: merges a task's commit onto another commit, in git objects alone: no branch,
// index or file changes.
//
// Invariant:
//   M1. Commits that were removed from a branch don't come back with a task: if the branch no
//       longer contains the commit that the work is based on, only the task's own changes are
//       brought over.

import { git, readGitLine } from "../../workspace/git/git.ts";
import { commitTree, type ExchangeGit, isAncestor } from "../worker/exchange-git.ts";

const rebaseCommitsMax = 50;
const errorCharsMax = 300;

export type MergeRequest = {
  readonly onto: string;
  readonly commit: string;
  readonly message: string;
  /** The commit of the target branch that the work is based on; null if it isn't known. */
  readonly tip: string | null;
};

/**
 * The merge commit; or, if the changes conflict, the paths that do and the tree with the conflicts
 * marked in its files.
 */
export type MergeOutcome =
  | { readonly commit: string }
  | {
      readonly conflicts: readonly string[];
      readonly marked: string | null;
      /** The parents of a commit with that tree. */
      readonly parents: readonly string[];
    };

type MergedTree =
  | { readonly isClean: true; readonly tree: string }
  | {
      readonly isClean: false;
      readonly tree: string | null;
      readonly conflicts: readonly string[];
    };

type RebaseRequest = { readonly onto: string; readonly base: string; readonly commit: string };
type ThreeWayMerge = { readonly base: string; readonly onto: string; readonly theirs: string };
type ListedCommit = { readonly picked: string; readonly parents: readonly string[] };

/**
 * Merges, and remembers what it merged: the same merge is made once, so that the commit that was
 * proved is the one that lands.
 */
export class CommitMerger {
  readonly #git: ExchangeGit;
  readonly #results = new Map<string, Promise<MergeOutcome>>();
  /** By merge commit: what it was made of, and its tree. */
  readonly #merges = new Map<
    string,
    { readonly onto: string; readonly commit: string; readonly tree: string }
  >();
  /** Pairs `older newer` of which git has said that the first is an ancestor of the second. */
  readonly #ancestors = new Set<string>();

  constructor(exchangeGit: ExchangeGit) {
    this.#git = exchangeGit;
  }

  merge(request: MergeRequest): Promise<MergeOutcome> {
    const key = JSON.stringify([request.onto, request.commit, request.message, request.tip]);
    const merging = this.#results.get(key) ?? this.#merge(request);
    this.#results.set(key, merging);
    merging.catch(() => this.#results.delete(key));

    return merging;
  }

  /** Whether `newer` contains `commit`. Git is asked only if the merges made here don't say so. */
  async isWithin(commit: string, newer: string): Promise<boolean> {
    if (this.#isKnownWithin(commit, newer)) return true;
    if (!(await isAncestor(this.#git, commit, newer))) return false;

    this.#ancestors.add(`${commit} ${newer}`);
    return true;
  }

  #isKnownWithin(commit: string, newer: string): boolean {
    let parent: string | undefined = newer;

    while (parent !== undefined) {
      if (parent === commit || this.#ancestors.has(`${commit} ${parent}`)) return true;

      const merge = this.#merges.get(parent);
      if (merge?.commit === commit) return true;
      parent = merge?.onto;
    }

    return false;
  }

  async #merge(request: MergeRequest): Promise<MergeOutcome> {
    const { onto, commit, message, tip } = request;
    if (onto === commit) return { commit: onto };
    if (tip !== null && !(await this.isWithin(tip, onto))) {
      return this.#bringChanges({ ...request, tip }); // M1
    }

    const merged = await this.#mergeTrees(onto, commit);
    if (!merged.isClean) return this.#mergeRebased(request, merged);
    if (await this.#addsNothing(merged, request)) return { commit: onto };

    const { tree } = merged;
    const mergeCommit = await commitTree(this.#git, { tree, parents: [onto, commit], message });
    this.#merges.set(mergeCommit, { onto, commit, tree });
    return { commit: mergeCommit };
  }

  /**
   * A commit that is contained already adds nothing; one that isn't is merged even if it changes
   * nothing.
   */
  async #addsNothing({ tree }: MergedTree, { onto, commit }: MergeRequest): Promise<boolean> {
    return tree === (await this.#treeOf(onto)) && (await this.isWithin(commit, onto));
  }

  /** What conflicts as a merge may still fit commit by commit. */
  async #mergeRebased(
    { onto, commit, message, tip }: MergeRequest,
    { conflicts, tree: marked }: Extract<MergedTree, { readonly isClean: false }>,
  ): Promise<MergeOutcome> {
    const rebased = tip === null ? null : await this.#rebase({ onto, base: tip, commit });
    if (rebased === null) return { conflicts, marked, parents: [onto, commit] };

    const tree = await this.#treeOf(rebased);
    return { commit: await commitTree(this.#git, { tree, parents: [onto, rebased], message }) };
  }

  /** Commits what changed from `tip` to `commit` on top of `onto`, without their history (M1). */
  async #bringChanges({
    onto,
    commit,
    message,
    tip,
  }: MergeRequest & { readonly tip: string }): Promise<MergeOutcome> {
    if (await this.isWithin(commit, onto)) return { commit: onto };

    const merged = await this.#mergeThreeWay({ base: tip, onto, theirs: commit });
    if (!merged.isClean) {
      return { conflicts: merged.conflicts, marked: merged.tree, parents: [onto] };
    }

    const { tree } = merged;
    return { commit: await commitTree(this.#git, { tree, parents: [onto], message }) };
  }

  /**
   * The commits since `base` one by one on top of `onto`; null if one of them conflicts, or if they
   * aren't a straight line.
   */
  async #rebase({ onto, base, commit }: RebaseRequest): Promise<string | null> {
    const rows = await this.#listCommits(`${base}..${commit}`);
    if (rows.length < 2 || rows.length > rebaseCommitsMax) return null; // a single commit conflicts just as the merge did
    if (rows.some(({ parents }) => parents.length !== 1)) return null;

    let tip = onto;
    for (const { picked, parents } of rows) {
      const [parent = ""] = parents;
      const merged = await this.#mergeThreeWay({ base: parent, onto: tip, theirs: picked });
      if (!merged.isClean) return null;

      const { tree } = merged;
      const message = await this.#messageOf(picked);
      tip = await commitTree(this.#git, { tree, parents: [tip], message });
    }

    return tip;
  }

  /** The commits of a range, the oldest first; one more than are rebased at most. */
  async #listCommits(range: string): Promise<readonly ListedCommit[]> {
    const limit = `--max-count=${rebaseCommitsMax + 1}`;
    const args = ["rev-list", "--reverse", "--parents", limit, range];
    const { out } = await git({ ...this.#git.ours, args });

    const rows = out.toString("utf8").split("\n");
    const filledRows = rows.filter((row) => row !== "");
    return filledRows.map((row) => {
      const [picked = "", ...parents] = row.split(" ");
      return { picked, parents };
    });
  }

  async #messageOf(commit: string): Promise<string> {
    const { out } = await git({ ...this.#git.ours, args: ["log", "-1", "--format=%B", commit] });
    return out.toString("utf8");
  }

  /**
   * What changed from `base` to `theirs`, merged into `onto`, whatever their history is: git merges
   * commits, so each of the three trees becomes a commit without any other history.
   */
  async #mergeThreeWay({ base, onto, theirs }: ThreeWayMerge): Promise<MergedTree> {
    const baseCommit = await this.#commitAlone(base, [], "base\n");
    const ours = await this.#commitAlone(onto, [baseCommit], "ours\n");
    const their = await this.#commitAlone(theirs, [baseCommit], "theirs\n");
    return this.#mergeTrees(ours, their);
  }

  async #commitAlone(commit: string, parents: readonly string[], message: string): Promise<string> {
    return commitTree(this.#git, { tree: await this.#treeOf(commit), parents, message });
  }

  async #mergeTrees(left: string, right: string): Promise<MergedTree> {
    const { code, out, err } = await git({
      ...this.#git.ours,
      args: ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", left, right],
      acceptedExitCodes: [0, 1, 128, 129],
    });
    const [tree = "", ...names] = out.toString("utf8").split("\0");
    if (code === 0) return { isClean: true, tree };

    const hasTree = code === 1 && /^[0-9a-f]{40,64}$/.test(tree); // a SHA-1 or SHA-256 in hex
    const conflicts = new Set(names.filter((name) => name !== ""));
    if (conflicts.size === 0) {
      conflicts.add(err.trim().slice(0, errorCharsMax) || "git could not merge it");
    }

    return { isClean: false, conflicts: [...conflicts], tree: hasTree ? tree : null };
  }

  async #treeOf(commit: string): Promise<string> {
    return (
      this.#merges.get(commit)?.tree ??
      readGitLine({ ...this.#git.ours, args: ["rev-parse", `${commit}^{tree}`] })
    );
  }
}
