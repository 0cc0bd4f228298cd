// trace: shows what agents and autopilot did in each phase, span by span. A roadmap keeps its spans
// in files in the phases' folders; those of every other run are built from its journal and its
// transcripts.
//
// Invariants:
//   T1. Every whole line counts or is reported, the first ones with their numbers; a line that a
//       crash cut in two is skipped.

import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { CommandResponse } from "../contracts/command-response.ts";
import { TraceSpan } from "../contracts/roadmap-reports.ts";
import { tracePage } from "../views/trace-page.ts";
import { comparePhaseIds, parsePhaseId } from "../documents/phase-id.ts";
import { buildRunTrace } from "../views/run-trace.ts";
import { readEntries } from "../project/runs/read-entries.ts";
import {
  findCurrentRun,
  findProject,
  type ProjectPaths,
  resolveRun,
  runFolder,
} from "../project/runs/project-paths.ts";
import type { CommandContext } from "../project/command-context.ts";
import { readEvidence } from "../project/runs/read-evidence.ts";
import { readRun } from "../project/runs/read-run.ts";
import { readTranscripts } from "../project/runs/transcript-read.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { phasesFolder } from "../contracts/roadmap-places.ts";

const fileBytesMax = 64 * 1_048_576;
/** Of one file. */
const badLinesShownMax = 10;

type Input = { readonly run?: string | undefined; readonly phase?: string | undefined };

/** Shows the spans of a run or of every phase here, all of them or those of one phase. */
export function trace(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findProject(context.cwd);
    const root = paths?.root ?? context.cwd;
    const phaseFilter =
      input.phase === undefined ? null : (parsePhaseId(input.phase) ?? input.phase);
    const period = await readPeriod(paths, input.run);
    const journalTrace =
      paths === null
        ? null
        : await traceFromJournal(paths, input.run ?? findCurrentRun(paths), phaseFilter);
    if (journalTrace !== null) return journalTrace;
    const traces = readTraceFiles(root, phaseFilter);
    const spans = traces.spans.filter(
      ({ timestamp }) => period === null || (timestamp >= period.from && timestamp <= period.to),
    );

    const runFields = period === null ? {} : { run_id: period.run, state: period.state };
    const ofRun = period === null ? "" : ` of ${period.run}`;

    if (spans.length === 0 && traces.warnings.length === 0) {
      return refuse("missing_docs", {
        ...runFields,
        message: `There is no trace${ofPhase(phaseFilter)}${ofRun} here: looked for ${phasesFolder}/${phaseFilter ?? "*"}/TRACE.jsonl.`,
        remediation: [
          traces.phases.length === 0
            ? "traces are written while a roadmap is run: autopilot roadmap"
            : `phases with one: ${traces.phases.join(", ")}`,
        ],
      });
    }

    return respond("ok", {
      ...runFields,
      message: `${spans.length} spans of ${traces.phases.length} phases.`,
      warnings: traces.warnings,
      page: tracePage(spans),
      data: { phases: traces.phases, spans },
    });
  });
}

/**
 * The response for a run whose flow keeps no trace files; null if there is no run, or it keeps its
 * spans in files.
 */
async function traceFromJournal(
  paths: ProjectPaths,
  runName: string | null,
  phaseFilter: string | null,
): Promise<CommandResponse | null> {
  const run = runName === null ? null : resolveRun(paths, runName);
  if (run === null) return null;
  const { view } = await readRun(paths, run);
  if (view.drafted.flow.playbook === "roadmap") return null;
  const folder = runFolder(paths, run);
  const { entries } = await readEntries(paths, run);
  const allSpans = buildRunTrace(entries, readTranscripts(folder), (hash) =>
    readEvidence(folder, hash),
  );
  const spans =
    phaseFilter === null ? allSpans : allSpans.filter(({ phase_id }) => phase_id === phaseFilter);
  const phases = [...new Set(allSpans.map(({ phase_id }) => phase_id))];
  const runFields = { run_id: run, state: view.status };

  if (spans.length === 0) {
    const reason =
      phases.length === 0 ? "no step has begun" : `its phases are ${phases.join(", ")}`;
    return refuse("missing_docs", {
      ...runFields,
      message: `There is no trace${ofPhase(phaseFilter)} of ${run}: ${reason}.`,
      remediation: ["autopilot log"],
    });
  }

  return respond("ok", {
    ...runFields,
    message: `${spans.length} spans of ${run}.`,
    page: tracePage(spans),
    data: { phases, spans },
  });
}

/** ` of phase 3`, for the middle of a sentence; empty for all phases. */
const ofPhase = (phase: string | null): string => (phase === null ? "" : ` of phase ${phase}`);

/** When the named run worked: only spans of that time are its own. Null if no run was named. */
async function readPeriod(paths: ReturnType<typeof findProject>, runName: string | undefined) {
  const run = runName === undefined || paths === null ? null : resolveRun(paths, runName);
  if (paths === null || run === null) return null;
  const { view, owner } = await readRun(paths, run);

  // While a process works on it there is no end yet: times are compared as text, and "9999" comes
  // after each of them.
  return {
    run,
    state: view.status,
    from: view.startedAt ?? view.updatedAt,
    to: owner === null ? view.updatedAt : "9999",
  };
}

type Traces = {
  readonly spans: readonly TraceSpan[];
  readonly phases: readonly string[];
  readonly warnings: readonly string[];
};

function readTraceFiles(root: string, phaseFilter: string | null): Traces {
  const spans: TraceSpan[] = [];
  const phases: string[] = [];
  const warnings: string[] = [];

  for (const folder of readFolders(join(root, phasesFolder))) {
    if (phaseFilter !== null && phaseIdOfFolder(folder) !== phaseFilter) continue;
    const path = `${phasesFolder}/${folder}/TRACE.jsonl`;
    const traceFile = readTraceFile(join(root, path));
    if (traceFile === "absent") continue;
    phases.push(phaseIdOfFolder(folder));

    if (traceFile === "too large") {
      warnings.push(`${path} is larger than ${fileBytesMax} bytes and was not read.`);
      continue;
    }

    let badLines = 0;
    const wholeLines = traceFile.content
      .slice(0, traceFile.content.lastIndexOf("\n") + 1)
      .split("\n"); // T1
    for (const [index, line] of wholeLines.entries()) {
      if (line.trim() === "") continue;
      const span = parseSpan(line);
      if (span !== null) {
        spans.push(span);
      } else if (++badLines <= badLinesShownMax) {
        warnings.push(`${path}:${index + 1} is no trace span and was left out.`);
      } // T1
    }

    if (badLines > badLinesShownMax) {
      warnings.push(`${path}: ${badLines - badLinesShownMax} more lines are no trace spans.`);
    } // T1
  }

  return { spans, phases, warnings };
}

/** `03` of the folder `03-login-form`; a folder that begins with no number is its own id. */
const phaseIdOfFolder = (folder: string): string =>
  parsePhaseId(/^[\d.]+(?=-|$)/.exec(folder)?.[0] ?? "") ?? folder;

function readFolders(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .toSorted(
        (a, b) => comparePhaseIds(phaseIdOfFolder(a), phaseIdOfFolder(b)) || (a < b ? -1 : 1),
      );
  } catch {
    return []; // no phase was run yet
  }
}

/**
 * The file's text, unless there is none or it is too large. Neither a link nor a pipe is opened.
 */
function readTraceFile(path: string): { readonly content: string } | "absent" | "too large" {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return "absent";
  }

  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return "absent";
    if (stats.size > fileBytesMax) return "too large";
    const bytes = Buffer.alloc(stats.size);

    return { content: bytes.toString("utf8", 0, readSync(fd, bytes, 0, stats.size, 0)) };
  } finally {
    closeSync(fd);
  }
}

function parseSpan(line: string): TraceSpan | null {
  try {
    const parsed = v.safeParse(TraceSpan, JSON.parse(line));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}
