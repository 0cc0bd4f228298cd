// open-bases: the bases and packages that this process's checkouts are made from. It opens the base
// that is nearest to a tree, keeps all of them leased for as long as the process lives, and tells
// whether any was changed from outside.

import type { GitSha } from "../../contracts/ids.ts";
import { type Base, distrustBase, hasBase, openBase } from "../bases/base.ts";
import { type DependencyBase, openDependencyBase } from "../bases/dependency-base.ts";
import { isIntact, isSameFolder, type SealedFolder } from "../bases/sealed-folder.ts";
import { openStore, type Store } from "../bases/store.ts";
import { WorkspaceFailed } from "../failure.ts";
import { type CommitObject, readCommit } from "../git/commits.ts";
import type { Shadow } from "../git/shadow.ts";
import { resolveTree } from "../git/tree.ts";
import { computeDelta, type TreeDelta } from "./tree-delta.ts";

export type OpenBasesOptions = {
  readonly shadow: Shadow;
  /** The commit the run began on: most checkouts differ little from it. */
  readonly commit: GitSha;
  /** Where bases are kept; default: the user's cache. */
  readonly store?: Store;
};

/** Above this many changed paths a tree gets a base of its own. */
const deltaPathsMax = 2_000;
/** How far back a base is looked for. */
const ancestorsMax = 20;

export class OpenBases {
  readonly #shadow: Shadow;
  readonly #commit: GitSha;
  readonly #bases = new Map<GitSha, Promise<Base>>();
  readonly #packages = new Map<string, DependencyBase>();
  /**
   * Files of bases that were replaced since checkouts were made from them. `requireIntact` must
   * still report them.
   */
  readonly #replaced: string[] = [];
  #nearest: Promise<Base> | null = null;
  #openedStore: Store | null;

  constructor({ shadow, commit, store }: OpenBasesOptions) {
    this.#shadow = shadow;
    this.#commit = commit;
    this.#openedStore = store ?? null;
  }

  /** Opened on first use: a run whose checkouts are plain copies needs no store. */
  get #store(): Store {
    return (this.#openedStore ??= openStore());
  }

  /** The base of exactly this tree. */
  open(tree: GitSha): Promise<Base> {
    const cached = this.#bases.get(tree);
    if (cached !== undefined) return cached;

    const opening = openBase(this.#store, {
      call: this.#shadow.call,
      format: this.#shadow.format,
      tree,
    });
    this.#bases.set(tree, opening);
    opening.catch(() => this.#bases.delete(tree));

    return opening;
  }

  /** Opens the base that a tree is best made from, and computes the tree's difference to it. */
  async openNearest(tree: GitSha): Promise<{ readonly base: Base; readonly delta: TreeDelta }> {
    await this.#forgetReplaced();
    this.#nearest ??= this.#openNearestToCommit();
    this.#nearest.catch(() => (this.#nearest = null));
    const base = await this.#nearest;
    const delta = await computeDelta(this.#shadow.call, base.tree, tree, deltaPathsMax);
    if (delta !== null) return { base, delta };

    const ownBase = await this.open(tree);
    return { base: ownBase, delta: { changed: [], deleted: [] } };
  }

  /** The installed packages at these paths of a checkout; null if they cannot be shared. */
  async openPackages(root: string, paths: readonly string[]): Promise<DependencyBase | null> {
    await this.#forgetReplaced();
    const packages = await openDependencyBase(this.#store, root, paths, this.#packages);
    if (packages !== null) this.#packages.set(packages.key, packages);

    return packages;
  }

  /**
   * Throws if anything that checkouts were made from was changed since: what was done with them
   * proves nothing then.
   */
  async requireIntact(): Promise<void> {
    const bases = await Promise.all(this.#bases.values());
    const used: readonly SealedFolder[] = [...bases, ...this.#packages.values()];
    const areIntact = await Promise.all(used.map(isIntact));
    const damaged = used.filter((_, index) => areIntact[index] === false);

    const changed = [...new Set([...this.#replaced, ...damaged.map(({ files }) => files)])];
    if (changed.length === 0) return;

    await this.distrust();
    throw new WorkspaceFailed(
      "workspace_unusable",
      `Something outside this run changed files in ${changed.join(" and ")}, which agents and checks are shown. What was checked with them doesn't count.`,
      "autopilot resume makes them anew and checks again",
    );
  }

  /** Opens everything anew for the next checkout, after something was found changed. */
  async distrust(): Promise<void> {
    for (const opening of await Promise.allSettled(this.#bases.values())) {
      if (opening.status === "rejected") continue;
      await distrustBase(opening.value.folder);
      opening.value.lease.release();
    }

    for (const { lease } of this.#packages.values()) lease.release();
    this.#packages.clear();
    this.#bases.clear();
    this.#replaced.length = 0;
    this.#nearest = null;
  }

  /** Forgets each base whose path now has another folder, so that it is opened anew. */
  async #forgetReplaced(): Promise<void> {
    for (const opening of this.#bases.values()) {
      const base = await opening.catch(() => null);
      if (base === null || isSameFolder(base) || this.#bases.get(base.tree) !== opening) continue;
      this.#replaced.push(base.files);
      base.lease.release();
      this.#bases.delete(base.tree);
      this.#nearest = null;
    }

    for (const [key, packages] of this.#packages) {
      if (isSameFolder(packages)) continue;
      this.#replaced.push(packages.files);
      packages.lease.release();
      this.#packages.delete(key);
    }
  }

  /**
   * An ancestor's base that already exists and differs little from the run's commit; else the
   * commit's own base.
   */
  async #openNearestToCommit(): Promise<Base> {
    const { call, format } = this.#shadow;
    const ownTree = await resolveTree(call, this.#commit);
    let ancestor: GitSha | undefined = this.#commit;

    for (let steps = 0; ancestor !== undefined && steps < ancestorsMax; steps += 1) {
      const commit: CommitObject | null = await readCommit(call, ancestor);
      if (commit === null) break; // history is missing from here

      const { tree } = commit;
      if (hasBase(this.#store, { format, tree })) {
        const delta = await computeDelta(call, tree, ownTree, deltaPathsMax);
        if (delta !== null) return this.open(tree);
      }

      [ancestor] = commit.parents;
    }

    return this.open(ownTree);
  }
}
