// verifier: runs checks and judges gates on a commit, in folders no agent has seen.
//
// Invariants:
//   V1. A check runs alone: one after the other, whoever asks.
//   V2. Every check starts on the commit's tree; what the one before changed is undone first.
//   V3. A check that was called off leaves no evidence: it proves nothing. Whoever called it off gets the results before it,
//       and looks at the signal first.
//   V4. Artifact rules read a checkout in which no command runs.

import { createHash } from "node:crypto";
import type { Check, CheckResult } from "../contracts/evidence.ts";
import type { GitSha } from "../contracts/ids.ts";
import type { Redactor } from "../kit/redact.ts";
import type { Clock } from "../ports/clock.ts";
import type { ProofResult, Verifier } from "../ports/verifier.ts";
import type { Workspace } from "../ports/workspace.ts";
import { runCommand, type Wrap } from "./command.ts";
import type { Env } from "./environment.ts";
import { keepEvidence, type PutBlob } from "./evidence.ts";
import type { FilePair } from "./gate-facts.ts";
import { judgeGates } from "./gates.ts";
import { openQueue } from "./queue.ts";
import { listTree, textReader } from "./tree-facts.ts";

export type VerifierParts = {
  readonly workspace: Pick<Workspace, "checkout" | "treeOf">;
  readonly putBlob: PutBlob;
  /** The isolation's name, as evidence records it. */
  readonly isolation: string;
  readonly runId: string;
  readonly product: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly wrap?: Wrap;
  /** For `restores`, where it differs. */
  readonly wrapRestore?: Wrap;
  readonly env?: Env;
  readonly scratchParent?: string;
  /** Takes secrets out of evidence before it is kept; without it, only what looks like one. */
  readonly redactor?: Redactor;
  /** What a clean folder needs before any check can run in it: dependencies, from the lock file. Their results come before the others. */
  readonly restores?: readonly Check[];
  /**
   * Where in the history that ends with `commit` a path was last changed: a number that grows with time, null where history
   * does not say. Without it, `after` holds only between what this visit changed and what it did not.
   */
  readonly lastChange?: (commit: GitSha, path: string) => Promise<number | null>;
};

type CheckOrder = Parameters<Verifier["check"]>[0];
type ProveOrder = Parameters<Verifier["prove"]>[0];

export function openVerifier(parts: VerifierParts): Verifier {
  const queue = openQueue(); // V1
  return {
    check: (order) => queue(() => check(parts, order)),
    prove: (order) => queue(() => prove(parts, order)),
    oracles: () => Promise.resolve({ content: "0".repeat(64), changes: [] }),
    claims: () => Promise.resolve([]),
  };
}

async function check(parts: VerifierParts, order: CheckOrder): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  if (order.checks.length === 0 || order.cancel.aborted) return results;
  const restores = [...(parts.restores ?? []), ...order.checks.filter(({ kind }) => kind === "restore")];
  const checks = order.checks.filter(({ kind }) => kind !== "restore");
  let folder = await parts.workspace.checkout(order.commit, "check");
  for (const each of [...restores, ...checks]) {
    const seen = await runOn(parts, order, folder, each);
    if (seen === null) return results; // V3
    results.push(seen.result);
    if (!seen.isChanged || each.kind === "restore" || each === checks.at(-1)) continue;
    // V2. A clean folder has lost its restored dependencies too, so they are restored again; if that fails, the next check shows it.
    folder = await parts.workspace.checkout(order.commit, "check");
    for (const again of restores) await runOn(parts, order, folder, again);
  }
  return results;
}

type Place = Pick<CheckOrder, "attempt" | "commit" | "cancel" | "onSignal">;

/** One check in a folder: the tree before and after, the command, the evidence. Null if it was called off. */
async function runOn(
  parts: VerifierParts,
  place: Place,
  folder: string,
  check: Check,
): Promise<{ result: CheckResult; isChanged: boolean } | null> {
  if (place.cancel.aborted) return null;
  place.onSignal({ signal: "checking", attempt: place.attempt, title: check.title, command: check.command });
  const { workspace, runId, clock, timeoutMs, isolation, product } = parts;
  const treeBefore = await workspace.treeOf(folder);
  const result = await runCommand({
    command: check.command,
    cwd: folder,
    runId,
    clock,
    timeoutMs,
    cancel: place.cancel,
    ...wrapFor(parts, check),
    ...(parts.env === undefined ? {} : { env: parts.env }),
    ...(parts.scratchParent === undefined ? {} : { scratchParent: parts.scratchParent }),
    ...(parts.redactor === undefined ? {} : { redactor: parts.redactor }),
  });
  if (result.status === "cancelled") return null; // V3
  const treeAfter = await workspace.treeOf(folder);
  const sighting = { check, result, status: result.status, cwd: folder, isolation, commit: place.commit, treeBefore, treeAfter, product };
  return { result: await keepEvidence(sighting, parts.putBlob, parts.redactor), isChanged: treeBefore !== treeAfter };
}

/** Restoring has a box of its own: it may reach the network and fill the cache, which no check may. */
function wrapFor({ wrap, wrapRestore = wrap }: VerifierParts, { kind }: Check): { readonly wrap?: Wrap } {
  const chosen = kind === "restore" ? wrapRestore : wrap;
  return chosen === undefined ? {} : { wrap: chosen };
}

async function prove(parts: VerifierParts, order: ProveOrder): Promise<ProofResult> {
  const checks: CheckResult[] = [];
  const calledOff: ProofResult = {
    holds: false,
    failures: [{ rule: "gate", file: null, found: "called off", expected: "judged" }],
    checks,
  };
  if (order.cancel.aborted) return calledOff;
  const folder = await parts.workspace.checkout(order.commit, "proof"); // V4
  const listing = await listTree(folder);
  const commands = new Map<string, { readonly passed: boolean; readonly found: string }>();
  const orders = new Map<string, boolean | null>();
  const facts = {
    files: listing.entries,
    isWhole: listing.isWhole,
    read: textReader(folder, listing),
    changed: new Set(order.changed),
    newer: (path: string, than: string) => orders.get(keyOf([path, than])),
    command: (command: string) => commands.get(command),
  };
  // Each round answers everything that was wanted, and the rules name finitely many things, so this ends.
  for (;;) {
    const { holds, failures, wanted } = judgeGates(order.gates, facts);
    if (wanted.commands.length === 0 && wanted.orders.length === 0) return { holds, failures, checks };
    for (const pair of wanted.orders) orders.set(keyOf(pair), await isNewer(parts, order.commit, pair));
    for (const command of wanted.commands) {
      const results = await check(parts, { ...order, checks: [proofCheck(command)] });
      checks.push(...results);
      const result = results.find(({ check: { kind } }) => kind === "proof");
      if (result === undefined || order.cancel.aborted) return { ...calledOff, checks };
      commands.set(command, { passed: result.status === "passed", found: foundOf(result) });
    }
  }
}

function keyOf(pair: FilePair): string {
  return JSON.stringify(pair);
}

async function isNewer({ lastChange }: VerifierParts, commit: GitSha, [path, than]: FilePair): Promise<boolean | null> {
  if (lastChange === undefined) return null;
  const [ours, theirs] = [await lastChange(commit, path), await lastChange(commit, than)];
  return ours === null || theirs === null ? null : ours > theirs;
}

function proofCheck(command: string): Check {
  const id = `proof:${createHash("sha256").update(command).digest("hex").slice(0, 12)}`;
  return { id, kind: "proof", title: command, command, source: "the flow's proof" };
}

function foundOf({ status, exit_code }: CheckResult): string {
  return exit_code === null ? status : `${status} (exit ${exit_code})`;
}
