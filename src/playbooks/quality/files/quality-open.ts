// quality-open: writes the files of a quality run while it works. The log is only appended to;
// PROGRESS.md and the gate's log are rewritten.
//
// Invariants:
//   D1. Files that a line of the log refers to are on disk before the line: first the gate's log,
//       then PROGRESS.md, then the line.
//   D2. Changes that others made to these two files are kept in the run's folder before they are
//       overwritten (generated-files.ts).

import type { Entry } from "../../../contracts/event.ts";
import { renderGateLog } from "../views/quality-gate-log.ts";
import { renderProgressPage } from "../views/quality-progress.ts";
import {
  earlierLogPath,
  gateLogPath,
  progressPath,
  qualityLogPath,
} from "../views/quality-names.ts";
import { QualityLog } from "../views/quality-log.ts";
import type { RunView } from "../../../core/state.ts";
import type { PlaybookParts, OpenedPlaybook } from "../../contract/playbook.ts";
import { type LogDifference, type EarlierLog, QualityLogFile } from "./quality-log-file.ts";
import { openGeneratedFiles } from "../../contract/generated-files.ts";

export async function openQualityPlaybook(parts: PlaybookParts): Promise<OpenedPlaybook> {
  await Promise.resolve(); // the contract is asynchronous, and this playbook has nothing to wait for
  const log = buildLog(parts);
  const { drafted } = parts.view();
  const logFile = new QualityLogFile(parts.root, log, findEarlierLog(drafted, parts.readBlob));
  const gatePassedEarlier = drafted.options["earlier_verified"] === true;
  const generatedFiles = openGeneratedFiles(parts.root, parts.folder); // D2
  const writeIfAny = (path: string, text: string): Promise<void> =>
    text === "" ? Promise.resolve() : generatedFiles.write(path, text);

  return {
    onEntry: (entry) => log.add(entry),
    writeFiles: async () => {
      if (log.volumes.length === 0) return;
      const difference = await logFile.findDifference();
      const logDifference = difference === null ? null : describeDifference(difference);
      if (log.gate !== null) await writeIfAny(gateLogPath, renderGateLog(log.gate)); // D1
      await writeIfAny(progressPath, renderProgressPage(log, { logDifference, gatePassedEarlier }));
      if (difference === null) await logFile.write();
    },
    takeWarnings: () => generatedFiles.takeWarnings(),
  };
}

/** The log a run's journal yields so far. */
export function buildLog({
  entries,
  readBlob,
}: {
  entries: () => Iterable<Entry>;
  readBlob: PlaybookParts["readBlob"];
}): QualityLog {
  const log = new QualityLog((hash) => readBlob(hash)?.toString("utf8") ?? null);
  for (const entry of entries()) log.add(entry);
  return log;
}

/** The log that existed when the run was drafted; null if there was none. */
export function findEarlierLog(
  { options, documents }: RunView["drafted"],
  readBlob: PlaybookParts["readBlob"],
): EarlierLog | null {
  const { earlier_log: kind, earlier_bytes: bytes, earlier_hash: hash } = options;
  if (kind !== "continued" && kind !== "moved") return null;
  const blobHash = documents?.find(({ path }) => path === earlierLogPath)?.hash;
  const text = blobHash === undefined ? null : (readBlob(blobHash)?.toString("utf8") ?? null);

  return {
    bytes: typeof bytes === "number" ? bytes : 0,
    hash: typeof hash === "string" ? hash : "",
    text,
  };
}

/** For the warning and for PROGRESS.md. */
export const describeDifference = ({ line, actual }: LogDifference): string =>
  `${qualityLogPath} is not what the journal yields, from line ${line} on (found ${JSON.stringify(actual)}). It is left as it is and nothing is added to it; move it away, and it is drawn anew when the run is next taken up.`;
