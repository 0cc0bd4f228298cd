// roadmap-verification: `.planning/phases/<id>/VERIFICATION.md`: what the runner's own checks found beside what the verifier says, and
// which things agents said in this phase were found false.
//
// Invariants:
//   V1. Whether the phase is verified is decided by the runner's checks and the verifier together: either of them alone can only say no.
//   V2. The verifier's words are in their own columns, under its name.

import type { Entry, EventOf } from "../../../contracts/event.ts";
import type { CheckResult } from "../../../contracts/evidence.ts";
import { automatedOf, checkKinds } from "../../../insight/check-kind.ts";
import { attemptParts, isAround, phaseOfEntry, taskOfCursor } from "../../../insight/places.ts";
import { inCode, inText, list, section, table } from "../../../views/markdown.ts";
import { type ClaimOf, parseField, parseList } from "./roadmap-audit.ts";
import { roadmapSteps } from "./phase-history.ts";
import { describeAttempt, duration } from "../../../views/wording.ts";

export type Verification = {
  apply(entry: Entry): void;
  /** The page of a phase; null if nothing was verified in it yet. */
  pageOf(phase: string, name: string, run: string): string | null;
};

type Ended = { readonly at: string; readonly isPassed: boolean; readonly checks: readonly CheckResult[]; readonly why: string };
type Looked = Ended & { readonly agent: string; readonly claim: string | null; readonly says: EventOf<"turn_ended">["says"] };
type Round = { readonly beganAt: string; checks: Ended | null; verify: Looked | null };
type Refuted = { readonly who: string; readonly text: string; readonly why: string };
type Phase = { rounds: Round[]; refuted: Refuted[] };

const refutedMax = 200;

export function openVerification(claimOf: ClaimOf): Verification {
  const phases = new Map<string, Phase>();
  const turns = new Map<string, EventOf<"turn_ended">>();

  const phaseOf = (id: string): Phase => {
    const knownPhase = phases.get(id) ?? { rounds: [], refuted: [] };
    phases.set(id, knownPhase);
    return knownPhase;
  };
  const begin = (phase: Phase, step: string, at: string): void => {
    const lastRound = phase.rounds.at(-1);
    // The verifier looks after the checks of its round; whatever comes first opens a round.
    if (step === roadmapSteps.verify && lastRound !== undefined && lastRound.verify === null) return;
    phase.rounds.push({ beganAt: at, checks: null, verify: null });
  };
  const end = (phase: Phase, entry: EventOf<"step_completed" | "step_failed"> & Entry, step: string): void => {
    const round = phase.rounds.at(-1);
    if (round === undefined) return;
    const turn = turns.get(entry.attempt);
    const isPassed = entry.event === "step_completed";
    const ended = { at: entry.ts, isPassed, checks: entry.checks ?? [], why: isPassed ? "" : (entry.detail ?? entry.reason_code) };
    if (step === roadmapSteps.checks) round.checks = ended;
    else round.verify = { ...ended, agent: turn?.agent ?? "", claim: turn?.claim ?? null, says: turn?.says ?? {} };
  };

  return {
    apply(entry) {
      const id = phaseOfEntry(entry);
      if (id === null || isAround(id)) return;
      if (entry.event === "claims_checked") return refute(phaseOf(id), entry);
      const attempt = "attempt" in entry ? entry.attempt : "";
      const parts = attemptParts(attempt);
      if (parts === null || taskOfCursor(parts.cursor) !== null || !steps.has(parts.step)) return;
      if (entry.event === "turn_ended") turns.set(attempt, entry);
      if (entry.event === "step_started") begin(phaseOf(id), parts.step, entry.ts);
      if (entry.event !== "step_completed" && entry.event !== "step_failed") return;
      end(phaseOf(id), entry, parts.step);
      turns.delete(attempt);
    },
    pageOf(id, name, run) {
      const phase = phases.get(id);
      const lastRound = phase?.rounds.at(-1);
      if (phase === undefined || lastRound === undefined) return null;
      const said = lastRound.verify?.claim == null ? undefined : claimOf(lastRound.verify.claim);
      return [
        ...frontMatter(id, lastRound, said),
        `# Verification: phase ${inText(id)}, ${inText(name)}`,
        "",
        `Written by the runner from the journal of ${inText(run)}. What the runner found and what the verifier says stand side by side.`,
        ...section("Outcome", outcomeLines(lastRound)),
        ...section("Automated checks", automatedLines(lastRound, said)),
        ...section("Criteria", criteriaLines(lastRound, said)),
        ...section("Commands the runner ran", commandLines(lastRound)),
        ...section("Commands the verifier says it ran", list(findTexts(said, "commands_run").map((text) => inCode(text)))),
        ...section("What the verifier says is wrong", list(findTexts(said, "failures").map((text) => inText(text)))),
        ...section("Scope creep, by the verifier's word", list(findTexts(said, "scope_creep").map((text) => inText(text)))),
        ...section("Claims that were found false", refutedLines(phase.refuted)),
        ...section("Rounds", roundLines(phase.rounds)),
        "",
      ].join("\n");
    },
  };
}

const steps: ReadonlySet<string> = new Set([roadmapSteps.checks, roadmapSteps.verify]);

function refute(phase: Phase, entry: EventOf<"claims_checked">): void {
  for (const { text, why, verdict } of entry.claims) {
    if (verdict !== "false" || phase.refuted.length >= refutedMax) continue;
    phase.refuted.push({ who: `${entry.agent} as ${entry.role}, ${describeAttempt(entry.attempt)}`, text, why });
  }
}

type Status = "pass" | "fail" | "in_progress";

/** V1 */
function roundStatus({ checks, verify }: Round): Status {
  if (checks?.isPassed === false || verify?.isPassed === false || verify?.says["pass"] === false) return "fail";
  return checks === null || verify === null ? "in_progress" : "pass";
}

function frontMatter(id: string, round: Round, said: unknown): readonly string[] {
  const status = roundStatus(round);
  const score = parseField(said, "alignment_score") ?? round.verify?.says["alignment_score"];
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

function outcomeLines({ checks, verify }: Round): readonly string[] {
  const word = (ended: Ended | null, isNo: boolean): string => (ended === null ? "not yet" : ended.isPassed && !isNo ? "pass" : "fail");
  return [
    ...table(
      ["Who", "When", "Says", "Why"],
      [
        ["the runner's checks", checks?.at ?? "–", word(checks, false), inText(checks?.why ?? "", 500)],
        [
          `the verifier${verify === null || verify.agent === "" ? "" : ` (${inText(verify.agent)})`}`,
          verify?.at ?? "–",
          word(verify, verify?.says["pass"] === false),
          inText(verify?.why ?? "", 500),
        ],
      ],
    ),
  ];
}

/** Every result of the round; a check that was run twice counts as it came out last. */
function roundResults({ checks, verify }: Round): readonly CheckResult[] {
  const last = new Map([...(checks?.checks ?? []), ...(verify?.checks ?? [])].map((result) => [result.check.id, result]));
  return [...last.values()];
}

function automatedLines(round: Round, said: unknown): readonly string[] {
  const automated = automatedOf(roundResults(round));
  const reported = parseField(said, "automated_checks");
  return table(
    ["Check", "The runner found", "The verifier says"],
    checkKinds.map((kind) => [
      kind,
      flagWord(automated[kind]),
      inText(saidWord(parseField(reported, kind) ?? parseField(reported, kind.replace(/s$/, "")))),
    ]),
  );
}

const flagWord = (flag: boolean | "n/a"): string => (flag === "n/a" ? "n/a" : flag ? "pass" : "fail");

function saidWord(reported: unknown): string {
  if (reported === true || reported === false || reported === "n/a") return flagWord(reported);
  const status = parseField(reported, "status");
  const detail = parseField(reported, "detail");
  if (typeof status !== "string") return "–";
  return typeof detail === "string" && detail !== "" ? `${status}: ${detail}` : status;
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[\s`*_.]+/g, " ")
    .trim();

function criteriaLines(round: Round, said: unknown): readonly string[] {
  const reported = parseList(parseField(said, "criteria_results")).map((result) => ({
    criterion: parseText(parseField(result, "criterion")),
    status: parseText(parseField(result, "status")),
    evidence: parseText(parseField(result, "evidence")),
  }));
  const left = new Set(reported);
  const found = roundResults(round).filter(({ check }) => check.kind === "criterion");
  const rows = found.map(({ check, status, exit_code }) => {
    const match = reported.find((result) => left.has(result) && plain(result.criterion) === plain(check.title));
    if (match !== undefined) left.delete(match);
    const exit = exit_code === null || status === "passed" ? "" : ` (exit ${exit_code})`;
    return [inText(check.title), inCode(check.command), `${status}${exit}`, match?.status ?? "–", inText(match?.evidence ?? "–")];
  });
  const others = [...left].map(({ criterion, status, evidence }) => [
    inText(criterion),
    "–",
    "nothing to run",
    inText(status),
    inText(evidence),
  ]);
  return table(["Criterion", "Command", "The runner found", "The verifier says", "Its evidence"], [...rows, ...others]);
}

function commandLines(round: Round): readonly string[] {
  // The same piece of evidence is reported once, whatever depends on it.
  const reported = new Map<string, CheckResult>();
  for (const result of roundResults(round)) {
    const key = `${result.check.command} ${result.evidence}`;
    if (!reported.has(key)) reported.set(key, result);
  }
  return table(
    ["Command", "Result", "Took", "Evidence"],
    [...reported.values()].map(({ check, status, exit_code, duration_ms, cached, evidence }) => [
      inCode(check.command),
      `${status}${exit_code === null ? "" : `, exit ${exit_code}`}`,
      cached === true ? "known from before" : duration(duration_ms),
      inCode(evidence.slice(0, 12)),
    ]),
  );
}

const refutedLines = (refuted: readonly Refuted[]): readonly string[] =>
  table(
    ["Who", "Claim", "What was found"],
    refuted.map(({ who, text, why }) => [inText(who), inText(text), inText(why)]),
  );

const roundLines = (rounds: readonly Round[]): readonly string[] =>
  table(
    ["Round", "Began", "The runner's checks", "The verifier", "Status"],
    rounds.map((round, index) => [
      String(index + 1),
      round.beganAt,
      round.checks === null ? "–" : round.checks.isPassed ? "pass" : "fail",
      round.verify === null ? "–" : round.verify.isPassed && round.verify.says["pass"] !== false ? "pass" : "fail",
      roundStatus(round),
    ]),
  );

const parseText = (value: unknown): string => (typeof value === "string" ? value : "");
const findTexts = (said: unknown, field: string): readonly string[] =>
  parseList(parseField(said, field)).filter((text): text is string => typeof text === "string");
