// staged-parts: the parts of a run that the staged playbook's functions may use.

import type { Entry } from "../../../contracts/event.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";

export type StagedParts = {
  readonly verifier: Verifier;
  readonly workspace: Workspace;
  /** The user's checkout. */
  readonly paths: { readonly root: string };
  /** The run's own folder. */
  readonly folder: string;
  /** The whole journal so far. */
  readonly entries: () => Iterable<Entry>;
  readonly readBlob: (hash: string) => Buffer | null;
};
