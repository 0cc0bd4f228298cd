// staged-descriptions: wording of the state file: outcomes, decisions, blockers and the end of a
// session.

import type { EventOf, Entry } from "../../../contracts/event.ts";
import type { Proof } from "../../../contracts/flow.ts";
import { isReasonCode, reasons } from "../../../contracts/reason.ts";
import type { CurrentStep, LastSession, sessionReasons } from "../../../contracts/staged-state.ts";
import { researchDecision } from "./staged-decisions.ts";
import { oneLine } from "../../../views/wording.ts";

type Block = EventOf<"block_opened">;

const outcomeCharsMax = 160;
/** The reason code with which flows end an optional phase that nobody wanted. */
export const optionalSkipped = "optional_skipped";

/** The result of a completed phase, on one line. */
export function describeOutcome(because: string | undefined, summary: string | undefined): string {
  if (because === optionalSkipped) return "skipped";
  if (summary !== undefined && summary !== "") return oneLine(summary, outcomeCharsMax);
  return because === undefined ? "done" : oneLine(because.replaceAll("_", " "), outcomeCharsMax);
}

/**
 * The outcome of a phase that was proved before it started, with a file that shows it. Null for
 * other reasons.
 */
export function describeProved(
  rule: {
    readonly proof?: readonly Proof[] | undefined;
    readonly optional?: true | undefined;
    readonly steps: readonly { readonly proof?: readonly Proof[] | undefined }[];
  },
  because: string,
): string | null {
  if (because !== "already_proved") return null;
  if (rule.optional === true) return "found done, or passed over by a later step";
  const file = pickProofFile(rule.proof ?? rule.steps.flatMap(({ proof }) => proof ?? []));

  return file === null ? "found done" : `found done: ${file}`;
}

/** A file or pattern that shows a person that a proof holds. */
export function pickProofFile(proofs: readonly Proof[]): string | null {
  for (const proof of proofs) {
    if (typeof proof === "string") continue;
    const path = proof.file ?? proof.files?.at(-1) ?? proof.any;
    if (path !== undefined) return path;
  }

  return null;
}

/** A person's answer as a Key Decision; null if it decides nothing about the project. */
export function describeDecision(
  block: Block,
  answer: string,
  name: string,
  isPreset: boolean,
): string | null {
  const meaning = block.options[answer] ?? answer;
  const prefix = name === "" ? "" : `${name}: `;

  if (block.house === true || block.code === "phase_failed") {
    if (Object.keys(block.options).length === 0) {
      return `${prefix}asked "${oneLine(block.question)}", answered "${oneLine(answer)}"`;
    }

    return `${prefix}${oneLine(meaning)} (after its retries were used up)`;
  }

  if (block.code === "session_boundary") return null;
  if (block.step === "decision") return `${researchDecision}: ${oneLine(meaning)}`;
  if (block.step === "wanted") {
    const skippedText = isPreset ? "skipped, nobody was asked" : "skipped";
    return `${prefix}${/skip/i.test(meaning) ? skippedText : "wanted"}`;
  }

  return isPreset ? null : `${prefix}${oneLine(block.question)} ${oneLine(meaning)}`;
}

/** The text of a blocker. */
export function describeFailure(block: Block, name: string, current: CurrentStep): string {
  if (block.house !== true || Object.keys(block.options).length === 0) {
    return `Waits for an answer: ${oneLine(block.question)}`;
  }

  const stepText = current.step === "done" ? "" : `Step ${current.step} `;
  const retriesText =
    current.retry_count === 0 ? "" : ` after ${current.retry_count} consecutive retries`;
  const subStepText = current.sub_step === null ? "" : ` at ${current.sub_step}`;

  return `${stepText}${name} failed${retriesText}${subStepText}: ${oneLine(extractReason(block.question))}`;
}

/** The reason in parentheses of the question that the engine asks about a failed step. */
const extractReason = (question: string): string =>
  /\((.*)\)\. What now\?$/s.exec(question)?.[1] ?? question;

type SessionEnd = Extract<Entry, { event: "run_paused" | "run_stopped" | "run_completed" }>;

/** How a session ended. The format allows four reasons; details are in the notes. */
export function buildSession(
  entry: SessionEnd,
  { step, name, sub_step }: Pick<CurrentStep, "step" | "name" | "sub_step">,
): LastSession {
  const subStepText = sub_step === null ? "" : ` — SubStep ${sub_step.replace(" — ", " ")}`;
  const reason = reasonFor(entry);
  const notes =
    reason === "session boundary"
      ? "Decompose complete, implementation ready"
      : sessionNotes(entry);

  return {
    date: entry.ts.slice(0, 10),
    ended_at: `Step ${step} ${name}${subStepText}`,
    reason,
    notes,
  };
}

function sessionNotes(entry: SessionEnd): string {
  if (entry.event === "run_completed") return "Every step is done";
  const { reason_code, detail } = entry;
  const meaning = isReasonCode(reason_code)
    ? reasons[reason_code].meaning.replace(/\.$/, "")
    : reason_code;

  return `${meaning}${detail === undefined ? "" : `: ${oneLine(detail)}`}`;
}

function reasonFor({ event, reason_code }: SessionEnd): (typeof sessionReasons)[number] {
  if (event === "run_completed") return "completed step";
  if (reason_code === "session_boundary") return "session boundary";
  return limitReasons.includes(reason_code) ? "context limit" : "user paused";
}

/** The format has no reason of its own for these; a limit is the nearest. */
const limitReasons: readonly string[] = [
  "budget_threshold_reached",
  "provider_limit_reached",
  "provider_failed",
  "cost_cap_reached",
];

/** A decision on how the flow was chosen, if a person chose it. */
export function describeFlowChoice({ options, flow }: EventOf<"run_drafted">): readonly string[] {
  const chosen = Object.hasOwn(options, "chosen") ? options["chosen"] : undefined;
  return typeof chosen === "string" && chosen !== "" ? [`Flow: ${flow.flow}, ${chosen}`] : [];
}
