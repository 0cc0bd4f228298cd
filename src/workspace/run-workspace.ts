// run-workspace: the type of a run's open workspace: its repository, branch, folders and rules.
// Most functions of this folder take one.

import type { GitSha, RunId } from "../contracts/ids.ts";
import type { FoundSecret } from "../kit/redact-find.ts";
import type { Identity } from "./git/identity.ts";
import type { FolderRecords } from "./layers/folder-records.ts";
import type { Repository } from "./git/repository.ts";
import type { PathTest } from "./layers/scope-globs.ts";
import type { History } from "./bases/shared-history.ts";
import type { Shadow } from "./git/shadow.ts";
import type { Checkouts } from "./checkouts/checkouts.ts";

export type RunWorkspace = {
  readonly runId: RunId;
  readonly runDir: string;
  readonly repository: Repository;
  /** The checkout that installed packages are taken from. */
  readonly packagesRoot: string;
  /** The commit and branch (null: detached) the run began on. */
  readonly base: { readonly branch: string | null; readonly commit: GitSha };
  /** The runs whose commits may be on its branch: its own, and those it was forked from. */
  readonly runIds: readonly RunId[];
  /** Where its branch begins: at the base, or where it was forked. */
  readonly startCommit: GitSha;
  /**
   * Whether its branch and its objects are kept in its own folder, and nothing of the user's
   * repository changes.
   */
  readonly isApart: boolean;
  /** The full name of the run's branch. */
  readonly ref: string;
  readonly shadow: Shadow;
  readonly identity: Identity;
  readonly inScope: PathTest;
  readonly isOwned: PathTest;
  /**
   * Paths that the run's playbook writes: an agent's changes there are ignored. Changes to other
   * runner-owned paths are violations.
   */
  readonly isPlaybookOwned: PathTest;
  /** Globs of paths hidden from every attempt, in addition to an attempt's own. */
  readonly masks: readonly string[];
  /** Names of folders with installed packages, such as `node_modules`, that agents get. */
  readonly dependencies: readonly string[];
  /** The same for checks. */
  readonly checkDependencies: readonly string[];
  /** The folders of these names in the user's checkout, searched once. */
  readonly findDependencyFolders: (names: readonly string[]) => Promise<readonly string[]>;
  readonly fileBytesMax: number;
  readonly folders: {
    readonly layers: string;
    readonly checks: string;
    readonly quarantine: string;
    readonly rules: string;
    readonly trash: string;
  };
  readonly checkouts: Checkouts;
  /**
   * The shared history of a commit, for agents that cannot write to it; null if each layer has a
   * copy.
   */
  readonly history: ((commit: GitSha) => Promise<History>) | null;
  /** Records of the attempts' folders, and of those of checks. */
  readonly layers: FolderRecords;
  readonly checks: FolderRecords;
  /** Merges what an agent wrote apart from its layer into it, before the layer is read. */
  readonly collect: (layer: string) => Promise<void>;
  /** Redacts what is kept of an attempt beside the journal. */
  readonly redact: (bytes: Buffer) => Buffer;
  /** The secrets that are in some bytes; none of them reaches the branch. */
  readonly secretsIn: (bytes: Buffer) => Promise<readonly FoundSecret[]>;
  /** Called at named points, where fault tests kill the process. */
  readonly failpoint: (place: string) => void;
};
