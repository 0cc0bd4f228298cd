// evidence: builds and stores the record of what the runner saw when it ran a check.

import { listSome } from "../kit/list-some.ts";
import * as v from "valibot";
import {
  type Check,
  type CheckResult,
  type CheckStatus,
  Evidence,
  type Recorded,
  type TestNames,
  type TestTally,
} from "../contracts/evidence.ts";
import type { GitSha, Hash } from "../contracts/ids.ts";
import type { Redactor } from "../kit/redact.ts";
import { redactValue } from "../kit/redact-value.ts";
import type { CommandResult } from "./run-command.ts";
import { buildFailingExcerpt } from "./failing-excerpt.ts";
import { patternRedactor, readLastLines, toStoredOutput } from "./bounded-output.ts";

export type PutBlob = (bytes: Uint8Array) => Promise<Hash>;

export type Observation = {
  readonly check: Check;
  readonly result: CommandResult;
  /** Never `cancelled`: a cancelled command proves nothing, and has no evidence. */
  readonly status: CheckStatus;
  readonly cwd: string;
  readonly isolation: string;
  readonly commit: GitSha | null;
  readonly treeBefore: GitSha | null;
  readonly treeAfter: GitSha | null;
  readonly product: string;
  /** Its result each time, if it was run more than once. */
  readonly statuses?: readonly CheckStatus[];
  /** Paths that were the base's instead of the commit's. */
  readonly fromBase?: readonly string[];
  readonly dependencies?: Hash | null;
  readonly tests?: TestTally | null;
  readonly testsBefore?: TestTally | undefined;
  readonly names?: TestNames | null;
  readonly recorded?: Recorded | null;
  /** The lines of its output that report a failure. */
  readonly failing?: readonly string[];
  /**
   * What it needed and did not have here: packages that a manifest names, or hosts it could not
   * reach.
   */
  readonly uninstalled?: string;
  /** Tests that passed on the base and fail now. */
  readonly broke?: readonly string[];
  /** Protected files that it rewrote as it ran. */
  readonly rewrote?: readonly string[];
  /** Protected files that were written to as it ran, even if they have their old content again. */
  readonly touched?: readonly string[];
  /** Why it did not pass although its exit code says so. */
  readonly why?: string | null;
  /** What its pass leaves open. */
  readonly gap?: string | null;
  readonly quarantine?: { readonly until: string; readonly isOver: boolean } | null;
};

const excerptLinesMax = 40;
const excerptBytesMax = 4096;
/**
 * In UTF-8 less than excerptBytesMax, whatever the characters: long paths leave room for the
 * output.
 */
const noteCharsMax = 1_000;
const failedShownMax = 5;
const baseFilesShownMax = 5;

/**
 * Stores the output and the evidence as blobs. The output has been redacted already; everything
 * else is redacted here.
 */
export async function storeEvidence(
  observation: Observation,
  putBlob: PutBlob,
  redactor: Redactor = patternRedactor,
): Promise<CheckResult> {
  const { result } = observation;
  const output =
    result.output.totalBytes === 0 ? null : await putBlob(toStoredOutput(result.output));
  const record = redactValue(redactor.text, buildEvidence(observation, output));
  const evidence = await putBlob(Buffer.from(`${JSON.stringify(record)}\n`));
  const { check, status, quarantine = null } = observation;
  const activeQuarantine =
    quarantine === null || quarantine.isOver ? {} : { quarantined: quarantine.until };
  const { tests: tally = null, why = null, broke = [] } = observation;
  const failed = redactor.text(listFailed(observation.names?.failed ?? []));

  const details = {
    ...(tally === null ? {} : { tests: tally }),
    ...(failed === "" ? {} : { failed }),
    ...(observation.uninstalled === undefined
      ? {}
      : { uninstalled: redactor.text(observation.uninstalled) }),
    ...(broke.length === 0 ? {} : { broke: broke.length }),
    ...(why === null ? {} : { why: redactor.text(why) }),
    ...(observation.gap == null ? {} : { gap: redactor.text(observation.gap) }),
  };

  return {
    check,
    status,
    exit_code: result.exitCode,
    duration_ms: result.durationMs,
    evidence,
    ...activeQuarantine,
    ...details,
  };
}

const listFailed = (names: readonly string[]): string =>
  [...names.slice(0, failedShownMax), ...(names.length > failedShownMax ? ["…"] : [])].join(", ");

/** The excerpt ends with the runner's own note on how the command ended, marked as the runner's. */
export function buildEvidence(observation: Observation, outputHash: Hash | null): Evidence {
  const {
    check,
    result,
    status,
    cwd,
    isolation,
    commit,
    treeBefore,
    treeAfter,
    product,
    statuses = [],
    fromBase = [],
  } = observation;
  const treeNote = treeBefore !== treeAfter ? "it changed files of the tree it ran on" : "";
  const notes = [result.note, treeNote, ...describeObservation(observation)]
    .filter((text) => text !== "")
    .join("; ");
  const shortNotes = notes.length > noteCharsMax ? `${notes.slice(0, noteCharsMax)}…` : notes;
  const note = notes === "" ? "" : `[autopilot: ${shortNotes}]`;
  const bytesMax = excerptBytesMax - Buffer.byteLength(note) - 1; // for the line break before the note
  const linesMax = note === "" ? excerptLinesMax : excerptLinesMax - 1;
  const excerpt =
    status === "passed"
      ? readLastLines(result.output, linesMax, bytesMax)
      : buildFailingExcerpt(result.output, observation.failing ?? [], { linesMax, bytesMax });

  return {
    check,
    argv: [...result.argv],
    cwd,
    isolation,
    env_hash: result.envHash,
    commit,
    tree_before: treeBefore,
    tree_after: treeAfter,
    status,
    exit_code: result.exitCode,
    signal: result.signal,
    duration_ms: result.durationMs,
    output_hash: outputHash,
    output_bytes: result.output.totalBytes,
    output_excerpt: [excerpt, note].filter((part) => part !== "").join("\n"),
    at: result.startedAt,
    product,
    ...(statuses.length > 1 ? { repeats: [...statuses] } : {}),
    ...(fromBase.length === 0 ? {} : { oracles: [...fromBase] }),
    ...(observation.dependencies == null ? {} : { dependencies: observation.dependencies }),
    ...(observation.tests == null ? {} : { tests: observation.tests }),
    ...(observation.testsBefore === undefined ? {} : { tests_before: observation.testsBefore }),
    ...(observation.rewrote === undefined || observation.rewrote.length === 0
      ? {}
      : { rewrote: [...observation.rewrote] }),
    ...(observation.touched === undefined || observation.touched.length === 0
      ? {}
      : { touched: [...observation.touched] }),
    ...(observation.names == null ? {} : { names: observation.names }),
    ...(observation.recorded == null ? {} : { recorded: observation.recorded }),
    ...(observation.gap == null ? {} : { gap: observation.gap }),
  };
}

/** Evidence as stored; null if these bytes are not evidence. */
export function parseEvidence(bytes: Uint8Array): Evidence | null {
  try {
    return v.parse(Evidence, JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch {
    return null;
  }
}

/** What a person should know beyond this one run of the command. */
function describeObservation({
  status,
  statuses = [],
  fromBase = [],
  quarantine = null,
}: Observation): readonly string[] {
  return [
    status === "flaky" ? `on one and the same tree it came to ${statuses.join(", then ")}` : "",
    fromBase.length === 0 ? "" : `run with the base's ${listSome(fromBase, baseFilesShownMax)}`,
    quarantine === null ? "" : describeQuarantine(quarantine),
  ];
}

const describeQuarantine = ({ isOver, until }: NonNullable<Observation["quarantine"]>): string =>
  isOver
    ? `its quarantine ended with ${until}, so it counts again`
    : `in quarantine until ${until}: it proves nothing and is not held against the run`;
