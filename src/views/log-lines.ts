// log-lines: renders each journal event as one sentence and each live event as one line. A new
// event without its sentence does not compile.

import type { Entry, Event, EventName, EventOf } from "../contracts/event.ts";
import type { Usage } from "../contracts/budget.ts";
import { couldNotRun, type CheckResult } from "../contracts/evidence.ts";
import type { LiveEvent } from "../contracts/live-event.ts";
import { unreachable } from "../kit/unreachable.ts";
import { describeForkChanges } from "./facts/fork-origin.ts";
import { describeProof, formatVerdict } from "./sentences/verdict-sentences.ts";
import {
  formatAmount,
  formatCompactDuration,
  describeAttempt,
  describeChoices,
  formatDuration,
  formatNumber,
  firstFew,
  formatMoney,
  oneLine,
  plural,
  describeCursor,
} from "./wording.ts";

/**
 * The event as text. If it ends with quoted text, the quote's own full stop replaces ours:
 * `…done..` becomes `…done.`
 */
export const describeRunEvent = (event: Event): string =>
  (sentences[event.event] as (event: Event) => string)(event).replace(/([.?!…])\.$/, "$1");

/**
 * The event as a line of `autopilot log`: number, time, sentence, and the actor unless it was the
 * runner.
 */
export function formatLogLine(entry: Entry): string {
  const actorText = entry.actor === "system" ? "" : ` [${oneLine(entry.actor)}]`;
  return `${String(entry.seq).padStart(5)}  ${entry.ts.slice(0, 19).replace("T", " ")}  ${describeRunEvent(entry)}${actorText}`;
}

/** A shorter line: the time of day where the reader is, and no number. */
export function formatShortLogLine(entry: Entry, timeOf: (ts: string) => string): string {
  const actorText =
    entry.actor === "system" || entry.actor.startsWith("agent:")
      ? ""
      : ` [${oneLine(entry.actor)}]`;

  return `${timeOf(entry.ts)}  ${describeRunEvent(entry)}${actorText}`;
}

/**
 * Whether an event reports a result. Beginnings, sessions, routes and steps that changed nothing
 * are only book-keeping.
 */
export function isMilestone(event: Event): boolean {
  switch (event.event) {
    case "step_started":
    case "session_opened":
    case "route_taken":
    case "step_skipped":
    case "artifacts_surveyed":
    case "run_opened":
      return false;
    case "step_completed":
      return (event.checks ?? []).length > 0 || event.facts["landed"] === true;
    case "claims_checked":
      return event.claims.some(({ verdict }) => verdict === "false");
    case "oracles_judged":
      return event.changes.length > 0;
    case "phase_started":
    case "phase_completed":
      return !/^(before|after)\./.test(event.walk);
    default:
      return true;
  }
}

const detailText = (detail: string | undefined): string =>
  detail === undefined || detail === "" ? "" : `: ${oneLine(detail)}`;
/** `README.md (outside_scope: outside the scope)` says it twice. */
const withoutKind = (detail: string | undefined): string | undefined =>
  detail?.replaceAll(/ \((?:outside_scope|outside_layer): /g, " (");
const reasonText = (reason: string | undefined): string =>
  reason === undefined ? "" : ` (${reason.replaceAll("_", " ")})`;
const endReasonText = (event: {
  readonly because?: string | undefined;
  readonly pause?: string | undefined;
}): string => reasonText(event.because ?? event.pause);

function describeUsage({ tokens, minutes, usd, source }: Usage): string {
  const price = usd === undefined ? "" : `, ${formatMoney(usd)}`;
  return `${formatAmount("tokens", tokens)}, ${formatAmount("minutes", minutes)}${price}${source === "estimated" ? " (estimated)" : ""}`;
}

function describeChecks(checks: readonly CheckResult[] | undefined): string {
  if (checks === undefined || checks.length === 0) return "";
  const red = checks.filter(({ status }) => status !== "passed");
  if (red.length === 0) return `; ${plural(checks.length, "check")} passed`;
  const failing = red.filter((result) => !couldNotRun(result));

  return `${listChecks("failing", failing)}${listChecks("can't run here", red.filter(couldNotRun))}`;
}

/** `; failing: npm test (failed, 1.2 s)`; empty without checks. */
function listChecks(title: string, results: readonly CheckResult[]): string {
  if (results.length === 0) return "";
  const names = results.map(
    ({ check, status, duration_ms }) =>
      `${check.command} (${status.replace("_", " ")}, ${formatDuration(duration_ms)})`,
  );

  return `; ${title}: ${firstFew(names, 3)}`;
}

/** Whether there were checks and none of them could run: then nothing was proved. */
export const areAllIdle = (checks: readonly CheckResult[] | undefined): boolean =>
  checks !== undefined && checks.length > 0 && checks.every(couldNotRun);

const sentences: { readonly [N in EventName]: (event: EventOf<N>) => string } = {
  run_drafted: ({ run_id, flow, objective }) =>
    `Created ${run_id} (${flow.flow}): ${oneLine(objective.goal)}`,
  preview_acknowledged: ({ ack }) => `Preview confirmed (${ack.slice(0, 12)}).`,
  run_started: () => "Started.",
  run_opened: ({ opening, owner, isolation }) => {
    const action = opening === 1 ? "began to work on it" : `resumed it (${ordinal(opening)} time)`;
    return `Process ${owner.pid} on ${oneLine(owner.host)} ${action}, isolation ${isolation.level} (${isolation.mechanism}).`;
  },
  journal_repaired: ({ cut_bytes, at_byte }) =>
    `Removed an incomplete last journal line (${formatNumber(cut_bytes)} bytes at ${formatNumber(at_byte)}); nothing recorded was lost.`,
  run_paused: ({ reason_code, detail }) => `Paused (${reason_code})${detailText(detail)}.`,
  run_resumed: ({ now }) => `Resumed${now === true ? ", cooldown skipped" : ""}.`,
  run_stopped: ({ reason_code, detail }) => `Stopped (${reason_code})${detailText(detail)}.`,
  run_completed: ({ verdict, gaps }) =>
    `Completed, ${formatVerdict(verdict)}. ${describeProof(verdict, gaps)}`,
  document_differed: ({ path, field, found, kept, because }) =>
    `${path}: ${field} said ${found}, ${kept} holds: ${because}`,
  run_adopted: ({ root }) => `The run was adopted from elsewhere, in ${oneLine(root)}.`,
  run_forked: (event) =>
    `Forked from ${event.run} after its line ${formatNumber(event.at)}${describeForkChanges(event)}. Earlier costs aren't counted.`,
  policy_changed: ({ path, adopted }) =>
    `${oneLine(path)} changed; this run ${adopted ? "uses the new one now" : "keeps its copy"}.`,

  control_requested: ({ control, now, detail }) =>
    `${capitalize(control)} requested${now ? " (now)" : ""}${detailText(detail)}.`,
  oracles_approved: ({ content, detail }) =>
    `Changed tests accepted (${content.slice(0, 12)})${detailText(detail)}.`,
  tests_held: ({ paths }) =>
    `Everything passes with the changed tests; look at them before you merge: ${firstFew(paths)}.`,
  tests_put_back: ({ commit, paths }) =>
    `Put the original back (${commit.slice(0, 10)}): ${firstFew(paths)}.`,
  oracles_judged: ({ changes }) => {
    if (changes.length === 0) return "Tests unchanged.";
    const files = changes.map(({ path, how, allowed }) => {
      const consequence = allowed === null ? "; the original is used for checking" : "";
      return `${oneLine(path)} (${how}${consequence})`;
    });

    return `${plural(changes.length, "protected file")} changed: ${firstFew(files)}.`;
  },
  claims_checked: ({ claims }) => {
    const falseClaims = claims
      .filter(({ verdict }) => verdict === "false")
      .map(({ text }) => oneLine(text));
    const falseText = falseClaims.length === 0 ? "" : `; false: ${firstFew(falseClaims)}`;
    return `Checked ${plural(claims.length, "statement")} of the agent${falseText}.`;
  },
  review_noted: ({ commit, notes }) => {
    const lines = notes.map(
      ({ path, line, text }) => `${oneLine(path)}:${line} ${oneLine(text, 80)}`,
    );

    return `${plural(notes.length, "note")} on the change up to ${commit.slice(0, 10)}: ${firstFew(lines, 3)}.`;
  },
  limit_raised: ({ scope, dimension, from, to, detail }) => {
    const fromText = from === undefined ? "" : ` from ${formatNumber(from)}`;
    return `The ${scope}'s ${dimension} limit was raised${fromText} to ${formatNumber(to)}${detailText(detail)}.`;
  },

  pull_request_intended: ({ host, project, branch, into, commit, draft }) => {
    const place = `${oneLine(host)}/${oneLine(project)}`;
    const merge = `${oneLine(branch)} (${commit.slice(0, 10)}) into ${oneLine(into)}`;
    return `Opening a ${draft ? "draft " : ""}pull request at ${place}: ${merge}.`;
  },
  pull_request_opened: ({ url, draft, found }) =>
    `Pull request ${found ? "found" : "opened"}${draft ? " as a draft" : ""}: ${oneLine(url)}.`,
  pull_request_taken_up: ({ run, evidence }) =>
    `${run} works on ${plural(evidence.length, "thing")} found at the pull request.`,
  pull_request_settled: ({ run, commit, detail }) =>
    commit === null
      ? `Nothing of ${run} was pushed${detailText(detail)}.`
      : `Pushed ${commit.slice(0, 10)} of ${run} to the pull request.`,
  pull_request_ended: ({ how }) => `The pull request was ${how}.`,
  evidence_received: ({ source, items }) =>
    `${plural(items.length, "thing")} to work on from ${oneLine(source)}, quoted as data.`,

  phases_read: ({ phases }) => {
    const names = phases.map(({ id, name }) => (name === undefined ? id : `${id} ${name}`));
    return `Read ${plural(phases.length, "phase")}: ${firstFew(names)}.`;
  },
  artifacts_surveyed: ({ gone, proved, lost = [] }) => {
    const missing = [...gone, ...lost.map(({ walk, step }) => `${walk}/${step}`)];
    const missingText = missing.length === 0 ? "" : `; missing: ${firstFew(missing)}`;
    return `${plural(proved.length, "earlier result")} still hold${proved.length === 1 ? "s" : ""}${missingText}.`;
  },
  phase_started: ({ walk }) => `${capitalize(describeCursor(walk))} started.`,
  phase_reopened: ({ walk, visit, because: why }) =>
    `${capitalize(describeCursor(walk))} reopened (${ordinal(visit)} pass)${reasonText(why)}.`,
  phases_rewound: ({ walk, step, to }) =>
    `${step} of ${describeCursor(walk)} sent the run back to phase ${oneLine(to)}.`,
  phase_skipped: ({ walk, because: why }) =>
    `${capitalize(describeCursor(walk))} was skipped${reasonText(why)}.`,
  phase_completed: (event) =>
    `${capitalize(describeCursor(event.walk))} done${endReasonText(event)}.`,
  phase_failed: (event) =>
    `${capitalize(describeCursor(event.walk))} failed${endReasonText(event)}.`,
  closing_completed: (event) =>
    `${capitalize(describeCursor(event.walk))} done${endReasonText(event)}.`,
  closing_failed: (event) =>
    `${capitalize(describeCursor(event.walk))} failed${endReasonText(event)}.`,

  step_started: ({ attempt, try: tries, need }) => {
    const retryText = tries > 1 ? `, retry ${tries - 1}` : "";
    const needText = need === undefined ? "" : ` (up to ${formatAmount("tokens", need.tokens)})`;
    return `Started ${describeAttempt(attempt)}${retryText}${needText}.`;
  },
  agent_switched: ({ role, from, to, until }) => {
    const limitText =
      until === undefined ? "" : `, which is at its provider's limit until ${oneLine(until)}`;
    return `${oneLine(to)} takes over as ${oneLine(role)} from ${oneLine(from)}${limitText}.`;
  },
  session_opened: ({ attempt, agent }) =>
    `${oneLine(agent)} opened a session for ${describeAttempt(attempt)}.`,
  return_asked_again: ({ attempt, ask, errors }) =>
    `The result of ${describeAttempt(attempt)} doesn't match its schema; asking again (${ask}): ${firstFew(errors, 3)}.`,
  turn_ended: ({ attempt, agent, stop, promised, confidence, usage }) => {
    const stopText = stop === "end_turn" ? "" : ` (${oneLine(stop)})`;
    const promiseText = promised ? "; says it's done" : "";
    const confidenceText = confidence === null ? "" : `; confidence ${formatNumber(confidence)}`;
    const place = `${describeAttempt(attempt)}${stopText}`;

    return `${oneLine(agent)} ended its turn at ${place}: ${describeUsage(usage)}${promiseText}${confidenceText}.`;
  },
  changes_applied: ({ attempt, commit, paths, not_applied }) => {
    const ignoredText =
      not_applied === 0 ? "" : `; ${formatNumber(not_applied)} git-ignored, not committed`;
    return `Commit ${commit.slice(0, 10)} of ${describeAttempt(attempt)}: ${firstFew(paths)}${ignoredText}.`;
  },
  step_completed: ({ attempt, checks, detail, asks }) =>
    asks === undefined
      ? describePassed(attempt, checks, detail)
      : `${capitalize(describeAttempt(attempt))} waits for an answer${detailText(detail)}.`,
  step_failed: ({ attempt, reason_code, checks, detail }) =>
    `${capitalize(describeAttempt(attempt))} failed, ${reason_code}${describeChecks(checks)}${detailText(detail)}.`,
  step_interrupted: ({ attempt, by, paths = [], detail, usage }) => {
    const isInDetail = detail?.includes(paths[0] ?? "") === true;
    const pathsText = paths.length === 0 || isInDetail ? "" : `: ${firstFew(paths)}`;
    return `${capitalize(describeAttempt(attempt))} ${describeInterruptedWork(by, usage)}${pathsText}${detailText(withoutKind(detail))}.`;
  },
  attempt_settled: ({ attempt, remedy, why, usage }) => {
    const chargeText =
      usage === undefined
        ? ""
        : `; its use was lost with it, so the estimate of ${formatAmount("tokens", usage.tokens)} is charged`;

    return `Recovered ${describeAttempt(attempt)} (${remedy}): ${oneLine(why)}${chargeText}.`;
  },
  step_skipped: ({ walk, step }) => `${step} of ${describeCursor(walk)} was skipped.`,
  step_retried: ({ walk, step, n }) =>
    `Retrying ${step} of ${describeCursor(walk)}${n === 0 ? "" : ` (${n})`}.`,
  route_taken: (event) =>
    `${event.step} of ${describeCursor(event.walk)} → ${event.to}${reasonText(event.because ?? event.pause ?? event.rest)}.`,

  tasks_read: ({ attempt, waves, left }) => {
    const tasks = `${plural(waves.flat().length, "task")} in ${plural(waves.length, "batch", "batches")}`;
    return `${tasks} for ${describeAttempt(attempt)}${left.length === 0 ? "" : `; for you: ${firstFew(left)}`}.`;
  },
  task_completed: (event) =>
    `${capitalize(describeCursor(event.walk))} done${endReasonText(event)}.`,
  task_failed: (event) =>
    `${capitalize(describeCursor(event.walk))} failed${endReasonText(event)}.`,
  task_skipped: ({ walk, because: why }) =>
    `${capitalize(describeCursor(walk))} was skipped${reasonText(why)}.`,
  wave_completed: (event) =>
    `${capitalize(describeCursor(event.walk))} done${endReasonText(event)}.`,
  wave_failed: (event) =>
    `${capitalize(describeCursor(event.walk))} failed${endReasonText(event)}.`,

  block_opened: ({ block, question, options }) => {
    const choicesText = Object.keys(options).length === 0 ? "" : ` [${describeChoices(options)}]`;
    return `Question (${oneLine(block)}): ${oneLine(question)}${choicesText}`;
  },
  block_answered: ({ block, answer }) => `${oneLine(block)} answered: ${oneLine(answer)}.`,
  circuit_breaker_opened: ({ because: why, cooldown_until }) =>
    `Circuit breaker opened (${why.replaceAll("_", " ")}); cooldown until ${cooldown_until}.`,
  circuit_breaker_closed: () => "Circuit breaker closed.",
};

/**
 * What became of an interrupted step's work. With usage it was interrupted in its turn, which is
 * charged with this event and leaves unfinished changes. Without usage its turn had been paid
 * before, and its work is kept.
 */
function describeInterruptedWork(
  by: EventOf<"step_interrupted">["by"],
  usage: Usage | undefined,
): string {
  if (by !== "operator") {
    return `${by === "budget" && usage === undefined ? "waits" : "was discarded"} (${by})`;
  }

  if (usage === undefined) return "was cut short on request";
  return `was cut short on request: ${describeUsage(usage)}; what it had changed is a patch in aside/ of the run's folder`;
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const ordinal = (n: number): string =>
  `${n}${n % 100 >= 11 && n % 100 <= 13 ? "th" : (({ 1: "st", 2: "nd", 3: "rd" } as const)[n % 10] ?? "th")}`;

/**
 * Not every completed step "passed": a step of the runner's that only looked for something reports
 * what it found.
 */
function describePassed(
  attempt: string,
  checks: EventOf<"step_completed">["checks"],
  detail = "",
): string {
  const name = capitalize(describeAttempt(attempt));
  if (areAllIdle(checks)) {
    return `${name}: none of ${plural(checks?.length ?? 0, "check")} could run${describeChecks(checks)}${detailText(detail)}.`;
  }

  const isFinding = (checks ?? []).length === 0 && detail !== "";
  return isFinding
    ? `${name}${detailText(detail)}.`
    : `${name} passed${describeChecks(checks)}${detailText(detail)}.`;
}

const lineCharsMax = 120;
const titleCharsMax = 60;

/** A live event as a line; null if it has no text to show. */
export function formatLiveLine(signal: LiveEvent): string | null {
  switch (signal.signal) {
    case "said":
    case "thought": {
      const text = oneLine(signal.text, lineCharsMax);
      if (text === "") return null;
      return signal.signal === "said" ? `  “${text}”` : `  … ${text}`;
    }
    case "tool":
      return toolLine(signal);
    case "checking":
      return signal.title === signal.command
        ? `  · checking ${oneLine(signal.command, lineCharsMax)}`
        : `  · checking ${oneLine(signal.title, titleCharsMax)}: ${oneLine(signal.command, lineCharsMax)}`;
    case "check_running": {
      const line = oneLine(signal.line, lineCharsMax);
      return `  · ${oneLine(signal.title, titleCharsMax)}, ${formatCompactDuration(signal.elapsedMs)}${line === "" ? "" : `: ${line}`}`;
    }
    case "usage":
      return `  · ${formatNumber(signal.tokens)} tokens so far in ${describeAttempt(signal.attempt)}`;
    default:
      return unreachable(signal);
  }
}

function toolLine({ status, title }: Extract<LiveEvent, { signal: "tool" }>): string {
  const suffix = status === "" ? "" : ` (${oneLine(status, 20)})`;
  return `  ${status === "failed" ? "✗" : "·"} ${oneLine(title, lineCharsMax)}${suffix}`;
}
