// quality-foreign: detects an open quality run that another tool started, from its log.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { progressPath, qualityLogPath } from "../views/quality-names.ts";
import { parseLog } from "../views/parse-quality-log.ts";
import { type Finding } from "../../../kit/finding.ts";
import { findProject, runFolder } from "../../../project/runs/project-paths.ts";
import type { CommandContext } from "../../../project/command-context.ts";
import type { ForeignRun } from "../../contract/playbook.ts";
import { selectReusableHead, describeProgress } from "./quality-prepare.ts";
import { readBounded } from "../../contract/whole-file.ts";

const logBytesMax = 8 * 1024 * 1024;

/**
 * An open quality log that no run with a journal here owns: another tool began it, or its journal
 * was deleted.
 */
export async function findForeignQuality(
  _context: CommandContext,
  root: string,
): Promise<ForeignRun | null> {
  const file = await readBounded(root, qualityLogPath, logBytesMax);
  if (file.kind !== "read" || file.bytes.toString("utf8").trim() === "") return null;
  const log = parseLog(file.bytes.toString("utf8"));
  const { benchmark } = log.head;
  if (benchmark === undefined || log.end !== null || isOurs(root, log.start?.["run_id"])) {
    return null;
  }

  const findings = log.errors.map(({ line, rule, message, severity }): Finding => ({
    file: qualityLogPath,
    line,
    column: 1,
    path: "",
    rule,
    message,
    severity,
  }));

  const { runner } = log.head;
  const startedText = log.index === null ? "" : `, begun ${log.index.started_at}`;
  const runnerText = runner === undefined ? "" : ` with ${runner}`;
  const progressText =
    findings.length > 0 ? "its log is damaged, so a new one will be begun" : describeProgress(log);

  return {
    flow: "quality",
    files: [qualityLogPath, ...(existsSync(join(root, progressPath)) ? [progressPath] : [])],
    summary: `a quality run of ${benchmark}${startedText}${runnerText}: ${progressText}`,
    options: selectReusableHead(log),
    findings,
  };
}

/** Whether the run a log names has a journal here. */
function isOurs(root: string, runId: unknown): boolean {
  const paths = findProject(root);
  if (paths === null || typeof runId !== "string") return false;
  // The id comes from a file of the project, so its form is checked before it becomes part of a
  // path.
  return /^run-[\d-]+$/.test(runId) && existsSync(join(runFolder(paths, runId), "journal.jsonl"));
}
