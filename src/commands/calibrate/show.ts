// show: shows calibration cycles (status, report, list) and resumes one.

import { join, resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { listCycleNames, readCycle, readCycles } from "../../calibration/bench/log-file.ts";
import { calibrationsFolder, withCycle } from "../../calibration/bench/open-cycle.ts";
import { isOwnCycle } from "../../calibration/bench/own-cycles.ts";
import { renderAudit } from "../../calibration/cycle/audit.ts";
import { renderCycleFile } from "../../calibration/cycle/cycle-file.ts";
import { cyclesFolder } from "../../calibration/cycle/plan.ts";
import type { Cycle } from "../../calibration/cycle/state.ts";
import { describeState } from "../../calibration/cycle/describe-results.ts";
import { findOwner } from "../../journal/owner.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { requireProject, type ProjectPaths } from "../../project/runs/project-paths.ts";
import { alignColumns } from "../../views/align-columns.ts";
import { oneLine, plural } from "../../views/wording.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { requireWritable, writeHtml } from "../html-file.ts";
import { buildCycleData, renderCyclePage } from "./cycle-page.ts";
import { driveOpenCycle } from "./drive-open-cycle.ts";

type FoundCycle = {
  readonly paths: ProjectPaths;
  readonly cycle: Cycle;
  /** Whether this user started it here. */
  readonly isOwn: boolean;
};

/**
 * The cycle that is meant: the named one, else the only open one, else the newest. `choice`: "open"
 * refuses a cycle that has ended unless it was named, and asks which of several open ones is meant.
 */
async function findCycle(
  context: CommandContext,
  name: string | undefined,
  choice: "open" | "any",
): Promise<FoundCycle> {
  const paths = await requireProject(context.cwd);
  if (name === undefined) return chooseCycle(context, paths, choice);

  const names = listCycleNames(paths.root);
  if (!names.includes(name)) {
    refuse("calibration_missing", {
      message: `There is no calibration cycle ${JSON.stringify(name)} here.${didYouMean(name, names)}`,
    });
  }

  const cycle = readCycle(paths.root, name);
  return { paths, cycle, isOwn: isOwnCycle(context.env, paths.root, cycle) };
}

function chooseCycle(
  context: CommandContext,
  paths: ProjectPaths,
  choice: "open" | "any",
): FoundCycle {
  const everyCycle = readCycles(paths.root).cycles;
  const ownCycles = everyCycle.filter((cycle) => isOwnCycle(context.env, paths.root, cycle));
  const isOwn = ownCycles.length > 0;
  const cycles = isOwn ? ownCycles : everyCycle; // another user's cycle is never meant while there is one of this user's
  const openCycles = cycles.filter(({ end }) => end === null);
  const [openCycle] = openCycles;

  if (openCycle !== undefined && openCycles.length === 1) return { paths, cycle: openCycle, isOwn };
  if (openCycles.length > 1 && choice === "open") {
    refuse("calibration_input_invalid", {
      message: `${openCycles.length} cycles are open.`,
      remediation: openCycles.map((cycle) => `autopilot calibrate resume ${cycle.name}`),
    });
  }

  const byStart = cycles.toSorted((left, right) => (left.startedAt < right.startedAt ? -1 : 1));
  const newest = byStart.at(-1);
  if (newest === undefined) return refuseMissing("There is no calibration cycle here.");
  if (choice === "open" && openCycle === undefined) {
    return refuseMissing("No calibration cycle is open here.");
  }

  return { paths, cycle: newest, isOwn };
}

function refuseMissing(message: string): never {
  return refuse("calibration_missing", {
    message,
    remediation: ["autopilot help calibrate start"],
  });
}

const notYoursText = "not started by you here";

/** Said of a cycle that this user did not start here. */
function foreignLines(cycle: Cycle): readonly string[] {
  const isOpen = cycle.end === null;
  return [
    `  ! You didn't start this cycle here: it came with the repository, or its log was changed since.`,
    `    Its figures are what its log says${isOpen ? "; nothing of it is executed" : ""}.`,
  ];
}

function describeOwnState(cycle: Cycle, isOwn: boolean): string {
  return isOwn ? describeState(cycle) : `${describeState(cycle)}, ${notYoursText}`;
}

/**
 * What can be done with another user's cycle. It isn't run: its commands come from somebody else.
 */
const foreignRemediation = ({ name }: Cycle): readonly string[] => [
  `read its plan in "${cyclesFolder}/${name}/run_state.jsonl", then begin a cycle of your own: autopilot help calibrate start`,
  `to be rid of it: git rm -r -- "${cyclesFolder}/${name}"`,
];

/**
 * The process that works on this cycle now. Only one cycle is worked on at a time: the open one
 * whose log was written last.
 */
function findWorker(context: CommandContext, paths: ProjectPaths, cycle: Cycle): number | null {
  const owner = cycle.end === null ? findOwner(join(paths.folder, calibrationsFolder)) : null;
  if (owner === null) return null;
  const openCycles = readCycles(paths.root).cycles.filter(
    (candidate) => candidate.end === null && isOwnCycle(context.env, paths.root, candidate),
  );
  const newest = openCycles.toSorted((left, right) => (left.lastAt < right.lastAt ? -1 : 1)).at(-1);

  return newest?.name === cycle.name ? owner.pid : null;
}

export function showCalibrationStatus(
  context: CommandContext,
  input: { readonly name?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, cycle, isOwn } = await findCycle(context, input.name, "any");
    const pid = isOwn ? findWorker(context, paths, cycle) : null;
    const page = [...renderCyclePage(cycle)];
    if (pid !== null) page.push(`  process ${pid} is at work on it`);
    if (!isOwn) page.push("", ...foreignLines(cycle));

    const needsNobody = cycle.end !== null || pid !== null;
    const remediation = isOwn
      ? [`autopilot calibrate resume ${cycle.name}`]
      : foreignRemediation(cycle);

    return respond("ok", {
      message: `The cycle ${cycle.name}: ${describeOwnState(cycle, isOwn)}.`,
      page,
      data: { ...buildCycleData(cycle), own: isOwn, process: pid },
      remediation: needsNobody ? [] : remediation,
    });
  });
}

type ReportInput = { readonly name?: string | undefined; readonly html?: string | undefined };

export function showCalibrationReport(
  context: CommandContext,
  input: ReportInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { cycle, isOwn } = await findCycle(context, input.name, "any");
    if (input.html !== undefined) {
      const path = resolve(context.cwd, input.html);
      requireWritable(path);
      return writeHtml(path, renderCycleFile(cycle), null);
    }

    const auditLines = renderAudit(cycle).trimEnd().split("\n");
    const page = isOwn ? auditLines : [...foreignLines(cycle), "", ...auditLines];
    return respond("ok", {
      message: `The cycle ${cycle.name}: ${describeOwnState(cycle, isOwn)}.`,
      page,
      data: { ...buildCycleData(cycle), own: isOwn, audit: page.join("\n") },
    });
  });
}

export function listCalibrations(context: CommandContext): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = await requireProject(context.cwd);
    const { cycles, broken } = readCycles(paths.root);
    const isOwn = (cycle: Cycle): boolean => isOwnCycle(context.env, paths.root, cycle);

    const rows = cycles.map((cycle) => [
      cycle.name,
      describeOwnState(cycle, isOwn(cycle)),
      `iteration ${cycle.iteration}`,
      plural(cycle.benchmarks.length, "benchmark"),
      oneLine(cycle.lever, 40),
    ]);
    const page =
      cycles.length === 0
        ? ["No calibration cycles here.", "", "→ autopilot help calibrate start"]
        : alignColumns(rows);

    const cyclesData = cycles.map((cycle) => ({ ...buildCycleData(cycle), own: isOwn(cycle) }));
    return respond("ok", {
      message: plural(cycles.length, "calibration cycle"),
      page,
      warnings: broken.map(({ name, why }) => `${name} can't be read: ${oneLine(why, 200)}`),
      data: { cycles: cyclesData, broken },
    });
  });
}

/** Drives an open cycle of this user's on from where its log ends. */
export function resumeCalibration(
  context: CommandContext,
  input: { readonly name?: string | undefined; readonly jobs?: number | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, cycle, isOwn } = await findCycle(context, input.name, "open");
    if (cycle.end !== null) {
      return respond("ok", {
        message: `The cycle ${cycle.name} has ended: ${cycle.end.verdict}.`,
        page: renderCyclePage(cycle),
        data: buildCycleData(cycle),
      });
    }

    if (cycle.plan === null) {
      return refuse("calibration_input_invalid", {
        message: `${cyclesFolder}/${cycle.name}/run_state.jsonl does not say what is run for its benchmarks; another tool began it.`,
        remediation: ["begin a cycle of your own: autopilot help calibrate start"],
      });
    }

    if (!isOwn) {
      return refuse("run_foreign", {
        message: `You didn't start the cycle ${cycle.name} here, or its log was changed since. It runs commands, so nothing of it is executed.`,
        remediation: foreignRemediation(cycle),
      });
    }

    const jobs = input.jobs ?? cycle.plan.jobs;
    return withCycle(context, paths, { name: cycle.name, isNew: false }, (open) =>
      driveOpenCycle(context, open, jobs),
    );
  });
}
