// prove-artifacts: judges artifact rules on a commit's tree, round by round: what a rule wants to know is found out, then it is asked again.

import { createHash } from "node:crypto";
import type { Check, CheckResult } from "../contracts/evidence.ts";
import type { GitSha } from "../contracts/ids.ts";
import type { ProofResult, Verifier } from "../ports/verifier.ts";
import type { FilePair } from "./gate-facts.ts";
import { judgeGates } from "./gates.ts";
import type { OpenParts } from "./parts.ts";
import { runChecks } from "./run-checks.ts";
import { listTree, textReader } from "./tree-facts.ts";

type ProveOrder = Parameters<Verifier["prove"]>[0];

export async function prove(parts: OpenParts, order: ProveOrder): Promise<ProofResult> {
  const checks: CheckResult[] = [];
  const calledOff: ProofResult = {
    holds: false,
    failures: [{ rule: "gate", file: null, found: "called off", expected: "judged" }],
    checks,
  };
  if (order.cancel.aborted) return calledOff;
  const folder = await parts.workspace.checkout(order.commit, "proof"); // V4 of verifier.ts
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
      const results = await runChecks(parts, { ...order, checks: [proofCheck(command)] });
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

async function isNewer({ lastChange }: OpenParts, commit: GitSha, [path, than]: FilePair): Promise<boolean | null> {
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
