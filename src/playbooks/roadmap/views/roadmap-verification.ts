// roadmap-verification: renders `.planning/phases/<id>/VERIFICATION.md`: the runner's own checks
// beside the verifier's claims, and the refuted claims of the phase.
//
// Invariants:
//   V1. A phase is verified only if both the runner's checks and the verifier pass it; either can
//       fail it alone.
//   V2. The verifier's claims are in columns of their own.

import type { Entry, EventOf } from "../../../contracts/event.ts";
import type { CheckResult } from "../../../contracts/evidence.ts";
import { computeCheckFlags, checkKinds } from "../../../insight/check-kind.ts";
import {
  parseAttempt,
  isOutsideRoadmap,
  phaseOfEntry,
  taskOfCursor,
} from "../../../insight/attempt-path.ts";
import {
  markdownCode,
  escapeMarkdown,
  markdownList,
  markdownSection,
  markdownTable,
} from "../../../views/markdown.ts";
import { readField, readTexts } from "../../contract/agent-return.ts";
import { type ReadClaim, listOrEmpty } from "./roadmap-audit.ts";
import { roadmapSteps } from "./phase-history.ts";
import { describeAttempt, formatDuration } from "../../../views/wording.ts";

type StepEnd = {
  readonly at: string;
  readonly isPassed: boolean;
  readonly checks: readonly CheckResult[];
  readonly why: string;
};
type VerifyEnd = StepEnd & {
  readonly agent: string;
  readonly claim: string | null;
  readonly says: EventOf<"turn_ended">["says"];
};
type Round = { readonly startedAt: string; checks: StepEnd | null; verify: VerifyEnd | null };
type RefutedClaim = { readonly who: string; readonly text: string; readonly why: string };
type Phase = { rounds: Round[]; refuted: RefutedClaim[] };

const refutedMax = 200;
const reasonCharsMax = 500;

/** Takes the entries of a journal in order; entries outside of the roadmap's phases are ignored. */
export class Verification {
  readonly #readClaim: ReadClaim;
  readonly #phases = new Map<string, Phase>();
  /** Turns whose step has not ended yet, by attempt. */
  readonly #turns = new Map<string, EventOf<"turn_ended">>();

  constructor(readClaim: ReadClaim) {
    this.#readClaim = readClaim;
  }

  apply(entry: Entry): void {
    const id = phaseOfEntry(entry);
    if (id === null || isOutsideRoadmap(id)) return;
    if (entry.event === "claims_checked") return addRefutedClaims(this.#phase(id), entry);
    const attempt = "attempt" in entry ? entry.attempt : "";
    const parts = parseAttempt(attempt);
    if (parts === null || taskOfCursor(parts.cursor) !== null || !verifyingSteps.has(parts.step)) {
      return;
    }

    if (entry.event === "turn_ended") this.#turns.set(attempt, entry);
    if (entry.event === "step_started") startRound(this.#phase(id), parts.step, entry.ts);
    if (entry.event !== "step_completed" && entry.event !== "step_failed") return;
    this.#endStep(this.#phase(id), entry, parts.step);
    this.#turns.delete(attempt);
  }

  /** The page of a phase; null if nothing was verified in it yet. */
  renderPage(id: string, name: string, run: string): string | null {
    const phase = this.#phases.get(id);
    const lastRound = phase?.rounds.at(-1);
    if (phase === undefined || lastRound === undefined) return null;
    const claim =
      lastRound.verify?.claim == null ? undefined : this.#readClaim(lastRound.verify.claim);
    const claimedTexts = (field: string): readonly string[] =>
      readTexts(claim, field).map((text) => escapeMarkdown(text));
    const claimedCommands = readTexts(claim, "commands_run").map((text) => markdownCode(text));

    return [
      ...frontMatter(id, lastRound, claim),
      `# Verification: phase ${escapeMarkdown(id)}, ${escapeMarkdown(name)}`,
      "",
      `Written by the runner from the journal of ${escapeMarkdown(run)}. What the runner found and what the verifier says stand side by side.`,
      ...markdownSection("Outcome", outcomeLines(lastRound)),
      ...markdownSection("Automated checks", automatedLines(lastRound, claim)), // V2
      ...markdownSection("Criteria", criteriaLines(lastRound, claim)), // V2
      ...markdownSection("Commands the runner ran", commandLines(lastRound)),
      ...markdownSection("Commands the verifier says it ran", markdownList(claimedCommands)),
      ...markdownSection("What the verifier says is wrong", markdownList(claimedTexts("failures"))),
      ...markdownSection(
        "Scope creep, by the verifier's word",
        markdownList(claimedTexts("scope_creep")),
      ),
      ...markdownSection("Claims that were found false", refutedLines(phase.refuted)),
      ...markdownSection("Rounds", roundLines(phase.rounds)),
      "",
    ].join("\n");
  }

  #phase(id: string): Phase {
    const phase = this.#phases.get(id) ?? { rounds: [], refuted: [] };
    this.#phases.set(id, phase);
    return phase;
  }

  #endStep(
    phase: Phase,
    entry: EventOf<"step_completed" | "step_failed"> & Entry,
    step: string,
  ): void {
    const round = phase.rounds.at(-1);
    if (round === undefined) return;
    const turn = this.#turns.get(entry.attempt);
    const isPassed = entry.event === "step_completed";

    const stepEnd = {
      at: entry.ts,
      isPassed,
      checks: entry.checks ?? [],
      why: isPassed ? "" : (entry.detail ?? entry.reason_code),
    };

    if (step === roadmapSteps.checks) {
      round.checks = stepEnd;
    } else {
      round.verify = {
        ...stepEnd,
        agent: turn?.agent ?? "",
        claim: turn?.claim ?? null,
        says: turn?.says ?? {},
      };
    }
  }
}

/** The verifier runs after the checks of its round; whichever starts first opens the round. */
function startRound(phase: Phase, step: string, at: string): void {
  const lastRound = phase.rounds.at(-1);
  if (step === roadmapSteps.verify && lastRound !== undefined && lastRound.verify === null) return;
  phase.rounds.push({ startedAt: at, checks: null, verify: null });
}

const verifyingSteps: ReadonlySet<string> = new Set([roadmapSteps.checks, roadmapSteps.verify]);

function addRefutedClaims(phase: Phase, entry: EventOf<"claims_checked">): void {
  for (const { text, why, verdict } of entry.claims) {
    if (verdict !== "false" || phase.refuted.length >= refutedMax) continue;
    phase.refuted.push({
      who: `${entry.agent} as ${entry.role}, ${describeAttempt(entry.attempt)}`,
      text,
      why,
    });
  }
}

type Status = "pass" | "fail" | "in_progress";

/** Passes only if both the checks and the verifier do. V1 */
function roundStatus({ checks, verify }: Round): Status {
  if (checks?.isPassed === false || verify?.isPassed === false || verify?.says["pass"] === false) {
    return "fail";
  }

  return checks === null || verify === null ? "in_progress" : "pass";
}

function frontMatter(id: string, round: Round, claim: unknown): readonly string[] {
  const status = roundStatus(round);
  const score = readField(claim, "alignment_score") ?? round.verify?.says["alignment_score"];
  return [
    "---",
    `phase: ${JSON.stringify(id)}`,
    `verified: ${status === "pass" ? (round.verify?.at ?? "no") : "no"}`,
    `status: ${status}`,
    `alignment_score: ${typeof score === "number" ? score : "null"}`,
    "---",
    "",
  ];
}

/** A step passed only if its agent, if it has one, says so too. */
function verdictText(
  stepEnd: (StepEnd & Partial<Pick<VerifyEnd, "says">>) | null,
  pending: string,
): string {
  if (stepEnd === null) return pending;
  return stepEnd.isPassed && stepEnd.says?.["pass"] !== false ? "pass" : "fail";
}

function outcomeLines({ checks, verify }: Round): readonly string[] {
  const outcomeRow = (name: string, stepEnd: StepEnd | VerifyEnd | null): readonly string[] => [
    name,
    stepEnd?.at ?? "–",
    verdictText(stepEnd, "not yet"),
    escapeMarkdown(stepEnd?.why ?? "", reasonCharsMax),
  ];

  const verifierName =
    verify === null || verify.agent === ""
      ? "the verifier"
      : `the verifier (${escapeMarkdown(verify.agent)})`;
  return markdownTable(
    ["Who", "When", "Says", "Why"],
    [outcomeRow("the runner's checks", checks), outcomeRow(verifierName, verify)],
  );
}

/** The latest result of every check of the round. */
function roundResults({ checks, verify }: Round): readonly CheckResult[] {
  const latest = new Map(
    [...(checks?.checks ?? []), ...(verify?.checks ?? [])].map((result) => [
      result.check.id,
      result,
    ]),
  );
  return [...latest.values()];
}

function automatedLines(round: Round, claim: unknown): readonly string[] {
  const automated = computeCheckFlags(roundResults(round));
  const claimedChecks = readField(claim, "automated_checks");
  return markdownTable(
    ["Check", "The runner found", "The verifier says"],
    checkKinds.map((kind) => [
      kind,
      flagText(automated[kind]),
      escapeMarkdown(
        claimText(
          readField(claimedChecks, kind) ?? readField(claimedChecks, kind.replace(/s$/, "")),
        ),
      ), // `tests` or `test`
    ]),
  );
}

function flagText(flag: boolean | "n/a"): string {
  if (flag === "n/a") return flag;
  return flag ? "pass" : "fail";
}

function claimText(claimed: unknown): string {
  if (claimed === true || claimed === false || claimed === "n/a") return flagText(claimed);
  const status = readField(claimed, "status");
  const detail = readField(claimed, "detail");
  if (typeof status !== "string") return "–";

  return typeof detail === "string" && detail !== "" ? `${status}: ${detail}` : status;
}

/** Verifiers repeat a criterion with other spaces and marks. */
const normalize = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[\s`*_.]+/g, " ")
    .trim();

function criteriaLines(round: Round, claim: unknown): readonly string[] {
  const claimedResults = listOrEmpty(readField(claim, "criteria_results")).map((result) => ({
    criterion: textOrEmpty(readField(result, "criterion")),
    status: textOrEmpty(readField(result, "status")),
    evidence: textOrEmpty(readField(result, "evidence")),
  }));
  const unmatched = new Set(claimedResults);
  const criteria = roundResults(round).filter(({ check }) => check.kind === "criterion");

  const rows = criteria.map(({ check, status, exit_code }) => {
    const match = claimedResults.find(
      (result) => unmatched.has(result) && normalize(result.criterion) === normalize(check.title),
    );
    if (match !== undefined) unmatched.delete(match);
    const exit = exit_code === null || status === "passed" ? "" : ` (exit ${exit_code})`;

    return [
      escapeMarkdown(check.title),
      markdownCode(check.command),
      `${status}${exit}`,
      match?.status ?? "–",
      escapeMarkdown(match?.evidence ?? "–"),
    ];
  });

  const others = [...unmatched].map(({ criterion, status, evidence }) => [
    escapeMarkdown(criterion),
    "–",
    "nothing to run",
    escapeMarkdown(status),
    escapeMarkdown(evidence),
  ]);
  return markdownTable(
    ["Criterion", "Command", "The runner found", "The verifier says", "Its evidence"],
    [...rows, ...others],
  );
}

function commandLines(round: Round): readonly string[] {
  // Several criteria may share one command and evidence: it is shown once.
  const uniqueResults = new Map<string, CheckResult>();
  for (const result of roundResults(round)) {
    const key = `${result.check.command} ${result.evidence}`;
    if (!uniqueResults.has(key)) uniqueResults.set(key, result);
  }

  return markdownTable(
    ["Command", "Result", "Took", "Evidence"],
    [...uniqueResults.values()].map(
      ({ check, status, exit_code, duration_ms, cached, evidence }) => [
        markdownCode(check.command),
        `${status}${exit_code === null ? "" : `, exit ${exit_code}`}`,
        cached === true ? "known from before" : formatDuration(duration_ms),
        markdownCode(evidence.slice(0, 12)),
      ],
    ),
  );
}

const refutedLines = (refuted: readonly RefutedClaim[]): readonly string[] =>
  markdownTable(
    ["Who", "Claim", "What was found"],
    refuted.map(({ who, text, why }) => [
      escapeMarkdown(who),
      escapeMarkdown(text),
      escapeMarkdown(why),
    ]),
  );

const roundLines = (rounds: readonly Round[]): readonly string[] =>
  markdownTable(
    ["Round", "Began", "The runner's checks", "The verifier", "Status"],
    rounds.map((round, index) => [
      String(index + 1),
      round.startedAt,
      verdictText(round.checks, "–"),
      verdictText(round.verify, "–"),
      roundStatus(round),
    ]),
  );

const textOrEmpty = (value: unknown): string => (typeof value === "string" ? value : "");
