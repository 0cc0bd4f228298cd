// spent: what the agents of one benchmark's run used, as the journals of the runs in its copies say. A command that ran no run of ours says nothing.

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Spent } from "../cycle/state.ts";

const journalBytesMax = 256 << 20;

/** Null if no journal is there. */
export function spentIn(folder: string): Spent | null {
  const journals = ["work", "target"].flatMap((copy) => readJournals(join(folder, copy, ".autopilot", "runs")));
  if (journals.length === 0) return null;
  const spent = { tokens: 0, usd: 0 };
  for (const line of journals.flatMap((path) => readFileSync(path, "utf8").split("\n"))) {
    const used = findUsage(line);
    spent.tokens += amount(used?.["tokens"]);
    spent.usd += amount(used?.["usd"]);
  }
  return { tokens: spent.tokens, usd: Math.round(spent.usd * 1e6) / 1e6 };
}

/** A run of ours, and nothing that only looks like its journal. */
function readJournals(runs: string): readonly string[] {
  if (lstatSync(runs, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(runs)
    .map((run) => join(runs, run, "journal.jsonl"))
    .filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats?.isFile() === true && stats.size <= journalBytesMax;
    });
}

function findUsage(line: string): Readonly<Record<string, unknown>> | null {
  if (!line.includes('"usage":')) return null;
  try {
    const { usage } = JSON.parse(line) as { readonly usage?: unknown };
    return typeof usage === "object" && usage !== null ? (usage as Record<string, unknown>) : null;
  } catch {
    return null; // a line that was cut
  }
}

const amount = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0);
