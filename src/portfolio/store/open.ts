// open: opens a portfolio for a change: locks its journal, folds it, lets the caller write, and
// draws the files. Every command holds the lock only for a moment, so that a person can add and
// answer while a pool works.
//
// Invariants:
//   O1. The journal is the source of truth; the files are drawn from it after every change, before
//       the lock is released.
//   O2. Lines that another tool appended to the events file are taken in before anything of ours is
//       written.
//   O3. A change that doesn't fit its schema is not written.
//   O4. An agent may propose and pause; its other changes are refused, and so are a person's from
//       inside a run.
//   O5. A pool that has lost the portfolio begins nothing more; if it is writing already, the store
//       refuses its lines (G4).
//   O6. An open question that no longer applies after a change is replaced together with that
//       change.
//   O7. Content of the files that doesn't count is reported once, with file, line and reason: in
//       the response, or by the pool.
// Invariants G1 and on: portfolio/store/fold.ts.

import { setTimeout as sleep } from "node:timers/promises";
import type { Entry, Event } from "../../contracts/event.ts";
import {
  findChangeFault,
  type PortfolioChange,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import type { Journal, OpenedJournal } from "../../journal/journal.ts";
import { genesis } from "../../journal/line.ts";
import { isAgent } from "../../core/grants.ts";
import { invariant } from "../../kit/invariant.ts";
import { reduceToLines } from "../views/event-line.ts";
import { mayAgentWrite } from "../planner/grants.ts";
import { whyIgnored } from "../planner/imported-line.ts";
import { reduce } from "../planner/reduce.ts";
import { createEmptyPortfolio, type PortfolioView } from "../planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/respond.ts";
import { requireOutsideRun } from "../../runner/require-may-grant.ts";
import { redactJournal } from "../../project/secrets/redacted-journal.ts";
import { getRedaction } from "../../project/secrets/context-redaction.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { splitIntoAppends } from "./appends.ts";
import { replaceOutdatedQuestions } from "./ask.ts";
import { draw, createLayout, readCursor, writeCursor } from "./draw.ts";
import {
  type LinesBeyond,
  type DrawnCursor,
  updateEventsFile,
  readLinesBeyond,
} from "./events-file.ts";
import {
  asPortfolioEntry,
  resetFold,
  type PortfolioFold,
  retryFromStart,
  getFold,
  openStored,
  getStore,
} from "./fold.ts";
import { type PortfolioPaths, rememberHead, requirePlanner } from "./folder.ts";
import { queueNotices } from "./queue-notices.ts";

const waitMsMax = 20_000;
const pollMs = 50;

export type OpenPortfolio = {
  readonly paths: PortfolioPaths;
  readonly state: PortfolioView;
  readonly now: () => string;
  readonly write: (...changes: readonly PortfolioChange[]) => Promise<void>;
  /** Foreign content that was found in the files. */
  readonly warnings: string[];
  /** Every line of the events file. */
  readonly eventLines: () => Promise<readonly string[]>;
  /** Set by a caller that has drawn every page already. */
  isDrawn: boolean;
};

/**
 * Locks the portfolio, does the work, draws the files. Waits while another process has the lock.
 */
export function withPortfolio<Value>(
  context: CommandContext,
  paths: PortfolioPaths,
  work: (open: OpenPortfolio) => Promise<Value>,
  /**
   * `as_left`: a file with the size and time of the last change isn't compared; `nothing`: every
   * file is.
   */
  trust: "as_left" | "nothing" = "as_left",
): Promise<Value> {
  const fold = getFold(paths);
  return fold.mutex.runExclusive(async () => {
    createLayout(paths);
    const locked = await retryFromStart(fold, () => lockJournal(context, paths, fold, trust));

    try {
      return await workLocked({ context, paths, fold, ...locked }, work);
    } catch (error) {
      resetFold(fold); // G2
      throw error;
    } finally {
      rememberHead(context, paths, locked.journal.position);
      await locked.journal.close();
    }
  });
}

type LockedJournal = {
  readonly journal: Journal;
  readonly cursor: DrawnCursor;
  /** Lines of the events file that are not drawn yet. */
  readonly lines: string[];
  readonly apply: (entry: Entry) => void;
  readonly repaired: OpenedJournal["repaired"];
};

/** Locks the journal and folds it to its end. */
async function lockJournal(
  context: CommandContext,
  paths: PortfolioPaths,
  fold: PortfolioFold,
  trust: "as_left" | "nothing",
): Promise<LockedJournal> {
  const cursor = {
    ...readCursor(paths),
    ...(trust === "nothing" ? { crc: -1, fileMark: "" } : {}),
  };
  if (fold.at.seq > cursor.seq) resetFold(fold); // a line of the events file needs the state before its entry
  const lines: string[] = [];

  const apply = (entry: Entry): void => {
    if (entry.seq <= cursor.seq) {
      reduce(fold.state, asPortfolioEntry(entry));
      return;
    }

    for (const line of reduceToLines(fold.state, asPortfolioEntry(entry))) lines.push(line);
  };

  const { redactor } = getRedaction(context, paths.root);
  const { journal, repaired } = await openWhenFree(context, paths, fold, apply);
  fold.at = { ...journal.position };

  return { journal: redactJournal(journal, redactor), cursor, lines, apply, repaired };
}

type LockedPortfolio = LockedJournal & {
  readonly context: CommandContext;
  readonly paths: PortfolioPaths;
  readonly fold: PortfolioFold;
};

async function workLocked<Value>(
  locked: LockedPortfolio,
  work: (open: OpenPortfolio) => Promise<Value>,
): Promise<Value> {
  const { paths, fold, journal, cursor, lines } = locked;
  await requirePlanner(paths); // O5

  let drawnLines: readonly string[] | null = null;
  const readDrawnLines = async (): Promise<readonly string[]> =>
    (drawnLines ??= await readAllLines(paths, cursor.seq));
  const warnings = warnOfCutTail(locked);
  const takeIn = (found: LinesBeyond): Promise<void> => takeInLines(locked, found, warnings);

  const linesBeyond = await readLinesBeyond(paths, cursor, lines, readDrawnLines);
  await takeIn(linesBeyond);
  await replaceOutdated(locked); // an earlier process may have been killed before it did so

  const open: OpenPortfolio = {
    paths,
    state: fold.state,
    now,
    write: (...changes) => write(locked, changes),
    warnings,
    isDrawn: false,
    eventLines: async () => [...(await readDrawnLines()), ...lines],
  };

  try {
    return await work(open);
  } finally {
    createLayout(paths);
    const beyond = { cursor, beyond: linesBeyond, lines, readDrawnLines, takeIn };
    const events = await updateEventsFile(paths, beyond);

    const drawing = { paths, state: fold.state, seq: journal.position.seq, cursor, events };
    if (open.isDrawn) writeCursor(drawing);
    else warnings.push(...draw(drawing)); // O1

    if (paths.tell !== undefined) for (const warning of warnings.splice(0)) paths.tell(warning); // O7
  }
}

async function write(locked: LockedPortfolio, changes: readonly PortfolioChange[]): Promise<void> {
  await append(locked, changes);
  await replaceOutdated(locked);
}

/** Takes lines that another tool appended to the events file into the journal (O2). */
async function takeInLines(
  locked: LockedPortfolio,
  { foreign, warnings: fileWarnings }: LinesBeyond,
  warnings: string[],
): Promise<void> {
  warnings.push(...fileWarnings);

  for (const { place, line } of foreign) {
    const ignoredReason = whyIgnored(locked.fold.state, line);
    if (ignoredReason !== null) warnings.push(`${place}: kept, and ${ignoredReason}`); // O7
    await write(locked, [{ event: "line_imported", actor: "system", reason_code: "ok", line }]);
  }
}

const now = (): string => systemClock.now();

function warnOfCutTail({ repaired }: LockedPortfolio): string[] {
  if (repaired === null) return [];
  const { cut_bytes, at_byte } = repaired;
  return [
    `the journal ended in the middle of a line, which nobody was told of; ${cut_bytes} bytes from byte ${at_byte} on were cut off`,
  ];
}

/** Appends changes to the journal, folds them, and queues their notices. */
async function append(
  { context, paths, fold, journal, apply }: LockedPortfolio,
  changes: readonly PortfolioChange[],
): Promise<void> {
  for (const change of changes) {
    const fault = findChangeFault(change);
    invariant(fault === null, `O3: ${fault ?? ""}`);
    requireMayChange(context, change); // O4
  }

  // The journal reads nothing of an event but its name, its actor and its reason, so a change
  // passes as one. All batches are handed over at once, so nothing comes between the lines of a
  // batch.
  const appends = splitIntoAppends(changes).map((batch) =>
    journal.append(batch as unknown as readonly Event[]),
  );
  const entries = (await Promise.all(appends)).flat();
  entries.forEach(apply);

  for (const entry of entries) {
    queueNotices(context, paths.root, asPortfolioEntry(entry), fold.state);
  }

  fold.at = { ...journal.position };
}

/** Replaces open questions that no longer apply (O6). */
async function replaceOutdated(locked: LockedPortfolio): Promise<void> {
  const changes = replaceOutdatedQuestions(locked.fold.state, now());
  if (changes.length > 0) await append(locked, changes);
}

function requireMayChange(context: CommandContext, change: PortfolioChange): void {
  if (mayAgentWrite(change)) return;
  if (isAgent(change.actor)) refuse("agent_may_not_grant");
  if (change.actor.startsWith("operator:")) requireOutsideRun(context);
}

/** Opens the journal as soon as no other process has it; gives up after a while. */
async function openWhenFree(
  context: CommandContext,
  paths: PortfolioPaths,
  { at: from }: PortfolioFold,
  onEntry: (entry: Entry) => void,
): Promise<OpenedJournal> {
  const clocks = { now: () => systemClock.now(), activeMs: () => systemClock.monotonicMs() };
  let deadlineMs = systemClock.monotonicMs() + waitMsMax;

  for (;;) {
    try {
      return await openStored(context.env, paths, { from, ...clocks, onEntry });
    } catch (error) {
      if (!(error instanceof JournalFailure) || error.trouble.kind !== "run_locked") throw error;

      if (systemClock.monotonicMs() > deadlineMs) {
        // Its predecessor may have been suspended in the middle of a change: the pool waits until
        // it goes on or is killed.
        if (paths.planner === undefined || context.interrupted.aborted) throw error;
        await requirePlanner(paths);
        const owner = `Process ${error.trouble.pid ?? "?"}`;
        context.show(
          `! ${owner} is in the middle of a change and doesn't end it; if it is stopped, kill it`,
        );
        deadlineMs = systemClock.monotonicMs() + waitMsMax;
      }

      await sleep(pollMs);
    }
  }
}

/** Makes the lines of the events file from the journal, up to an entry. */
export async function readAllLines(
  paths: PortfolioPaths,
  seq = Infinity,
): Promise<readonly string[]> {
  const state = createEmptyPortfolio();
  const lines: string[] = [];

  await getStore(paths).read(genesis, (entry) => {
    if (entry.seq > seq) return;
    for (const line of reduceToLines(state, asPortfolioEntry(entry))) lines.push(line);
  });

  return lines;
}
