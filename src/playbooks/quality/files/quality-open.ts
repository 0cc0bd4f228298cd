// quality-open: the files of a quality run, drawn beside it. The log is only added to; PROGRESS.md and the gate's log are written whole.
//
// Invariants:
//   D1. What a line of the log rests on is on disk before the line is: first the gate's log, then PROGRESS.md, then the line.
//   D2. What a person or another tool wrote into those two is kept in the run's folder before they are drawn over (sheets.ts).

import type { Entry } from "../../../contracts/event.ts";
import { gateLog } from "../views/quality-gate-log.ts";
import { progressPage } from "../views/quality-progress.ts";
import { earlierLogPath, gateLogPath, progressPath, runStatePath } from "../views/run-state-names.ts";
import { RunStateLog } from "../views/run-state.ts";
import type { RunView } from "../../../core/state.ts";
import type { PlaybookParts, OpenedPlaybook } from "../../contract/playbook.ts";
import { type Differs, type EarlierLog, QualityLogFile } from "./quality-log-file.ts";
import { openGeneratedFiles } from "../../contract/generated-files.ts";

export async function openQualityPlaybook(parts: PlaybookParts): Promise<OpenedPlaybook> {
  await Promise.resolve();
  const log = logOf(parts);
  const { drafted } = parts.view();
  const file = new QualityLogFile(parts.root, log, findEarlierLog(drafted, parts.readBlob));
  const isVerifiedEarlier = drafted.options["earlier_verified"] === true;
  const generatedFiles = openGeneratedFiles(parts.root, parts.folder); // D2
  const drawWhole = (path: string, text: string): Promise<void> => (text === "" ? Promise.resolve() : generatedFiles.draw(path, text));
  return {
    take: (entry) => log.take(entry),
    draw: async () => {
      if (log.volumes.length === 0) return;
      const differs = await file.differs();
      if (log.gate !== null) await drawWhole(gateLogPath, gateLog(log.gate)); // D1
      await drawWhole(
        progressPath,
        progressPage(log, { differs: differs === null ? null : describeDifference(differs), isVerifiedEarlier }),
      );
      if (differs === null) await file.write();
    },
    remarks: () => generatedFiles.remarks(),
  };
}

/** The log a run's journal yields so far. */
export function logOf({ entries, readBlob }: { entries: () => Iterable<Entry>; readBlob: PlaybookParts["readBlob"] }): RunStateLog {
  const log = new RunStateLog((hash) => readBlob(hash)?.toString("utf8") ?? null);
  for (const entry of entries()) log.take(entry);
  return log;
}

/** The log the run found when it was drafted; null if there was none. */
export function findEarlierLog({ options, documents }: RunView["drafted"], readBlob: PlaybookParts["readBlob"]): EarlierLog | null {
  const { earlier_log: kind, earlier_bytes: bytes, earlier_hash: hash } = options;
  if (kind !== "continued" && kind !== "moved") return null;
  const blob = documents?.find(({ path }) => path === earlierLogPath)?.hash;
  const text = blob === undefined ? null : (readBlob(blob)?.toString("utf8") ?? null);
  return { bytes: typeof bytes === "number" ? bytes : 0, hash: typeof hash === "string" ? hash : "", text };
}

export const describeDifference = ({ line, found }: Differs): string =>
  `${runStatePath} is not what the journal yields, from line ${line} on (found ${JSON.stringify(found)}). It is left as it is and nothing is added to it; move it away, and it is drawn anew when the run is next taken up.`;
