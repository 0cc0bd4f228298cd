// evidence: builds the record of what the runner saw when it ran a check, stored by its hash.

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
import type { CommandResult } from "./command.ts";
import { patternRedactor, excerptOf, storedOutput } from "./output.ts";

export type PutBlob = (bytes: Uint8Array) => Promise<Hash>;

export type Sighting = {
  readonly check: Check;
  readonly result: CommandResult;
  /** A cancelled command proves nothing, so it has no evidence and arrives here without a status. */
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
  readonly oracles?: readonly string[];
  readonly dependencies?: Hash | null;
  readonly tests?: TestTally | null;
  readonly testsBefore?: TestTally | undefined;
  readonly names?: TestNames | null;
  readonly recorded?: Recorded | null;
  /** The lines of its output that report a failure. */
  readonly failing?: readonly string[];
  /** Packages that a manifest names and that are not installed. */
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
const failedShownMax = 5;

/** The output has been redacted already; the command line and the message about its end have not. */
export async function keepEvidence(sighting: Sighting, putBlob: PutBlob, redactor: Redactor = patternRedactor): Promise<CheckResult> {
  const { result } = sighting;
  const output = result.output.totalBytes === 0 ? null : await putBlob(storedOutput(result.output));
  const record = redactValue(redactor.text, evidenceOf(sighting, output));
  const evidence = await putBlob(Buffer.from(`${JSON.stringify(record)}\n`));
  const { check, status, quarantine = null } = sighting;
  const quarantined = quarantine === null || quarantine.isOver ? {} : { quarantined: quarantine.until };
  const { tests: reported = null, why = null, broke = [] } = sighting;
  const named = sighting.names?.failed ?? [];
  const failed = redactor.text([...named.slice(0, failedShownMax), ...(named.length > failedShownMax ? ["…"] : [])].join(", "));
  const tests = {
    ...(reported === null ? {} : { tests: reported }),
    ...(failed === "" ? {} : { failed }),
    ...(sighting.uninstalled === undefined ? {} : { uninstalled: redactor.text(sighting.uninstalled) }),
    ...(broke.length === 0 ? {} : { broke: broke.length }),
    ...(why === null ? {} : { why: redactor.text(why) }),
    ...(sighting.gap == null ? {} : { gap: redactor.text(sighting.gap) }),
  };
  return { check, status, exit_code: result.exitCode, duration_ms: result.durationMs, evidence, ...quarantined, ...tests };
}

/** The record itself. The excerpt ends with the runner's remark about the command's end, marked as the runner's. */
export function evidenceOf(sighting: Sighting, outputHash: Hash | null): Evidence {
  const { check, result, status, cwd, isolation, commit, treeBefore, treeAfter, product, statuses = [], oracles = [] } = sighting;
  const changed = treeBefore !== treeAfter ? "it changed files of the tree it ran on" : "";
  const notes = [result.note, changed, ...describeSighting(sighting)].filter((note) => note !== "").join("; ");
  const note = notes === "" ? "" : `[autopilot: ${notes}]`;
  const room = excerptBytesMax - Buffer.byteLength(note) - 1;
  const linesMax = note === "" ? excerptLinesMax : excerptLinesMax - 1;
  const excerpt = status === "passed" ? excerptOf(result.output, linesMax, room) : failingExcerpt(sighting, linesMax, room);
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
    ...(oracles.length === 0 ? {} : { oracles: [...oracles] }),
    ...(sighting.dependencies === undefined || sighting.dependencies === null ? {} : { dependencies: sighting.dependencies }),
    ...(sighting.tests == null ? {} : { tests: sighting.tests }),
    ...(sighting.testsBefore === undefined ? {} : { tests_before: sighting.testsBefore }),
    ...(sighting.rewrote === undefined || sighting.rewrote.length === 0 ? {} : { rewrote: [...sighting.rewrote] }),
    ...(sighting.touched === undefined || sighting.touched.length === 0 ? {} : { touched: [...sighting.touched] }),
    ...(sighting.names == null ? {} : { names: sighting.names }),
    ...(sighting.recorded == null ? {} : { recorded: sighting.recorded }),
    ...(sighting.gap == null ? {} : { gap: sighting.gap }),
  };
}

/** The end of the output, after the failing lines that are not in it. */
function failingExcerpt({ result, failing = [] }: Sighting, linesMax: number, bytesMax: number): string {
  const end = excerptOf(result.output, linesMax, bytesMax);
  const lines: string[] = [];
  for (const line of failing.filter((one) => !end.includes(one))) {
    if (Buffer.byteLength([...lines, line].join("\n")) > bytesMax / 3 || lines.length >= linesMax / 2) break;
    lines.push(line);
  }
  if (lines.length === 0) return end;
  const above = `${lines.join("\n")}\n[autopilot: the failing lines are above, the end of the output is below]\n`;
  return above + excerptOf(result.output, linesMax - lines.length - 1, bytesMax - Buffer.byteLength(above));
}

/** Evidence as stored; null if these bytes are not evidence. */
export function readEvidence(bytes: Uint8Array): Evidence | null {
  try {
    return v.parse(Evidence, JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch {
    return null;
  }
}

/** What a person should know beyond this one run of the command. */
function describeSighting({ status, statuses = [], oracles = [], quarantine = null }: Sighting): readonly string[] {
  return [
    status === "flaky" ? `on one and the same tree it came to ${statuses.join(", then ")}` : "",
    oracles.length === 0
      ? ""
      : `run with the base's ${oracles.slice(0, 5).join(", ")}${oracles.length > 5 ? ` and ${oracles.length - 5} more` : ""}`,
    quarantine === null
      ? ""
      : quarantine.isOver
        ? `its quarantine ended with ${quarantine.until}, so it counts again`
        : `in quarantine until ${quarantine.until}: it proves nothing and is not held against the run`,
  ];
}
