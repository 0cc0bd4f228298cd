// verify: re-checks a finished run: journal chain, blobs, commits, and every recorded check in a
// fresh checkout.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CheckStatus, Evidence } from "../../contracts/evidence.ts";
import type { RunView } from "../../core/state.ts";
import { type Verification, verifyJournal } from "../../journal/read.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import {
  findProject,
  resolveRun,
  runFolder,
  type ProjectPaths,
} from "../../project/runs/project-paths.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { readTreeId } from "../../workspace/git/tree.ts";
import { type RecheckResult, openRecheck } from "./recheck.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readEvidence } from "../../project/runs/read-evidence.ts";
import { readRun, listDamagedJournalHints } from "../../project/runs/read-run.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { whyForeign } from "../../project/runs/run-binding.ts";
import { createTemporaryFolder } from "../../workspace/temporary-folder.ts";
import { findChangedTranscripts } from "./transcript-verify.ts";
import { checkBlobs, type JournalRecords, readRecords } from "./verify-records.ts";
import { type RecheckedEvidence, type RecheckedCommit, verifyPage } from "./verify-page.ts";
import { compareVerdicts } from "./verify-verdict.ts";
import { eraseSync } from "../../workspace/folder.ts";

/** With `chainOnly` only the journal's chain is checked, and nothing is executed. */
export function verify(
  context: CommandContext,
  input: { readonly run?: string | undefined; readonly chainOnly?: boolean | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findProject(context.cwd);
    const run = resolveRun(paths, input.run);
    if (paths === null || run === null) {
      return refuse("run_missing", { state: "idle", message: "No run here." });
    }

    const chain = verifyJournal(runFolder(paths, run));
    const chainData = { ok: chain.ok, events: chain.events, damaged_line: chain.damaged_line };
    if (chain.damaged_line !== null) return respondDamaged(run, chain, chainData);
    const { view } = await readRun(paths, run); // an error other than damage, such as a newer version, is refused here by its own name

    if (input.chainOnly === true) {
      return respond("ok", {
        run_id: run,
        state: view.status,
        message: "The chain holds.",
        page: [`${run}: chain of ${chain.events} events holds.`],
        data: { chain: chainData, evidence: [] },
      });
    }

    return recheckAll(context, { paths, run, view }, chainData);
  });
}

function respondDamaged(run: string, chain: Verification, chainData: object): CommandResponse {
  const message = `The journal of ${run} is damaged at line ${chain.damaged_line}, byte ${chain.damaged_byte}: ${chain.reason}`;
  return respond("journal_damaged", {
    run_id: run,
    message,
    remediation: listDamagedJournalHints(run),
    data: { chain: chainData, evidence: [] },
  });
}

type Chain = {
  readonly ok: boolean;
  readonly events: number;
  readonly damaged_line: number | null;
};

type RunToVerify = {
  readonly paths: ProjectPaths;
  readonly run: string;
  readonly view: RunView;
};

async function recheckAll(
  context: CommandContext,
  { paths, run, view }: RunToVerify,
  chain: Chain,
): Promise<CommandResponse> {
  const records = await readRecords(paths, run);
  const repository = await requireRepository(paths.root);
  const evidenceByHash = readAllEvidence(runFolder(paths, run), records);
  const outputs = [...evidenceByHash.values()].flatMap((evidence) => evidence?.output_hash ?? []);
  const blobs = checkBlobs(paths, run, [...records.blobs, ...outputs]);
  const commits = await recheckCommits(repository, records);
  const isForeign = whyForeign(context, paths, run) !== null;

  const { evidence, isolation, statusByHash } = await recheckEvidence(context, {
    paths,
    repository,
    view,
    records,
    evidenceByHash,
    isForeign,
  });
  const verdict = compareVerdicts(view, (hash, status) => statusByHash.get(hash) ?? status);

  const responseFields = {
    run_id: run,
    state: view.status,
    page: verifyPage({ run, events: chain.events, blobs, commits, evidence, verdict }),
    data: { chain, evidence, commits, blobs, verdict, isolation },
  };

  const isBroken =
    blobs.damaged.length > 0 ||
    evidence.some((rechecked) => rechecked.now === goneText) ||
    commits.some(({ holds }) => holds === false);
  if (isBroken || verdict.now !== verdict.recorded) {
    const message = describeDifference(isBroken, verdict, evidence);
    return respond("evidence_differs", { ...responseFields, message });
  }

  const changedTranscripts = await findChangedTranscripts(paths, run);
  const notes = [...listNotes(evidence, isForeign), ...changedTranscripts];
  const evidenceText = describeSame(evidence);
  if (notes.length === 0) {
    const message = `The chain holds${evidenceText}.`;
    return respond("ok", { ...responseFields, warnings: [], message });
  }

  return respond("ok", {
    ...responseFields,
    result: "WARN",
    remediation: ["autopilot report"],
    warnings: notes,
    message: `The chain holds${evidenceText}; ${notes.join("; ")}.`,
  });
}

/** Null for evidence that is gone or damaged. */
type EvidenceByHash = ReadonlyMap<string, Evidence | null>;

function readAllEvidence(folder: string, { results }: JournalRecords): EvidenceByHash {
  const evidenceByHash = new Map<string, Evidence | null>();
  for (const hash of results.keys()) evidenceByHash.set(hash, readEvidence(folder, hash));
  return evidenceByHash;
}

function describeDifference(
  isBroken: boolean,
  { now, recorded }: ReturnType<typeof compareVerdicts>,
  evidence: readonly RecheckedEvidence[],
): string {
  const problem = isBroken
    ? "What the run rests on is not what was recorded"
    : `The verdict would be ${now.replaceAll("_", " ")} now, not ${recorded.replaceAll("_", " ")}`;
  const differentCount = countHolding(evidence, false);
  return `${problem}: ${differentCount} of ${evidence.length} pieces of evidence give another result now.`;
}

/** What a person should know although the verdict stays as it was. */
function listNotes(evidence: readonly RecheckedEvidence[], isForeign: boolean): readonly string[] {
  const notes: string[] = [];
  const differentCount = countHolding(evidence, false);
  const notRerunCount = countHolding(evidence, null);

  if (isForeign) notes.push("none of its commands was run, because it isn't yours");
  if (differentCount > 0) {
    notes.push(`${differentCount} give another result now, which does not change the verdict`);
  }

  if (notRerunCount > 0) notes.push(`${notRerunCount} cannot be run again here`);
  return notes;
}

function describeSame(evidence: readonly RecheckedEvidence[]): string {
  if (evidence.length === 0) return "";
  const sameCount = countHolding(evidence, true);
  return `, and ${sameCount} of ${evidence.length} pieces of evidence give the same result again`;
}

const countHolding = (
  evidence: readonly RecheckedEvidence[],
  wanted: RecheckedEvidence["holds"],
): number => evidence.filter(({ holds }) => holds === wanted).length;

async function recheckCommits(
  repository: Repository,
  { commits }: JournalRecords,
): Promise<readonly RecheckedCommit[]> {
  const rechecked: RecheckedCommit[] = [];
  for (const { commit, tree, what } of commits) {
    const actualTree = await readTreeId(repository, commit);
    if (actualTree === null) {
      rechecked.push({ commit, what, holds: null, why: "it is not in this repository" });
    } else if (actualTree === tree) {
      rechecked.push({ commit, what, holds: true });
    } else {
      const why = `its tree is ${actualTree}, recorded is ${tree}`;
      rechecked.push({ commit, what, holds: false, why });
    }
  }

  return rechecked;
}

const goneText = "evidence is gone or damaged";
/** Its commands are another user's, and have not been reviewed here. */
const notYoursText =
  "the run isn't yours, so its commands are not run; autopilot adopt takes it over";

type RecheckInput = {
  readonly paths: ProjectPaths;
  readonly repository: Repository;
  readonly view: RunView;
  readonly records: JournalRecords;
  readonly evidenceByHash: EvidenceByHash;
  readonly isForeign: boolean;
};

type RecheckOutcome = {
  readonly evidence: readonly RecheckedEvidence[];
  readonly isolation: string | null;
  /** The result of now, for every piece of evidence that was checked again. */
  readonly statusByHash: ReadonlyMap<string, CheckStatus>;
};

/** A check on a commit, and every piece of evidence that it gave; the newest comes last. */
type DistinctCheck = { readonly record: Evidence; readonly hashes: readonly string[] };

/** Runs each distinct check on a commit once more. */
async function recheckEvidence(
  context: CommandContext,
  input: RecheckInput,
): Promise<RecheckOutcome> {
  const { gone, checks } = groupEvidence(input.records, input.evidenceByHash);

  if (input.isForeign) {
    const notRun = checks.map(({ record, hashes }) =>
      compareEvidence(record, hashes.at(-1) ?? "", { why: notYoursText }),
    );
    return { evidence: [...gone, ...notRun], isolation: null, statusByHash: new Map() };
  }

  if (checks.length === 0) return { evidence: gone, isolation: null, statusByHash: new Map() };

  const folder = await createTemporaryFolder("verify");
  try {
    const outcome = await rerunChecks(context, input, checks, folder);
    return { ...outcome, evidence: [...gone, ...outcome.evidence] };
  } finally {
    eraseSync(folder);
  }
}

function groupEvidence({ results }: JournalRecords, evidenceByHash: EvidenceByHash) {
  const gone: RecheckedEvidence[] = [];
  const checksByKey = new Map<string, DistinctCheck>();

  for (const [hash, { check, status }] of results) {
    const record = evidenceByHash.get(hash) ?? null;
    if (record === null) {
      const { command } = check;
      gone.push({ id: hash, command, commit: null, recorded: status, now: goneText, holds: false });
      continue;
    }

    const key = JSON.stringify([record.check.id, record.commit, record.oracles ?? []]);
    const hashes = [...(checksByKey.get(key)?.hashes ?? []), hash];
    checksByKey.set(key, { record, hashes }); // the newest one counts
  }

  return { gone, checks: [...checksByKey.values()] };
}

async function rerunChecks(
  context: CommandContext,
  { paths, repository, view, records }: RecheckInput,
  checks: readonly DistinctCheck[],
  folder: string,
): Promise<RecheckOutcome> {
  const { uncountedProtectedChanges: oracles } = records;
  const evidence: RecheckedEvidence[] = [];
  const statusByHash = new Map<string, CheckStatus>();
  const recheck = await openRecheck(context, { paths, repository, view, folder });

  try {
    for (const [done, { record, hashes }] of checks.entries()) {
      context.showLive(`  · again: ${record.check.command}`);
      const result = await recheck.rerun(record, oracles.get(record.commit ?? "") ?? []);
      if (context.interrupted.aborted) return refuseInterrupted(view, done, checks.length);

      const rechecked = compareEvidence(record, hashes.at(-1) ?? "", result);
      evidence.push(rechecked);
      if ("status" in result && rechecked.holds !== null) {
        for (const hash of hashes) statusByHash.set(hash, result.status);
      }
    }

    return { evidence, isolation: recheck.isolation, statusByHash };
  } finally {
    recheck.close();
  }
}

/** A verification that was interrupted says nothing about the run as a whole. */
function refuseInterrupted({ status, drafted }: RunView, done: number, total: number): never {
  return refuse("command_interrupted", {
    run_id: drafted.run_id,
    state: status,
    message: `Interrupted after ${done} of ${total} pieces of evidence; of the rest nothing is known.`,
    remediation: [`autopilot verify ${drafted.run_id}`],
  });
}

function compareEvidence(
  { check, commit, status }: Evidence,
  id: string,
  result: RecheckResult,
): RecheckedEvidence {
  const record = { id, command: check.command, commit, recorded: status };
  if ("why" in result) {
    return { ...record, now: "cannot be run again", holds: null, why: result.why };
  }

  const rechecked = { ...record, now: result.status, holds: result.status === status };
  if (rechecked.holds) return rechecked;
  // A missing tool, and a flaky check, say nothing against what was recorded.
  if (result.status === "not_found") {
    return { ...rechecked, holds: null, why: "a program it needs is not found here" };
  }

  if (status === "flaky" || result.status === "flaky") {
    return { ...rechecked, holds: null, why: "it passes and fails on the same tree" };
  }

  return rechecked;
}
