// verdict-sentences: words every sentence that states what a run's work is worth, from the verdict
// and the gaps. Where the work is, landing-sentence.ts says.

import type { Verdict } from "../../contracts/objective.ts";
import { describeLanding, type Landing } from "./landing-sentence.ts";
import { firstFew, oneLine } from "../wording.ts";

const gapsShownMax = 5;

export function describeProof(verdict: Verdict, gaps: readonly string[]): string {
  const shownGaps = gaps.slice(0, gapsShownMax).map((gap) => oneLine(gap).replace(/\.$/, ""));
  const moreText = gaps.length > gapsShownMax ? `; and ${gaps.length - gapsShownMax} more` : "";
  const gapText = shownGaps.length === 0 ? "." : `: ${shownGaps.join("; ")}${moreText}.`;

  switch (verdict) {
    case "verified":
      return "Every required check was proved.";
    case "verified_with_gaps":
      return `Part of it was not proved${gapText}`;
    case "unverified":
      return `No check proved it${gapText}`;
    case "refuted":
      return `A check shows that it isn't done${gapText}`;
  }
}

/**
 * For a run whose phases are not all done: the proof of the other phases says nothing about these.
 */
export function unfinishedSentence(phases: readonly string[]): string {
  const negation = phases.length === 1 ? "phase isn't" : "phases aren't";
  return `Not everything asked for is done: ${phases.length} ${negation} completed (${firstFew(phases)}).`;
}

type Outcome = {
  readonly verdict: Verdict;
  readonly gaps: readonly string[];
  readonly landing: Landing;
  readonly branch: string;
};

/** What was proved, and where the work is. */
export const describeProofAndLanding = ({ verdict, gaps, landing, branch }: Outcome): string =>
  `${describeProof(verdict, gaps)} ${describeLanding(verdict, landing, branch)}`.trimEnd();

/** The verdict in two words, for headings. */
export const formatVerdict = (verdict: Verdict): string => verdict.replaceAll("_", " ");

/** The verdict in a column of a table. */
export function formatVerdictCell(verdict: string | null): string {
  if (verdict === null) return "-";
  return verdict === "verified_with_gaps" ? "with gaps" : verdict;
}

export function getVerdictMark(verdict: Verdict): string {
  if (verdict === "verified") return "✓";
  return verdict === "refuted" ? "✗" : "!";
}
