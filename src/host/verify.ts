import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer } from "../contracts/answer.ts";
import type { CheckResult, Evidence } from "../contracts/evidence.ts";
import type { RunView } from "../core/state.ts";
import { type Verification, verifyJournal } from "../journal/read.ts";
import { eachEntry } from "./entries.ts";
import { findHome, namedRun, runFolder, type Home } from "./home.ts";
import { openRecheck } from "./recheck.ts";
import type { Place } from "./place.ts";
import { readEvidence } from "./read-evidence.ts";
import { readRun } from "./read-run.ts";
import { answered, refuse, reply } from "./reply.ts";

type Rechecked = {
  readonly id: string;
  readonly command: string;
  readonly commit: string | null;
  readonly recorded: string;
  readonly now: string;
  readonly holds: boolean | null;
};

/** Re-checks a run: the whole chain of its journal, and every piece of evidence once more in a fresh checkout. */
export function verify(
  place: Place,
  input: { readonly run?: string | undefined; readonly chainOnly?: boolean | undefined },
): Promise<Answer> {
  return answered(async () => {
    const home = findHome(place.cwd);
    const run = namedRun(home, input.run);
    if (home === null || run === null) return refuse("run_missing", { state: "idle", message: "There is no run here." });
    const chain = verifyJournal(runFolder(home, run));
    const shown = { ok: chain.ok, events: chain.events, damaged_line: chain.damaged_line };
    if (chain.damaged_line !== null) return damaged(run, chain, shown);
    const { view } = await readRun(home, run); // what is wrong without being damage, a newer version say, is refused here by its own name
    const evidence = input.chainOnly === true ? [] : await recheck(place, home, run, view);
    const differs = evidence.filter(({ holds }) => holds === false);
    const page = [
      `${run}: chain of ${chain.events} events holds.`,
      ...evidence.map(
        ({ command, commit, recorded, now, holds }) =>
          `${holds === true ? "✓" : holds === false ? "✗" : "?"} ${command}  at ${commit?.slice(0, 12) ?? "?"}: recorded ${recorded}, now ${now}`,
      ),
    ];
    const parts = { run_id: run, state: view.status, page, data: { chain: shown, evidence, verdict: view.verdict } };
    if (differs.length > 0)
      return reply("evidence_differs", {
        ...parts,
        message: `${differs.length} of ${evidence.length} pieces of evidence give another result now.`,
      });
    return reply("ok", {
      ...parts,
      message: `The chain holds${evidence.length > 0 ? `, and ${evidence.length} pieces of evidence give the same result again` : ""}.`,
    });
  });
}

function damaged(run: string, chain: Verification, shown: object): Answer {
  const message = `The journal of ${run} is damaged at line ${chain.damaged_line}, byte ${chain.damaged_byte}: ${chain.reason}`;
  return reply("journal_damaged", { run_id: run, message, data: { chain: shown, evidence: [] } });
}

/** Each distinct check and commit that the journal rests on, run again. */
async function recheck(place: Place, home: Home, run: string, view: RunView): Promise<Rechecked[]> {
  const results = new Map<string, CheckResult>();
  await eachEntry(home, run, (entry) => {
    if (entry.event !== "step_completed" && entry.event !== "step_failed") return;
    for (const result of entry.checks ?? []) results.set(result.evidence, result);
  });
  const pieces = new Map<string, { evidence: Evidence; result: CheckResult }>();
  const lost: Rechecked[] = [];
  for (const [hash, result] of results) {
    const evidence = readEvidence(runFolder(home, run), hash);
    if (evidence === null)
      lost.push({
        id: hash,
        command: result.check.command,
        commit: null,
        recorded: result.status,
        now: "evidence is gone or damaged",
        holds: false,
      });
    else pieces.set(`${evidence.check.id} ${evidence.commit}`, { evidence, result });
  }
  if (pieces.size === 0) return lost;
  const folder = mkdtempSync(join(tmpdir(), "autopilot-verify-"));
  try {
    const again = await openRecheck(place, home, view, folder);
    const rechecked: Rechecked[] = [];
    for (const { evidence, result } of pieces.values()) {
      place.live(`  · again: ${evidence.check.command}`);
      const { commit, check, status } = evidence;
      const now = commit === null ? null : await again(check, commit);
      rechecked.push({
        id: result.evidence,
        command: check.command,
        commit,
        recorded: status,
        now: now ?? "cannot be run again",
        holds: now === null ? null : now === status,
      });
    }
    return [...lost, ...rechecked];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
