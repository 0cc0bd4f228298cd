import * as v from "valibot";
import { GitSha, Hash } from "./ids.ts";

/** One command that decides something: where it came from, and how to run it. `id` is stable within a run. */
export const Check = v.strictObject({
  id: v.string(),
  kind: v.picklist(["criterion", "project", "red_green", "holdout", "proof", "restore"]),
  title: v.string(),
  command: v.string(),
  source: v.string(),
});
export type Check = v.InferOutput<typeof Check>;

export const CheckStatus = v.picklist(["passed", "failed", "timed_out", "not_found", "not_runnable"]);
export type CheckStatus = v.InferOutput<typeof CheckStatus>;

/** What the runner made itself by running one command: the only thing a verdict may rest on. */
export const Evidence = v.strictObject({
  check: Check,
  argv: v.array(v.string()),
  cwd: v.string(),
  isolation: v.string(),
  env_hash: Hash,
  commit: v.nullable(GitSha),
  tree_before: v.nullable(GitSha),
  tree_after: v.nullable(GitSha),
  status: CheckStatus,
  exit_code: v.nullable(v.number()),
  signal: v.nullable(v.string()),
  duration_ms: v.number(),
  output_hash: v.nullable(Hash),
  output_bytes: v.number(),
  output_excerpt: v.string(),
  at: v.string(),
  product: v.string(),
});
export type Evidence = v.InferOutput<typeof Evidence>;

/** A check's result as the journal carries it: the verdict in short, the evidence by hash. */
export const CheckResult = v.strictObject({
  check: Check,
  status: CheckStatus,
  exit_code: v.nullable(v.number()),
  duration_ms: v.number(),
  evidence: Hash,
});
export type CheckResult = v.InferOutput<typeof CheckResult>;
