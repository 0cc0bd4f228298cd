// quality-foreign: detects an open quality run that another tool started, from its log.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { progressPath, runStatePath } from "../views/run-state-names.ts";
import { readLog } from "../views/run-state-read.ts";
import { type Finding } from "../../../kit/finding.ts";
import { findProject, runFolder } from "../../../project/runs/project-paths.ts";
import type { CommandContext } from "../../../project/command-context.ts";
import type { Foreign } from "../../contract/playbook.ts";
import { logReadHead, getQualityStatus } from "./quality-prepare.ts";
import { readBounded } from "../../contract/whole-file.ts";

const logBytesMax = 8 * 1024 * 1024;

/** A quality run that another tool began, or whose journal is gone: its log is here, open, and no run of ours keeps it. */
export async function foreignQuality(_context: CommandContext, root: string): Promise<Foreign | null> {
  const read = await readBounded(root, runStatePath, logBytesMax);
  if (read.kind !== "read" || read.bytes.toString("utf8").trim() === "") return null;
  const log = readLog(read.bytes.toString("utf8"));
  const { benchmark } = log.head;
  if (benchmark === undefined || log.end !== null || isOurs(root, log.start?.["run_id"])) return null;
  const findings = log.errors.map(({ line, rule, message, severity }): Finding => ({
    file: runStatePath,
    line,
    column: 1,
    path: "",
    rule,
    message,
    severity,
  }));
  const { runner } = log.head;
  const at = log.index === null ? "" : `, begun ${log.index.started_at}`;
  const begun = `a quality run of ${benchmark}${at}${runner === undefined ? "" : ` with ${runner}`}`;
  return {
    flow: "quality",
    files: [runStatePath, ...(existsSync(join(root, progressPath)) ? [progressPath] : [])],
    summary: `${begun}: ${findings.length > 0 ? "its log is damaged, so a new one will be begun" : getQualityStatus(log)}`,
    options: logReadHead(log),
    findings,
  };
}

/** Whether the run a log names has a journal here. */
function isOurs(root: string, run: unknown): boolean {
  const paths = findProject(root);
  return typeof run === "string" && /^run-[\d-]+$/.test(run) && paths !== null && existsSync(join(runFolder(paths, run), "journal.jsonl"));
}
