// look-up: checks the claims in an agent's text and return, one by one.
//
// Invariants:
//   C1. Each claim is checked once, however often it was made.
//   C2. A claim that only the runner's checks can decide names them, and is decided by nothing else.

import type { ClaimChecked } from "../../contracts/evidence.ts";
import type { Verifier } from "../../ports/verifier.ts";
import { decidedBy } from "./of-checks.ts";
import { type ClaimsWorkspace, openLooks, type TreeLooks } from "./of-tree.ts";
import { handedClaims } from "./handed.ts";
import { claimLimits, claimText, type ReportedClaim, unverifiable, type Verdict } from "./said-claim.ts";
import { reportedClaims } from "./agent-report.ts";

type ClaimsRequest = Parameters<Verifier["claims"]>[0];

export async function lookUpClaims(workspace: ClaimsWorkspace, order: ClaimsRequest): Promise<readonly ClaimChecked[]> {
  if (order.waiting !== undefined) return order.waiting.map((claim) => decidedBy(claim, order.results, order.regressed)); // C2
  const claims = claimsIn(order);
  if (claims.length === 0) return [];
  const looks = openLooks(workspace, order);
  const checked: ClaimChecked[] = [];
  for (const claim of claims) checked.push(await lookedUp(claim, looks, order));
  return checked;
}

/** All claims, those of the return first. */
export function claimsIn({
  said,
  claim,
  prompt,
  promised,
}: Pick<ClaimsRequest, "said" | "claim" | "prompt" | "promised">): readonly ReportedClaim[] {
  const promise: ReportedClaim[] = promised === true ? [{ kind: "done", text: "It promises that everything is done.", of: "all" }] : [];
  const all = [...promise, ...handedClaims(claim, prompt), ...reportedClaims(said, prompt)];
  return [...new Map(all.toReversed().map((one) => [keyOf(one), one])).values()].toReversed().slice(0, claimLimits.claimsMax); // C1
}

function keyOf(claim: ReportedClaim): string {
  switch (claim.kind) {
    case "done":
      return `done ${claim.of}`;
    case "command":
      return `command ${claim.command} ${claim.passed}`;
    case "commit":
      return `commit ${claim.sha}`;
    case "file_line":
      return `line ${claim.path} ${claim.line} ${claim.name}`;
    case "file_changed":
      return `changed ${claim.path}`;
    case "named":
      return `named ${claim.id}`;
    case "count":
    case "score":
      return `${claim.kind} ${claim.text}`;
  }
}

async function lookedUp(claim: ReportedClaim, looks: TreeLooks, { results }: ClaimsRequest): Promise<ClaimChecked> {
  const { kind, text } = claim;
  if (kind === "done" || kind === "command") {
    const waits = kind === "done" ? { of: claim.of } : { of: claim.command, ...(claim.passed === null ? {} : { passed: claim.passed }) };
    const asked = { kind, text, waits, ...unverifiable("No check of the runner's own came after it.") };
    const decided = decidedBy(asked, results);
    return results.length > 0 && decided.verdict !== "unverifiable" ? decided : asked; // C2
  }
  const { verdict, why } = await verdictOf(claim, looks);
  return { kind, text, verdict, why: claimText(why, claimLimits.whyCharsMax) };
}

function verdictOf(claim: Exclude<ReportedClaim, { kind: "done" | "command" }>, looks: TreeLooks): Promise<Verdict> {
  switch (claim.kind) {
    case "commit":
      return looks.commit(claim);
    case "file_line":
      return looks.fileLine(claim);
    case "file_changed":
      return looks.fileChanged(claim);
    case "count":
      return looks.count(claim);
    case "named":
      return looks.named(claim);
    case "score":
      return Promise.resolve(unverifiable("Nobody measured it."));
  }
}
