// show: calibration cycles as they stand: status, report, list; and resume, which goes on with one.

import { resolve } from "node:path";
import type { Answer } from "../../contracts/answer.ts";
import { cycleNames, readCycle } from "../../calibration/bench/log-file.ts";
import { withCycle } from "../../calibration/bench/open-cycle.ts";
import { isOwnCycle } from "../../calibration/bench/own-cycles.ts";
import { auditPage } from "../../calibration/cycle/audit.ts";
import { cycleFile } from "../../calibration/cycle/cycle-file.ts";
import { cyclesFolder } from "../../calibration/cycle/plan.ts";
import { standing } from "../../calibration/cycle/cycle-figures.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { answered, refuse, reply } from "../../project/reply.ts";
import { homeOf } from "../../project/runs/project-paths.ts";
import { columned } from "../../views/columned.ts";
import { oneLine, plural } from "../../views/wording.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { requireWritable, written } from "../html-file.ts";
import { cycleData, cyclePage } from "./cycle-page.ts";
import { driven } from "./driven.ts";

/** The cycle that is meant: the named one, the only open one, or the newest. */
async function meant(context: CommandContext, name: string | undefined, isOpenOnly: boolean) {
  const paths = await homeOf(context.cwd);
  const names = cycleNames(paths.root);
  if (name !== undefined) {
    if (!names.includes(name))
      refuse("calibration_missing", { message: `There is no calibration cycle ${JSON.stringify(name)} here.${didYouMean(name, names)}` });
    return { paths, cycle: readCycle(paths.root, name) };
  }
  const cycles = names.map((one) => readCycle(paths.root, one));
  const open = cycles.filter(({ end }) => end === null);
  const [only] = open;
  if (only !== undefined && open.length === 1) return { paths, cycle: only };
  if (open.length > 1 && isOpenOnly)
    refuse("calibration_input_invalid", {
      message: `${open.length} cycles are open.`,
      remediation: open.map((one) => `autopilot calibrate resume ${one.name}`),
    });
  const newest = cycles.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1)).at(-1);
  if (newest === undefined || (isOpenOnly && open.length === 0))
    return refuse("calibration_missing", {
      message: newest === undefined ? "There is no calibration cycle here." : "No calibration cycle is open here.",
      remediation: ["autopilot help calibrate start"],
    });
  return { paths, cycle: newest };
}

export function calibrationStatus(context: CommandContext, input: { readonly name?: string | undefined }): Promise<Answer> {
  return answered(async () => {
    const { cycle } = await meant(context, input.name, false);
    return reply("ok", {
      message: `The cycle ${cycle.name}: ${standing(cycle)}.`,
      page: cyclePage(cycle),
      data: cycleData(cycle),
      remediation: cycle.end === null ? [`autopilot calibrate resume ${cycle.name}`] : [],
    });
  });
}

type ReportInput = { readonly name?: string | undefined; readonly html?: string | undefined };

export function calibrationReport(context: CommandContext, input: ReportInput): Promise<Answer> {
  return answered(async () => {
    const { cycle } = await meant(context, input.name, false);
    if (input.html !== undefined) {
      const path = resolve(context.cwd, input.html);
      requireWritable(path);
      return written(path, cycleFile(cycle), null);
    }
    const page = auditPage(cycle).trimEnd().split("\n");
    return reply("ok", {
      message: `The cycle ${cycle.name}: ${standing(cycle)}.`,
      page,
      data: { ...cycleData(cycle), audit: page.join("\n") },
    });
  });
}

export function calibrationList(context: CommandContext): Promise<Answer> {
  return answered(async () => {
    const paths = await homeOf(context.cwd);
    const cycles = cycleNames(paths.root).map((name) => readCycle(paths.root, name));
    const rows = cycles.map((cycle) => [
      cycle.name,
      standing(cycle),
      `iteration ${cycle.iteration}`,
      plural(cycle.benchmarks.length, "benchmark"),
      oneLine(cycle.lever, 40),
    ]);
    const page = cycles.length === 0 ? ["No calibration cycles here.", "", "→ autopilot help calibrate start"] : columned(rows);
    return reply("ok", { message: plural(cycles.length, "calibration cycle"), page, data: { cycles: cycles.map(cycleData) } });
  });
}

export function resumeCalibration(
  context: CommandContext,
  input: { readonly name?: string | undefined; readonly jobs?: number | undefined },
): Promise<Answer> {
  return answered(async () => {
    const { paths, cycle } = await meant(context, input.name, true);
    if (cycle.end !== null)
      return reply("ok", {
        message: `The cycle ${cycle.name} has ended: ${cycle.end.verdict}.`,
        page: cyclePage(cycle),
        data: cycleData(cycle),
      });
    if (cycle.plan === null)
      return refuse("calibration_input_invalid", {
        message: `${cyclesFolder}/${cycle.name}/run_state.jsonl does not say what is run for its benchmarks; another tool began it.`,
        remediation: ["begin a cycle of your own: autopilot help calibrate start"],
      });
    if (!isOwnCycle(context.env, paths.root, cycle))
      return refuse("run_foreign", {
        message: `You didn't start the cycle ${cycle.name} here, or its log was changed since. It runs commands, so nothing of it is executed.`,
        remediation: [
          `read its plan in "${cyclesFolder}/${cycle.name}/run_state.jsonl"`,
          "begin a cycle of your own: autopilot help calibrate start",
        ],
      });
    const jobs = input.jobs ?? cycle.plan.jobs;
    return withCycle(context, paths, { name: cycle.name, isNew: false }, (open) => driven(context, open, jobs));
  });
}
