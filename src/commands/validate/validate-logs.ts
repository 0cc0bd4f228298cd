// validate-logs: validates formats that are read line by line, in one pass, at any length.

import { basename, dirname, join } from "node:path";
import type { LineRules, Violation, Violations } from "../../documents/line-rules.ts";
import { openViolations } from "../../documents/line-rules.ts";
import { openPortfolioCheckpointRules, openPortfolioEventRules } from "../../portfolio/views/portfolio-rules.ts";
import { forbiddenPhrases, requiredPhrases } from "../../playbooks/quality/views/run-state-docs.ts";
import { openRunStateRules, type RunStateFacts } from "../../playbooks/quality/views/run-state-rules.ts";
import { openTraceRules } from "../../playbooks/roadmap/views/trace-rules.ts";
import { replayFrom } from "../../journal/replay.ts";
import { JournalFailure } from "../../journal/failure.ts";
import { genesis } from "../../journal/line.ts";
import { countBugHeadings } from "../../playbooks/quality/steps/count-documents.ts";
import type { LogFormat } from "../../playbooks/contract/formats.ts";
import { type LinesRead, readLines } from "./validate-lines.ts";
import { bytesOf, isUnread, withOpened, type Unread } from "./validate-open.ts";

/** A rule that could not be applied, and why. */
export type Unchecked = { readonly rule: string; readonly why: string };

export type LogJudged = {
  /** Found while reading: only its lines distinguish a run's log from a cycle's. */
  readonly format: string;
  readonly violations: readonly Violation[];
  /** Violations beyond those listed. */
  readonly more: number;
  readonly isValid: boolean;
  readonly unchecked: readonly Unchecked[];
};

const plainRules: Readonly<Record<Exclude<LogFormat, "quality run_state">, (violations: Violations) => LineRules>> = {
  "portfolio events": openPortfolioEventRules,
  "portfolio checkpoints": openPortfolioCheckpointRules,
  trace: openTraceRules,
};

export async function judgeLog(format: LogFormat, fd: number, path: string): Promise<LogJudged> {
  const violations = openViolations();
  if (format === "quality run_state") return judgeRunState(fd, path, violations);
  const read = readLines(fd, plainRules[format](violations));
  reportChange(read, violations, "changed");
  return judged(format, violations, []);
}

function judged(format: string, violations: Violations, unchecked: readonly Unchecked[]): LogJudged {
  return { format, violations: violations.list(), more: violations.unlistedCount(), isValid: violations.errors() === 0, unchecked };
}

/** Reports a file that changed while it was read. A log only grows. */
function reportChange({ lines, grewBytes, isUnended }: LinesRead, violations: Violations, shrunkRule: string): void {
  const line = Math.max(lines, 1);
  if (grewBytes < 0) violations.add(line, shrunkRule, `lost ${-grewBytes} bytes while it was read; a log is only added to`);
  if (grewBytes <= 0) return;
  const rest = isUnended ? "; its last line was being written and is not judged" : "";
  violations.add(
    line,
    "changed",
    `grew by ${grewBytes} bytes while it was read, and is judged as it was at the beginning${rest}`,
    "warning",
  );
}

async function judgeRunState(fd: number, path: string, violations: Violations): Promise<LogJudged> {
  const rules = openRunStateRules(violations);
  reportChange(readLines(fd, rules), violations, "RS5");
  const facts = rules.facts();
  const unchecked: Unchecked[] = [];
  const { findEdits: editedSince } = await import("./validate-history.ts"); // other logs need neither git nor a journal
  const edited = await editedSince(path, fd, facts);
  if ("why" in edited) unchecked.push({ rule: "RS5", why: edited.why });
  else for (const { line, message } of edited.edits) violations.add(line, "RS5", message);
  const bugs = await bugsBeside(path, facts);
  if (bugs !== null && "why" in bugs) unchecked.push({ rule: "RS-end", why: bugs.why });
  if (bugs !== null && "found" in bugs && facts.end !== null && bugs.found !== facts.bugsMdCount)
    violations.add(
      facts.end.line,
      "RS-end",
      `run_end says success with a bugs_md_count of ${facts.bugsMdCount}, and BUGS.md has ${bugs.found} headings ### BUG-`,
    );
  for (const { page, line, pattern: says, phrase: wording } of facts.level === "run" ? requiredPhrases(facts.docs) : []) {
    const text = await pageBeside(path, page);
    if (typeof text !== "string") unchecked.push({ rule: "RS-docs", why: text.why });
    else if (!says.test(text)) violations.add(line, "RS-docs", `the log says so, and ${page} beside it does not say "${wording}"`);
  }
  for (const { page, pattern: says, phrase: wording } of facts.level === "run" && basename(path) === "run_state.jsonl"
    ? forbiddenPhrases(facts.docs)
    : []) {
    const text = await pageBeside(path, page);
    if (typeof text === "string" && says.test(text))
      violations.add(
        1,
        "RS-docs",
        `${page} beside it says "${wording}", and the log has no documentation_state: it says that there was documentation`,
      );
  }
  return judged(facts.level === "run" ? "quality run_state" : "calibration run_state", violations, unchecked);
}

/** A page that this log's run wrote; an older log's run has other pages, or none. */
async function pageBeside(path: string, page: string): Promise<string | { readonly why: string }> {
  if (basename(path) !== "run_state.jsonl") return { why: `this is no run's newest log, so its ${page} is not known` };
  const folder = dirname(path);
  const read = await withOpened(join(folder, page), folder, (fd) => ({ text: bytesOf(fd, bugsBytesMax).toString("utf8") }));
  return isUnread(read) ? { why: whyNotBeside(page, read) } : read.text;
}

const whyNotBeside = (page: string, { format, message }: Unread): string =>
  `the ${page} beside it ${format === "missing" ? "is not there" : message}`;

const bugsBytesMax = 8 * 1_048_576;

/** How many bugs BUGS.md names, if a success claims to have counted them; null if nothing is claimed. */
async function bugsBeside(
  path: string,
  { level, end, bugsMdCount: bugsCounted }: RunStateFacts,
): Promise<{ found: number } | { why: string } | null> {
  if (level !== "run" || end?.status !== "success" || bugsCounted === null) return null;
  const folder = dirname(path);
  if (basename(path) !== "run_state.jsonl") return { why: "this is no run's newest log, so the BUGS.md that it counted is not known" };
  const read = await withOpened(join(folder, "BUGS.md"), folder, (fd, { size }) => {
    if (size > bugsBytesMax) return { why: `BUGS.md has ${size} bytes, at most ${bugsBytesMax} are read` };
    return { found: countBugHeadings(bytesOf(fd, bugsBytesMax).toString("utf8")) };
  });
  return isUnread(read) ? { why: whyNotBeside("BUGS.md", read) } : read;
}

/** A journal by its chain: every line valid, numbered, and linked to the one before. */
export function judgeJournal(fd: number): LogJudged {
  const violations = openViolations();
  try {
    const { end, torn } = replayFrom(fd, genesis, () => undefined);
    if (end.seq === 0)
      violations.add(1, "chain", torn === null ? "holds no event" : `holds no event: ${torn.bytes} bytes that are none (${torn.detail})`);
    else if (torn !== null)
      violations.add(
        end.seq + 1,
        "torn",
        `${torn.bytes} bytes after the last event are none: a write that is under way, or was cut short`,
        "warning",
      );
  } catch (error) {
    if (!(error instanceof JournalFailure)) throw error;
    const { trouble } = error;
    const line = trouble.kind === "journal_damaged" ? trouble.line : null;
    violations.add(line ?? 1, "chain", trouble.kind === "journal_damaged" ? trouble.detail : error.message);
  }
  return judged("journal", violations, []);
}
