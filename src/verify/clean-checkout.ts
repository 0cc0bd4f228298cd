// clean-checkout: the folder that checks run in, and whether it still is as the commit has it.
// Invariants V1 and on: verify/verifier.ts.

import type { Check } from "../contracts/evidence.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import type { CheckoutOverrides, Workspace } from "../ports/workspace.ts";
import type { Checkout } from "./check-run.ts";

type CheckoutWorkspace = Pick<Workspace, "checkout" | "stampOf" | "treeOf" | "dependenciesIn">;

export class CleanCheckout {
  readonly #workspace: CheckoutWorkspace;
  readonly #commit: GitSha;
  readonly #overrides: CheckoutOverrides | null;
  #current: Checkout | null = null;
  /** The folder as it was before a check ran in it; null if that is unknown. */
  #cleanStamp: Hash | null = null;
  #isSpoiled = false;

  constructor(workspace: CheckoutWorkspace, commit: GitSha, overrides: CheckoutOverrides | null) {
    this.#workspace = workspace;
    this.#commit = commit;
    this.#overrides = overrides;
  }

  /** Null before the first one is opened. */
  get current(): Checkout | null {
    return this.#current;
  }

  /** Whether a check wrote to it. */
  get isSpoiled(): boolean {
    return this.#isSpoiled;
  }

  async open(): Promise<void> {
    const overrides = this.#overrides === null ? [] : [this.#overrides];
    const folder = await this.#workspace.checkout(this.#commit, "check", ...overrides);

    this.#isSpoiled = false;
    this.#cleanStamp = await this.#workspace.stampOf(folder);
    this.#current = {
      folder,
      tree: await this.#workspace.treeOf(folder),
      dependencies: await this.#workspace.dependenciesIn(folder),
    };
  }

  /**
   * Returns the tree after a run. Restored dependencies belong to the clean checkout; whatever
   * another check writes spoils it (V2).
   */
  async noteRun(check: Check, checkout: Checkout): Promise<GitSha> {
    const treeAfter = await this.#workspace.treeOf(checkout.folder);
    const stamp = await this.#workspace.stampOf(checkout.folder);

    if (check.kind === "restore") {
      this.#current = { ...checkout, tree: treeAfter };
      this.#cleanStamp = stamp;
    } else {
      this.#isSpoiled = stamp === null || stamp !== this.#cleanStamp;
    }

    return treeAfter;
  }
}
