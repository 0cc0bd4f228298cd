// look-up-claims: checks the claims in an agent's text and in the object it returned, one by one.
//
// Invariants:
//   C1. Each claim is checked once, however often it was made.
//   C2. A claim that only the runner's checks can decide names them, and is decided by nothing
//       else.

import type { ClaimChecked } from "../../contracts/evidence.ts";
import type { ClaimsRequest } from "../../ports/verifier.ts";
import { decideByResults } from "./decide-by-results.ts";
import { type ClaimsWorkspace, TreeLookups } from "./tree-lookups.ts";
import { extractReturnClaims } from "./return-claims.ts";
import {
  claimLimits,
  toClaimText,
  type ReportedClaim,
  unverifiable,
  type ClaimVerdict,
} from "./reported-claim.ts";
import { extractTextClaims } from "./text-claims.ts";

export async function lookUpClaims(
  workspace: ClaimsWorkspace,
  request: ClaimsRequest,
): Promise<readonly ClaimChecked[]> {
  if (request.waiting !== undefined) {
    return request.waiting.map((claim) =>
      decideByResults(claim, request.results, request.regressed),
    );
  } // C2

  const claims = extractClaims(request);
  if (claims.length === 0) return [];
  const lookups = new TreeLookups(workspace, request);
  const checked: ClaimChecked[] = [];
  for (const claim of claims) checked.push(await checkClaim(claim, lookups, request));

  return checked;
}

/**
 * The claims without repetitions, up to a limit: a promise first, then those of the returned
 * object, then those of the text.
 */
export function extractClaims({
  said,
  claim,
  prompt,
  promised,
}: Pick<ClaimsRequest, "said" | "claim" | "prompt" | "promised">): readonly ReportedClaim[] {
  const promise: ReportedClaim[] =
    promised === true
      ? [{ kind: "done", text: "It promises that everything is done.", subject: "all" }]
      : [];
  const claims = [
    ...promise,
    ...extractReturnClaims(claim, prompt),
    ...extractTextClaims(said, prompt),
  ];

  const firstByKey = new Map<string, ReportedClaim>();
  for (const item of claims) {
    if (!firstByKey.has(toClaimKey(item))) firstByKey.set(toClaimKey(item), item);
  } // C1

  return [...firstByKey.values()].slice(0, claimLimits.claimsMax);
}

/** Two claims with the same key say the same. */
function toClaimKey(claim: ReportedClaim): string {
  switch (claim.kind) {
    case "done":
      return `done ${claim.subject}`;
    case "command":
      return `command ${claim.command} ${claim.passed}`;
    case "commit":
      return `commit ${claim.sha}`;
    case "file_line":
      return `line ${claim.path} ${claim.firstLine ?? claim.line} ${claim.line} ${claim.name}`;
    case "file_changed":
      return `changed ${claim.path}`;
    case "named":
      return `named ${claim.id}`;
    case "count":
    case "score":
      return `${claim.kind} ${claim.text}`;
  }
}

async function checkClaim(
  claim: ReportedClaim,
  lookups: TreeLookups,
  { results }: ClaimsRequest,
): Promise<ClaimChecked> {
  const { kind, text } = claim;
  if (kind === "done" || kind === "command") {
    const waits =
      kind === "done"
        ? { of: claim.subject }
        : { of: claim.command, ...(claim.passed === null ? {} : { passed: claim.passed }) };

    const waitingClaim = {
      kind,
      text,
      waits,
      ...unverifiable("No check of the runner's own came after it."),
    };
    const decided = decideByResults(waitingClaim, results);
    return results.length > 0 && decided.verdict !== "unverifiable" ? decided : waitingClaim; // C2
  }

  const { verdict, why } = await lookUpVerdict(claim, lookups);
  return { kind, text, verdict, why: toClaimText(why, claimLimits.whyCharsMax) };
}

function lookUpVerdict(
  claim: Exclude<ReportedClaim, { kind: "done" | "command" }>,
  lookups: TreeLookups,
): Promise<ClaimVerdict> {
  switch (claim.kind) {
    case "commit":
      return lookups.commit(claim);
    case "file_line":
      return lookups.fileLine(claim);
    case "file_changed":
      return lookups.fileChanged(claim);
    case "count":
      return lookups.count(claim);
    case "named":
      return lookups.named(claim);
    case "score":
      return Promise.resolve(unverifiable("Nobody measured it."));
  }
}
