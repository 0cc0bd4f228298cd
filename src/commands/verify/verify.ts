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

async function recheckAll(
  context: CommandContext,
  {
    paths,
    run,
    view,
  }: { readonly paths: ProjectPaths; readonly run: string; readonly view: RunView },
  chain: { readonly ok: boolean; readonly events: number; readonly damaged_line: number | null },
): Promise<CommandResponse> {
  const records = await readRecords(paths, run);
  const repository = await requireRepository(paths.root);
  const evidenceByHash = new Map(
    [...records.results.keys()].map((hash) => [hash, readEvidence(runFolder(paths, run), hash)]),
  );
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

  const isBroken =
    blobs.damaged.length > 0 ||
    evidence.some((rechecked) => rechecked.now === goneText) ||
    commits.some(({ holds }) => holds === false);

  const different = evidence.filter(({ holds }) => holds === false);
  const notRerun = evidence.filter(({ holds }) => holds === null);

  const responseFields = {
    run_id: run,
    state: view.status,
    page: verifyPage({ run, events: chain.events, blobs, commits, evidence, verdict }),
    data: { chain, evidence, commits, blobs, verdict, isolation },
  };

  if (isBroken || verdict.now !== verdict.recorded) {
    const problem = isBroken
      ? "What the run rests on is not what was recorded"
      : `The verdict would be ${verdict.now.replaceAll("_", " ")} now, not ${verdict.recorded.replaceAll("_", " ")}`;

    return respond("evidence_differs", {
      ...responseFields,
      message: `${problem}: ${different.length} of ${evidence.length} pieces of evidence give another result now.`,
    });
  }

  const notes = [
    ...(isForeign ? ["none of its commands was run, because it isn't yours"] : []),
    ...(different.length === 0
      ? []
      : [`${different.length} give another result now, which does not change the verdict`]),
    ...(notRerun.length === 0 ? [] : [`${notRerun.length} cannot be run again here`]),
    ...(await findChangedTranscripts(paths, run)),
  ];

  const sameCount = evidence.length - different.length - notRerun.length;
  const evidenceText =
    evidence.length > 0
      ? `, and ${sameCount} of ${evidence.length} pieces of evidence give the same result again`
      : "";

  const notesText = notes.length === 0 ? "" : `; ${notes.join("; ")}`;
  return respond("ok", {
    ...responseFields,
    ...(notes.length === 0 ? {} : { result: "WARN" as const, remediation: ["autopilot report"] }),
    warnings: notes,
    message: `The chain holds${evidenceText}${notesText}.`,
  });
}

async function recheckCommits(
  repository: Repository,
  { commits }: JournalRecords,
): Promise<readonly RecheckedCommit[]> {
  const rechecked: RecheckedCommit[] = [];
  for (const { commit, tree, what } of commits) {
    const actualTree = await readTreeId(repository, commit);
    if (actualTree === null) {
      rechecked.push({ commit, what, holds: null, why: "it is not in this repository" });
    } else {
      rechecked.push({
        commit,
        what,
        holds: actualTree === tree,
        ...(actualTree === tree ? {} : { why: `its tree is ${actualTree}, recorded is ${tree}` }),
      });
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
  /** Null for evidence that is gone or damaged. */
  readonly evidenceByHash: ReadonlyMap<string, Evidence | null>;
  readonly isForeign: boolean;
};

/**
 * Runs each distinct check on a commit once more; `statusByHash` has the result for every piece of
 * evidence.
 */
async function recheckEvidence(
  context: CommandContext,
  {
    paths,
    repository,
    view,
    records: { results, uncountedProtectedChanges: oracles },
    evidenceByHash,
    isForeign,
  }: RecheckInput,
): Promise<{
  readonly evidence: readonly RecheckedEvidence[];
  readonly isolation: string | null;
  readonly statusByHash: ReadonlyMap<string, CheckStatus>;
}> {
  const evidence: RecheckedEvidence[] = [];
  const statusByHash = new Map<string, CheckStatus>();
  const evidenceByKey = new Map<string, { readonly record: Evidence; readonly hashes: string[] }>();

  for (const [hash, { check, status }] of results) {
    const record = evidenceByHash.get(hash) ?? null;
    if (record === null) {
      evidence.push({
        id: hash,
        command: check.command,
        commit: null,
        recorded: status,
        now: goneText,
        holds: false,
      });

      continue;
    }

    const key = JSON.stringify([record.check.id, record.commit, record.oracles ?? []]);
    const hashes = [...(evidenceByKey.get(key)?.hashes ?? []), hash];
    evidenceByKey.set(key, { record, hashes }); // the newest one counts
  }

  if (isForeign) {
    for (const { record, hashes } of evidenceByKey.values()) {
      evidence.push(compareEvidence(record, hashes.at(-1) ?? "", { why: notYoursText }));
    }
  }

  if (isForeign || evidenceByKey.size === 0) return { evidence, isolation: null, statusByHash };
  const folder = await createTemporaryFolder("verify");

  try {
    const recheck = await openRecheck(context, { paths, repository, view, folder });
    try {
      for (const [done, { record, hashes }] of [...evidenceByKey.values()].entries()) {
        context.live(`  · again: ${record.check.command}`);
        const result = await recheck.rerun(record, oracles.get(record.commit ?? "") ?? []);
        if (context.interrupted.aborted) return refuseInterrupted(view, done, evidenceByKey.size);
        const rechecked = compareEvidence(record, hashes.at(-1) ?? "", result);
        if ("status" in result && rechecked.holds !== null) {
          for (const hash of hashes) statusByHash.set(hash, result.status);
        }

        evidence.push(rechecked);
      }

      return { evidence, isolation: recheck.isolation, statusByHash };
    } finally {
      recheck.close();
    }
  } finally {
    eraseSync(folder);
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
