// validate-logs: validates formats that are read line by line, in one pass, at any length.

import { basename, dirname, join } from "node:path";
import type { LineRules, Violation, Violations } from "../../documents/line-rules.ts";
import { openViolations } from "../../documents/line-rules.ts";
import {
  openPortfolioCheckpointRules,
  openPortfolioEventRules,
} from "../../portfolio/views/portfolio-rules.ts";
import {
  listForbiddenPhrases,
  listRequiredPhrases,
} from "../../playbooks/quality/views/quality-log-docs-rules.ts";
import {
  openQualityLogRules,
  type QualityLogFacts,
} from "../../playbooks/quality/views/quality-log-rules.ts";
import { openTraceRules } from "../../playbooks/roadmap/views/trace-rules.ts";
import { replayFrom } from "../../journal/replay.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import { genesis } from "../../journal/line.ts";
import { countBugHeadings } from "../../playbooks/quality/steps/count-in-documents.ts";
import type { LogFormat } from "../../playbooks/contract/formats.ts";
import { type LinesRead, readLines } from "./validate-lines.ts";
import { readBytes, isUnread, withOpened, type Unread } from "./validate-open.ts";

/** A rule that could not be applied, and why. */
export type Unchecked = { readonly rule: string; readonly why: string };

export type JudgedLog = {
  /** Known only after reading: the lines tell a quality run's log from a calibration cycle's. */
  readonly format: string;
  readonly violations: readonly Violation[];
  /** Violations beyond those listed. */
  readonly unlistedCount: number;
  readonly isValid: boolean;
  readonly unchecked: readonly Unchecked[];
};

const plainRules: Readonly<
  Record<Exclude<LogFormat, "quality run_state">, (violations: Violations) => LineRules>
> = {
  "portfolio events": openPortfolioEventRules,
  "portfolio checkpoints": openPortfolioCheckpointRules,
  trace: openTraceRules,
};

/** `fd` is the opened file; `path` says which files lie beside it. */
export async function judgeLog(format: LogFormat, fd: number, path: string): Promise<JudgedLog> {
  const violations = openViolations();
  if (format === "quality run_state") return judgeRunState(fd, path, violations);
  const lines = readLines(fd, plainRules[format](violations));
  reportChange(lines, violations, "changed");

  return toJudgedLog(format, violations, []);
}

function toJudgedLog(
  format: string,
  violations: Violations,
  unchecked: readonly Unchecked[],
): JudgedLog {
  return {
    format,
    violations: violations.list(),
    unlistedCount: violations.countUnlisted(),
    isValid: violations.countErrors() === 0,
    unchecked,
  };
}

/**
 * Reports a file that changed while it was read. A log may grow; one that became shorter breaks
 * `shrunkRule`.
 */
function reportChange(
  { lineCount, grewBytes, isUnended }: LinesRead,
  violations: Violations,
  shrunkRule: string,
): void {
  const line = Math.max(lineCount, 1);
  if (grewBytes < 0) {
    violations.add(
      line,
      shrunkRule,
      `lost ${-grewBytes} bytes while it was read; a log is only added to`,
    );
  }

  if (grewBytes <= 0) return;
  const unfinishedText = isUnended ? "; its last line was being written and is not judged" : "";
  violations.add(
    line,
    "changed",
    `grew by ${grewBytes} bytes while it was read, and is judged as it was at the beginning${unfinishedText}`,
    "warning",
  );
}

async function judgeRunState(fd: number, path: string, violations: Violations): Promise<JudgedLog> {
  const rules = openQualityLogRules(violations);
  reportChange(readLines(fd, rules), violations, "RS5");
  const facts = rules.facts();
  const unchecked: Unchecked[] = [];
  const { findEdits } = await import("./validate-history.ts"); // other logs need neither git nor a journal
  const search = await findEdits(path, fd, facts);
  if ("why" in search) unchecked.push({ rule: "RS5", why: search.why });
  else for (const { line, message } of search.edits) violations.add(line, "RS5", message);

  await checkBugCount(path, facts, violations, unchecked);
  if (facts.level === "run") await checkPhrases(path, facts, violations, unchecked);
  return toJudgedLog(
    facts.level === "run" ? "quality run_state" : "calibration run_state",
    violations,
    unchecked,
  );
}

/** Rule RS-end: a successful run has counted as many bugs as BUGS.md names. */
async function checkBugCount(
  path: string,
  facts: QualityLogFacts,
  violations: Violations,
  unchecked: Unchecked[],
): Promise<void> {
  const bugs = await countBugsBeside(path, facts);
  if (bugs !== null && "why" in bugs) unchecked.push({ rule: "RS-end", why: bugs.why });
  if (bugs !== null && "found" in bugs && facts.end !== null && bugs.found !== facts.bugsMdCount) {
    violations.add(
      facts.end.line,
      "RS-end",
      `run_end says success with a bugs_md_count of ${facts.bugsMdCount}, and BUGS.md has ${bugs.found} headings ### BUG-`,
    );
  }
}

/** Rule RS-docs: the pages beside a log say what the log says about the project's documentation. */
async function checkPhrases(
  path: string,
  facts: QualityLogFacts,
  violations: Violations,
  unchecked: Unchecked[],
): Promise<void> {
  for (const { page, line, pattern, phrase } of listRequiredPhrases(facts.docs)) {
    const text = await readPageBeside(path, page);
    if (typeof text !== "string") {
      unchecked.push({ rule: "RS-docs", why: text.why });
    } else if (!pattern.test(text)) {
      violations.add(
        line,
        "RS-docs",
        `the log says so, and ${page} beside it does not say "${phrase}"`,
      );
    }
  }

  if (basename(path) !== "run_state.jsonl") return;
  for (const { page, pattern, phrase } of listForbiddenPhrases(facts.docs)) {
    const text = await readPageBeside(path, page);
    if (typeof text === "string" && pattern.test(text)) {
      violations.add(
        1,
        "RS-docs",
        `${page} beside it says "${phrase}", and the log has no documentation_state: it says that there was documentation`,
      );
    }
  }
}

/** The text of a page that this log's run wrote; only the newest log has its pages beside it. */
async function readPageBeside(
  path: string,
  page: string,
): Promise<string | { readonly why: string }> {
  if (basename(path) !== "run_state.jsonl") {
    return { why: `this is no run's newest log, so its ${page} is not known` };
  }

  const folder = dirname(path);
  const read = await withOpened(join(folder, page), folder, (fd) => ({
    text: readBytes(fd, pageBytesMax).toString("utf8"),
  }));
  return isUnread(read) ? { why: describeMissing(page, read) } : read.text;
}

const describeMissing = (page: string, { format, message }: Unread): string =>
  `the ${page} beside it ${format === "missing" ? "is not there" : message}`;

/** Of a page beside a log; of a longer one only the beginning is searched. */
const pageBytesMax = 8 * 1_048_576;

/**
 * How many bugs BUGS.md names, if a success claims to have counted them; null if nothing is
 * claimed.
 */
async function countBugsBeside(
  path: string,
  { level, end, bugsMdCount }: QualityLogFacts,
): Promise<{ found: number } | { why: string } | null> {
  if (level !== "run" || end?.status !== "success" || bugsMdCount === null) return null;
  const folder = dirname(path);

  if (basename(path) !== "run_state.jsonl") {
    return { why: "this is no run's newest log, so the BUGS.md that it counted is not known" };
  }

  const read = await withOpened(join(folder, "BUGS.md"), folder, (fd, { size }) => {
    if (size > pageBytesMax) {
      return { why: `BUGS.md has ${size} bytes, at most ${pageBytesMax} are read` };
    }

    return { found: countBugHeadings(readBytes(fd, pageBytesMax).toString("utf8")) };
  });
  return isUnread(read) ? { why: describeMissing("BUGS.md", read) } : read;
}

/** A journal by its chain: every line valid, numbered, and linked to the one before. */
export function judgeJournal(fd: number): JudgedLog {
  const violations = openViolations();
  try {
    const { end, torn } = replayFrom(fd, genesis, () => undefined);
    if (end.seq === 0) {
      violations.add(
        1,
        "chain",
        torn === null
          ? "holds no event"
          : `holds no event: ${torn.bytes} bytes that are none (${torn.detail})`,
      );
    } else if (torn !== null) {
      violations.add(
        end.seq + 1,
        "torn",
        `${torn.bytes} bytes after the last event are none: a write that is under way, or was cut short`,
        "warning",
      );
    }
  } catch (error) {
    if (!(error instanceof JournalFailure)) throw error;
    const { trouble } = error;
    const line = trouble.kind === "journal_damaged" ? trouble.line : null;
    violations.add(
      line ?? 1,
      "chain",
      trouble.kind === "journal_damaged" ? trouble.detail : error.message,
    );
  }

  return toJudgedLog("journal", violations, []);
}
