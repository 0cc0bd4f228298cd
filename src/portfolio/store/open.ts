// open: a portfolio in hand: locked, folded, written to, drawn. Every command takes it for a moment only, so that a person can add and answer
// while a pool works.
//
// Invariants:
//   O1. The journal is the truth; the files are drawn from it, after every change and before the lock is given back.
//   O2. What another tool appended to the events file is taken in before anything of ours is written.
//   O3. A change that its schema refuses is not written.
//   O4. An agent proposes and pauses; every other change of its own, and every person's from inside a run, is refused.

import { setTimeout as sleep } from "node:timers/promises";
import type { Entry, Event } from "../../contracts/event.ts";
import { faultOfChange, type PortfolioChange, type PortfolioEntry } from "../../contracts/portfolio-journal.ts";
import { JournalFailure } from "../../journal/failure.ts";
import { openJournal } from "../../journal/file.ts";
import type { Opened } from "../../journal/journal.ts";
import { readJournal } from "../../journal/read.ts";
import { isAgent } from "../../core/grants.ts";
import { invariant } from "../../kit/invariant.ts";
import { reduceToLine } from "../views/event-line.ts";
import { mayAgentWrite } from "../planner/grants.ts";
import { reduce } from "../planner/reduce.ts";
import { openPortfolio, type Portfolio, type PortfolioView } from "../planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/reply.ts";
import { requireOutside } from "../../runner/may-grant.ts";
import { redactedJournal } from "../../project/secrets/redacted-journal.ts";
import { redactionOf } from "../../project/secrets/redaction-of.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { type Drawn, draw, layOut, linesBeyond, readCursor } from "./draw.ts";
import { type PortfolioPaths, rememberHead } from "./folder.ts";

const waitMsMax = 20_000;
const lookEveryMs = 50;

export type OpenPortfolio = {
  readonly paths: PortfolioPaths;
  readonly state: PortfolioView;
  readonly now: () => string;
  readonly write: (...changes: readonly PortfolioChange[]) => Promise<void>;
  /** What was found in the files that nobody of ours wrote. */
  readonly warnings: string[];
  /** Said by whoever has drawn everything already. */
  isDrawn: boolean;
};

/** Takes the portfolio in hand, does the work, draws the files. Waits while another process has it. */
export async function withPortfolio<Value>(
  place: CommandContext,
  paths: PortfolioPaths,
  work: (open: OpenPortfolio) => Promise<Value>,
): Promise<Value> {
  layOut(paths);
  const cursor = readCursor(paths);
  const state = openPortfolio();
  const lines: (string | null)[] = [];
  const take = (entry: PortfolioEntry): void => {
    if (entry.seq <= cursor.seq) reduce(state, entry);
    else lines.push(reduceToLine(state, entry));
  };
  const opened = await openWhenFree(paths.own, (entry) => take(entry as unknown as PortfolioEntry));
  const journal = redactedJournal(opened.journal, redactionOf(place, paths.root).redactor);
  try {
    const warnings: string[] = [];
    const write = async (...changes: readonly PortfolioChange[]): Promise<void> => {
      for (const change of changes) {
        const fault = faultOfChange(change);
        invariant(fault === null, `O3: ${fault ?? ""}`);
        requireMayChange(place, change); // O4
      }
      // The journal looks at nothing of an event but its name, its actor and its reason.
      for (const entry of await journal.append(changes as unknown as readonly Event[])) take(entry as unknown as PortfolioEntry);
    };
    const drawable = (): readonly string[] => lines.filter((line) => line !== null);
    const beyond = linesBeyond(paths, cursor, drawable());
    warnings.push(...beyond.warnings);
    for (const line of beyond.foreign) await write({ event: "line_imported", actor: "system", reason_code: "ok", line }); // O2
    const drawing = (): Drawn => ({
      paths,
      state,
      seq: journal.position.seq,
      lines: drawable(),
      cursor,
      beyond,
    });
    const open: OpenPortfolio = { paths, state, now: () => systemClock.now(), write, warnings, isDrawn: false };
    try {
      return await work(open);
    } finally {
      if (!open.isDrawn) warnings.push(...draw(drawing(), () => allLines(paths))); // O1
    }
  } finally {
    rememberHead(place, paths, journal.position);
    await journal.close();
  }
}

function requireMayChange(place: CommandContext, change: PortfolioChange): void {
  if (mayAgentWrite(change)) return;
  if (isAgent(change.actor)) refuse("agent_may_not_grant");
  if (change.actor.startsWith("operator:")) requireOutside(place);
}

async function openWhenFree(folder: string, onEntry: (entry: Entry) => void): Promise<Opened> {
  const until = systemClock.monotonicMs() + waitMsMax;
  for (;;) {
    try {
      return await openJournal(folder, {
        commit: "sync",
        now: () => systemClock.now(),
        activeMs: () => systemClock.monotonicMs(),
        onEntry,
      });
    } catch (error) {
      const isBusy = error instanceof JournalFailure && error.trouble.kind === "run_locked";
      if (!isBusy || systemClock.monotonicMs() > until) throw error;
      await sleep(lookEveryMs);
    }
  }
}

/** The state as it is now, without taking anything in hand. */
export function readPortfolio(paths: PortfolioPaths): Portfolio {
  const state = openPortfolio();
  readJournal(paths.own, { from: "start", onEntry: (entry) => reduce(state, entry as unknown as PortfolioEntry) });
  return state;
}

/** Every line of the events file, made anew. */
export function allLines(paths: PortfolioPaths): readonly string[] {
  const state = openPortfolio();
  const lines: string[] = [];
  readJournal(paths.own, {
    from: "start",
    onEntry: (entry) => {
      const line = reduceToLine(state, entry as unknown as PortfolioEntry);
      if (line !== null) lines.push(line);
    },
  });
  return lines;
}
