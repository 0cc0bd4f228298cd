// forge: the interface of a code host, GitHub or GitLab, as far as it is used here.

import type { PullRequestSnapshot } from "../core/pull-request.ts";

export type PullRequest = {
  readonly number: number;
  readonly url: string;
  readonly state: "open" | "merged" | "closed";
  readonly isDraft: boolean;
  readonly head: string | null;
};

export type NewPullRequest = {
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
};

export type Issue = { readonly url: string; readonly title: string; readonly body: string; readonly labels: readonly string[] };

export type Forge = {
  /** The pull request of this branch of the project itself, the open one before others; null if there is none. */
  readonly find: (branch: string) => Promise<PullRequest | null>;
  readonly create: (request: NewPullRequest) => Promise<PullRequest>;
  /** The state, checks and comments of a pull request. Comments of people without write access are only counted, in `ignored`. */
  readonly look: (number: number) => Promise<PullRequestSnapshot & { readonly ignored: number }>;
  /** The open issues. `isWhole`: there are no more of them. */
  readonly issues: (filter: {
    readonly label?: string | undefined;
    readonly countMax: number;
  }) => Promise<{ readonly issues: readonly Issue[]; readonly isWhole: boolean }>;
};
