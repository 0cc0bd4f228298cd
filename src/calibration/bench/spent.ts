// spent: reads what the agents of one benchmark's run used, from the journals of the runs in its
// copies.

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BenchmarkSpending } from "../cycle/state.ts";

const journalBytesMax = 256 << 20;

/**
 * What the runs in a benchmark's copies used, at least: a journal that is too large is left out.
 * Null if there is none, because the command ran none of our runs.
 */
export function readSpending(folder: string): BenchmarkSpending | null {
  const journals = ["work", "target"].flatMap((copy) =>
    findJournals(join(folder, copy, ".autopilot", "runs")),
  );
  if (journals.length === 0) return null;
  const spent = { tokens: 0, usd: 0 };

  for (const line of journals.flatMap((path) => readFileSync(path, "utf8").split("\n"))) {
    const usage = parseUsage(line);
    spent.tokens += toAmount(usage?.["tokens"]);
    spent.usd += toAmount(usage?.["usd"]);
  }

  return { tokens: spent.tokens, usd: Math.round(spent.usd * 1e6) / 1e6 }; // without the noise of adding fractions
}

/** The journals of runs: regular files of bounded size, and nothing that only has such a name. */
function findJournals(runsFolder: string): readonly string[] {
  if (lstatSync(runsFolder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(runsFolder)
    .map((run) => join(runsFolder, run, "journal.jsonl"))
    .filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats?.isFile() === true && stats.size <= journalBytesMax;
    });
}

/** The usage in a line of a journal; null if the line has none. */
function parseUsage(line: string): Readonly<Record<string, unknown>> | null {
  if (!line.includes('"usage":')) return null;
  try {
    const { usage } = JSON.parse(line) as { readonly usage?: unknown };
    return typeof usage === "object" && usage !== null ? (usage as Record<string, unknown>) : null;
  } catch {
    return null; // a line that was cut
  }
}

const toAmount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
