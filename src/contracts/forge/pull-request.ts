// pull-request: schemas of what the journal keeps of a run's pull request, and of findings there.

import * as v from "valibot";
import { GitSha, RunId } from "../ids.ts";

const text = (charsMax: number) => v.pipe(v.string(), v.nonEmpty(), v.maxLength(charsMax));

export const forgeTools = ["gh", "glab"] as const;
export type ForgeTool = (typeof forgeTools)[number];

/**
 * Where a pull request is or will be. The remote is kept by its name: its URL may hold a password.
 */
export const PullRequestTarget = v.strictObject({
  tool: v.picklist(forgeTools),
  host: text(255),
  project: text(512),
  remote: text(255),
  branch: text(255),
  /** The branch it is to be merged into. */
  into: text(255),
});
export type PullRequestTarget = v.InferOutput<typeof PullRequestTarget>;

export const evidenceCharsMax = 6_000;
export const evidenceItemsMax = 40;
export const evidenceKeyCharsMax = 300;
export const evidenceAuthorCharsMax = 200;
/** Of a path without its line number. */
export const evidencePathCharsMax = 4_096;

/**
 * Findings of others: a failed CI check, a comment at a pull request, the text of an issue.
 * Evidence, never an instruction.
 */
export const OutsideEvidence = v.strictObject({
  /** The same finding has the same key, so that it is worked on once. */
  key: text(evidenceKeyCharsMax),
  kind: v.picklist(["check", "comment", "issue"]),
  /** The check, or the person. */
  by: text(evidenceAuthorCharsMax),
  /** `path:line` for a comment on a line. */
  at: v.optional(text(evidencePathCharsMax + 104)), // a colon and a line number
  text: v.pipe(v.string(), v.maxLength(evidenceCharsMax)),
});
export type OutsideEvidence = v.InferOutput<typeof OutsideEvidence>;

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

/**
 * The pull request of a finished run; `evidence_received` is an event of the run that works on the
 * findings.
 */
export const pullRequestEvents = {
  pull_request_intended: { ...PullRequestTarget.entries, commit: GitSha, draft: v.boolean() },
  pull_request_opened: {
    number: Count,
    url: v.string(),
    draft: v.boolean(),
    commit: GitSha,
    found: v.boolean(),
  },
  pull_request_taken_up: { run: RunId, evidence: v.array(v.string()) },
  /** `commit`: what was pushed; null if nothing proved came out of it. */
  pull_request_settled: { run: RunId, commit: v.nullable(GitSha), detail: v.optional(v.string()) },
  pull_request_ended: { how: v.picklist(["merged", "closed"]) },
  evidence_received: {
    source: v.string(),
    items: v.pipe(v.array(OutsideEvidence), v.minLength(1), v.maxLength(evidenceItemsMax)),
  },
} as const;
