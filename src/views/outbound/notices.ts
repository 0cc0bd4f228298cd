// notices: decides what an absent person is notified of, from one event and the run's state after
// it.
//
// Invariants:
//   N1. A notice's id follows from the journal: the same fact has the same id, however often it is
//       read.
//   N2. A question is reported once: the pause that follows from it has the question's id, and
//       reports it if a crash prevented that.

import type { NoticeKind } from "../../contracts/config.ts";
import type { Entry, EventOf } from "../../contracts/event.ts";
import { isReasonCode, reasons } from "../../contracts/reason.ts";
import { isPausedFor, listOpenQuestions } from "../../core/selectors.ts";
import type { RunView } from "../../core/state.ts";
import { buildBudgetView, isNearLimit } from "../budget-view.ts";
import { describeProof, formatVerdict } from "../sentences/verdict-sentences.ts";
import {
  formatAmount,
  formatNumber,
  describeChoices,
  describeCursor,
  oneLine,
  plural,
  formatPercent,
} from "../wording.ts";

export type Notice = {
  readonly id: string;
  readonly kind: NoticeKind;
  readonly run: string;
  readonly project: string;
  readonly at: string;
  readonly reason: string;
  /** One line. */
  readonly title: string;
  /**
   * The whole notice in a few lines, the title first; it contains text of agents and of the
   * repository.
   */
  readonly text: string;
  /** The command that continues from here. */
  readonly next: string;
};

const textCharsMax = 700;
const titleCharsMax = 120;
const projectCharsMax = 60;
const questionCharsMax = 400;
/** How many notices a digest names. */
const digestMax = 20;

/**
 * Pauses for a limit. Any other pause is a failure if its reason is one, else it needs a person.
 */
const limitReasons: ReadonlySet<string> = new Set([
  "provider_limit_reached",
  "budget_threshold_reached",
  "phase_cap_reached",
  "run_cap_reached",
  "retry_limit_reached",
]);
/**
 * The person who pauses a run knows it, and a run that another process has taken over is reported
 * by that process.
 */
const silentReasons: ReadonlySet<string> = new Set(["operator_paused", "lease_lost", "run_locked"]);
/** Reasons that count as failures, but whose run goes on once a person has looked. */
const waitingReasons: ReadonlySet<string> = new Set([
  "oracle_changed",
  "confidence_drop_requires_handoff",
  "scope_violation_blocked",
  "secret_in_changes",
]);

/** `command`: the command that continues from here. */
type NoticeParts = Pick<Notice, "id" | "kind" | "title" | "text"> & { readonly command: string };

export function buildNotices(entry: Entry, run: RunView, project: string): readonly Notice[] {
  const parts = listNoticeParts(entry, run);
  return parts.map((noticeParts) => toNotice(noticeParts, entry, run, project));
}

function listNoticeParts(entry: Entry, run: RunView): readonly NoticeParts[] {
  const id = String(entry.seq);
  switch (entry.event) {
    case "block_opened":
      return [composeQuestion(entry)];
    case "run_completed": {
      const title = formatVerdict(entry.verdict);
      const text = describeProof(entry.verdict, entry.gaps);
      return [{ id, kind: "ended", title, text, command: "report" }];
    }
    case "run_stopped": {
      const text = describeEntryReason(entry);
      return [{ id, kind: "ended", title: "stopped for good", text, command: "report" }];
    }
    case "run_paused":
      return composePause(entry, run);
    case "phase_failed": {
      const title = `${describeCursor(entry.walk)} failed`;
      const text = oneLine(entry.because ?? entry.reason_code);
      return [{ id, kind: "failed", title, text, command: "report" }];
    }
    case "turn_ended":
      return listNearLimits(run).map(composeNearLimit);
    default:
      return [];
  }
}

function composePause(
  entry: EventOf<"run_paused"> & Pick<Entry, "seq" | "reason_code">,
  run: RunView,
): readonly NoticeParts[] {
  const openBlock = Object.values(run.blocks).find((block) => isPausedFor(run, block));
  if (openBlock !== undefined) return [composeQuestion(openBlock)]; // N2
  if (silentReasons.has(entry.reason_code)) return [];

  const kind = classifyPause(entry.reason_code);
  const title = kind === "needs_you" ? "waits for you" : "paused";
  const text = describeEntryReason(entry);
  return [{ id: String(entry.seq), kind, title, text, command: "status" }];
}

function composeNearLimit({ dimension, limit, used }: NearLimit): NoticeParts {
  return {
    id: `${dimension}:${limit}`,
    kind: "limit",
    title: `${formatPercent(used)} of the ${dimension} budget is used`,
    text: `${formatAmount(dimension, limit)} is the limit; the run pauses before a turn that might not fit.`,
    command: "budget",
  };
}

function toNotice(
  { id, kind, title: headline, text, command }: NoticeParts,
  entry: Entry,
  { drafted }: RunView,
  projectName: string,
): Notice {
  const run = drafted.run_id;
  const project = oneLine(projectName, projectCharsMax);
  const title = oneLine(`${project}: ${headline}`, titleCharsMax);
  const next = `autopilot ${command} --run ${run}`;
  const lines = [title, oneLine(drafted.objective.goal), ...text.split("\n"), next];

  return {
    run,
    project,
    at: entry.ts,
    reason: entry.reason_code,
    id: `${run}:${id}`, // N1
    kind,
    title,
    text: clipLines(lines),
    next,
  };
}

type NearLimit = { readonly dimension: string; readonly limit: number; readonly used: number };

function listNearLimits(run: RunView): readonly NearLimit[] {
  const { ratios, limits, soft_ratio } = buildBudgetView(run);
  const near = Object.entries(ratios).filter(([, used]) => isNearLimit(used, soft_ratio));
  return near.map(([dimension, used]) => {
    const limit = limits[dimension as keyof typeof limits] ?? 0;
    return { dimension, limit, used };
  });
}

function classifyPause(code: string): NoticeKind {
  if (limitReasons.has(code)) return "limit";
  if (waitingReasons.has(code)) return "needs_you";
  return isReasonCode(code) && reasons[code].result === "FAIL" ? "failed" : "needs_you";
}

function composeQuestion({
  block,
  question,
  options,
}: Pick<EventOf<"block_opened">, "block" | "question" | "options">): NoticeParts {
  const line = oneLine(question, questionCharsMax);
  const hasOptions = Object.keys(options).length > 0;
  const text = hasOptions ? `${line}\nAnswers: ${describeChoices(options)}` : line;
  return {
    id: block,
    kind: "needs_you",
    title: "a question waits for you",
    text,
    command: "inbox",
  };
}

function describeEntryReason({
  reason_code,
  detail,
}: {
  readonly reason_code: string;
  readonly detail?: string | undefined;
}): string {
  const meaning = isReasonCode(reason_code) ? reasons[reason_code].meaning : reason_code;
  return detail === undefined || detail === ""
    ? meaning
    : `${meaning} ${oneLine(detail, questionCharsMax)}`;
}

/** The notice without words of the goal, of agents or of the repository. */
export function toBriefNotice(notice: Notice): Notice {
  const title = `${notice.run}: ${kindLabels[notice.kind]}`;
  const meaning =
    isReasonCode(notice.reason) && notice.reason !== "ok" ? [reasons[notice.reason].meaning] : [];
  return { ...notice, project: "", title, text: [title, ...meaning, notice.next].join("\n") };
}

const kindLabels: Readonly<Record<NoticeKind, string>> = {
  needs_you: "it waits for you",
  ended: "it has ended",
  limit: "a limit is near or reached",
  failed: "something failed",
};

/** Several notices as one. The most pressing comes first, and its kind is the kind of the whole. */
export function combineNotices(notices: readonly Notice[]): Notice {
  const order: readonly NoticeKind[] = ["needs_you", "failed", "limit", "ended"];
  const sorted = notices.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const [first] = sorted;
  const lastNotice = notices.at(-1);
  if (first === undefined || lastNotice === undefined) throw new RangeError("a digest of nothing");
  const counts = order.flatMap((kind) => {
    const count = notices.filter((notice) => notice.kind === kind).length;
    return count === 0 ? [] : [`${count} ${kind.replace("_", " ")}`];
  });

  const moreLines =
    sorted.length > digestMax ? [`… and ${formatNumber(sorted.length - digestMax)} more`] : [];
  const title = oneLine(`${plural(notices.length, "notice")}: ${counts.join(", ")}`, titleCharsMax);
  const text = [title, ...sorted.slice(0, digestMax).flatMap(digestLines), ...moreLines].join("\n");

  return {
    ...first,
    id: `${first.id}+${notices.length - 1}`,
    at: lastNotice.at,
    title,
    text,
    next: "autopilot inbox",
  };
}

/** A notice that needs a person is shown whole; of any other only its title and command. */
function digestLines({ kind, title, text, next }: Notice): readonly string[] {
  if (kind !== "needs_you") return ["", title, `  ${next}`];
  const [, ...lines] = text.split("\n"); // the first line is the title
  return ["", title, ...lines.map((line) => `  ${line}`)];
}

/**
 * Tells which notices an event answers: those of a question that is answered, or of a pause that is
 * over. Null if the event answers none.
 */
export function answeredBy(entry: Entry, run: RunView): ((notice: Notice) => boolean) | null {
  if (!["block_answered", "run_resumed", "run_stopped", "run_completed"].includes(entry.event)) {
    return null;
  }

  const { run_id } = run.drafted;
  const open = new Set(listOpenQuestions(run).map(({ block }) => `${run_id}:${block}`));
  return (notice) => notice.run === run_id && notice.kind === "needs_you" && !open.has(notice.id);
}

/**
 * Joins the lines, cut to `textCharsMax`. The last line is a command to copy, so it is never cut.
 */
function clipLines(lines: readonly string[]): string {
  const characters = Array.from(lines.slice(0, -1).join("\n"));
  const cut =
    characters.length <= textCharsMax
      ? characters.join("")
      : `${characters.slice(0, textCharsMax - 1).join("")}…`;

  return `${cut}\n${lines.at(-1) ?? ""}`;
}
