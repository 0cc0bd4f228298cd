// truth: counts how often agents' claims were true, by agent, model and role, from the journals of
// several runs.
//
// Invariants:
//   T1. The share counts only what could be decided; a claim that cannot be checked counts neither
//       for nor against an agent.
//   T2. A journal counts as a whole or not at all: its counts are added only after it has been read
//       to its end (kept in commands/truth.ts).

import type { Cast, Entry, EventOf } from "../contracts/event.ts";
import { formatNumber, oneLine, plural } from "./wording.ts";

const lastFalseMax = 5;

export type FalseClaim = {
  readonly run_id: string;
  readonly attempt: string;
  readonly text: string;
  readonly why: string;
};
export type TruthRow = {
  readonly agent: string;
  readonly model: string | null;
  readonly role: string;
  readonly true: number;
  readonly false: number;
  readonly unverifiable: number;
  /** The share of true claims among those that could be decided; null if none could. */
  readonly share_true: number | null;
  readonly runs: number;
  readonly turns: number;
  /** How often the agent was asked again for a valid result. */
  readonly returns_refused: number;
  readonly last_false: readonly FalseClaim[];
};

type Tally = {
  -readonly [K in Exclude<keyof TruthRow, "share_true" | "last_false">]: TruthRow[K];
} & { last_false: FalseClaim[] };

/**
 * Counts the claims of one run. `read` takes its journal entry by entry; `rows` returns the counts
 * so far.
 */
export type RunTruth = {
  readonly read: (entry: Entry) => void;
  readonly rows: () => readonly Tally[];
};

export function openRunTruth(): RunTruth {
  const counter = new RunTruthCounter();
  return { read: (entry) => counter.read(entry), rows: () => counter.rows() };
}

class RunTruthCounter {
  readonly #tallies = new Map<string, Tally>();
  /**
   * The role of each step of the flow (`step <id>`), and of each attempt whose turn has not ended.
   */
  readonly #roles = new Map<string, string>();
  #run = "";
  #agentsByRole: Readonly<Record<string, Cast>> = {};

  rows(): readonly Tally[] {
    return [...this.#tallies.values()];
  }

  read(entry: Entry): void {
    switch (entry.event) {
      case "run_drafted":
        this.#run = entry.run_id;
        this.#agentsByRole = entry.cast;
        collectStepRoles(entry.flow, this.#roles);
        return;
      case "run_forked": // the lines before this one were copied from another run, which counts their claims
        this.#tallies.clear();
        this.#agentsByRole = { ...this.#agentsByRole, ...entry.cast };
        return;
      case "policy_changed":
        this.#agentsByRole = { ...this.#agentsByRole, ...entry.cast };
        return;
      case "agent_switched":
        this.#agentsByRole = { ...this.#agentsByRole, [entry.role]: entry.player };
        return;
      case "step_started":
        if (entry.kind === "agent") {
          this.#roles.set(entry.attempt, this.#roles.get(`step ${entry.step}`) ?? "");
        }
        return;
      case "turn_ended": {
        const { role, player } = this.#findPlayer(entry.attempt);
        if (entry.agent !== "unknown") {
          this.#findTally(entry.agent, role, player?.override?.model).turns++;
        }

        this.#roles.delete(entry.attempt);
        return;
      }
      case "return_asked_again": {
        const { role, player } = this.#findPlayer(entry.attempt);
        if (player !== undefined) {
          this.#findTally(player.agent, role, player.override?.model).returns_refused++;
        }

        return;
      }
      case "claims_checked":
        return this.#addClaims(entry);
      default:
    }
  }

  #findTally(agent: string, role: string, model: string | undefined): Tally {
    const key = JSON.stringify([agent, model ?? null, role]);
    const tally = this.#tallies.get(key) ?? createTally(agent, role, model ?? null);
    this.#tallies.set(key, tally);

    return tally;
  }

  /** The role of an attempt, and the agent that plays it. */
  #findPlayer(attempt: string): { readonly role: string; readonly player: Cast | undefined } {
    const role = this.#roles.get(attempt) ?? "";
    return { role, player: this.#agentsByRole[role] ?? this.#agentsByRole["*"] };
  }

  #addClaims({ agent, role, model, attempt, claims }: EventOf<"claims_checked">): void {
    const tally = this.#findTally(agent, role, model);
    for (const { verdict, text, why } of claims) {
      tally[verdict]++;
      if (verdict === "false") tally.last_false.push({ run_id: this.#run, attempt, text, why });
    }

    tally.last_false.splice(0, tally.last_false.length - lastFalseMax);
  }
}

const createTally = (agent: string, role: string, model: string | null): Tally => ({
  agent,
  model,
  role,
  true: 0,
  false: 0,
  unverifiable: 0,
  runs: 1,
  turns: 0,
  returns_refused: 0,
  last_false: [],
});

/** Adds the role of every step of a flow, however deeply nested, to `roles` under `step <id>`. */
function collectStepRoles(part: unknown, roles: Map<string, string>): void {
  if (typeof part !== "object" || part === null) return;
  const { id, agent } = part as { readonly id?: unknown; readonly agent?: unknown };
  if (typeof id === "string" && typeof agent === "string") roles.set(`step ${id}`, agent);
  for (const below of Object.values(part)) collectStepRoles(below, roles);
}

/** Adds up runs, which are given oldest first. The least truthful agent comes first. */
export function sumTruth(runs: readonly RunTruth[]): readonly TruthRow[] {
  const sums = new Map<string, Tally>();
  for (const row of runs.flatMap((run) => run.rows())) {
    const key = JSON.stringify([row.agent, row.model, row.role]);
    const sum = sums.get(key);
    sums.set(
      key,
      sum === undefined ? { ...row, last_false: [...row.last_false] } : addTally(sum, row),
    );
  }

  return (
    [...sums.values()]
      .map((tally) => ({ ...tally, share_true: computeShare(tally) })) // T1
      // An agent about whom nothing could be decided comes last.
      .toSorted(
        (left, right) =>
          (left.share_true ?? 2) - (right.share_true ?? 2) || right.turns - left.turns,
      )
  );
}

function addTally(sum: Tally, row: Tally): Tally {
  for (const field of [
    "true",
    "false",
    "unverifiable",
    "runs",
    "turns",
    "returns_refused",
  ] as const) {
    sum[field] += row[field];
  }

  sum.last_false = [...sum.last_false, ...row.last_false].slice(-lastFalseMax);
  return sum;
}

function computeShare(tally: Pick<Tally, "true" | "false">): number | null {
  const decided = tally.true + tally.false;
  return decided === 0 ? null : Number((tally.true / decided).toFixed(4));
}

export function truthPage(rows: readonly TruthRow[]): readonly string[] {
  return rows.flatMap((row) => {
    const {
      agent,
      model,
      role,
      runs,
      turns,
      share_true,
      unverifiable,
      returns_refused,
      last_false,
    } = row;

    const decided = row.true + row.false;
    const share =
      share_true === null
        ? "nothing could be decided"
        : `${formatNumber(Math.round(share_true * 100))} % true (${row.true} of ${decided})`;

    const refused =
      returns_refused === 0 ? "" : `; ${plural(returns_refused, "return")} asked for again`;
    const agentName = `${oneLine(agent)}${model === null ? "" : ` (${oneLine(model)})`} as ${role === "" ? "?" : oneLine(role)}`;
    const extent = `${plural(turns, "turn")} in ${plural(runs, "run")}`;

    return [
      `${row.false > 0 ? "!" : "✓"} ${agentName}: ${share}, ${unverifiable} unverifiable; ${extent}${refused}`,
      ...last_false
        .toReversed()
        .map(({ run_id, text, why }) => `    ✗ “${oneLine(text)}” ${oneLine(why)} [${run_id}]`),
    ];
  });
}
