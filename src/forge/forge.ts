// forge: the interface of a code host, GitHub or GitLab, as far as it is used here.

import type { PullRequestSnapshot } from "../core/pull-request.ts";

export type PullRequest = {
  readonly number: number;
  readonly url: string;
  readonly state: "open" | "merged" | "closed";
  readonly isDraft: boolean;
  /** The commit its branch is at; null if the host does not say. */
  readonly head: string | null;
};

export type NewPullRequest = {
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
};

export type Issue = {
  readonly url: string;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
};

export type Forge = {
  /**
   * The pull request of this branch of the project itself, the open one before others; null if
   * there is none.
   */
  readonly findPullRequest: (branch: string) => Promise<PullRequest | null>;
  /** Opens a pull request, or returns the open one that the branch has already. */
  readonly createPullRequest: (request: NewPullRequest) => Promise<PullRequest>;
  /**
   * The state of a pull request and, if it is open, its checks and comments. Comments of people
   * without write access are only counted, in `ignored`.
   */
  readonly inspectPullRequest: (
    number: number,
  ) => Promise<PullRequestSnapshot & { readonly ignored: number }>;
  /** The open issues. `isWhole`: there are no more of them. */
  readonly listIssues: (filter: {
    readonly label?: string | undefined;
    readonly countMax: number;
  }) => Promise<{ readonly issues: readonly Issue[]; readonly isWhole: boolean }>;
};
