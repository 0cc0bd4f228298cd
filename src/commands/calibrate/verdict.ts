// verdict: judges two files of figures, before and after, by the rules of a calibration cycle.
// Changes nothing.

import { resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import {
  type BenchmarkFigures,
  iterationsMax,
  judgeFigures,
  noiseFloorDefault,
} from "../../calibration/cycle/verdict.ts";
import { formatFigure } from "../../calibration/cycle/describe-results.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { alignColumns } from "../../views/align-columns.ts";
import { oneLine } from "../../views/wording.ts";
import { parseNoiseFloor } from "./noise-floor.ts";

type Input = {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly noiseFloor?: string | undefined;
  readonly iteration?: number | undefined;
  readonly better?: string | undefined;
};

const figuresBytesMax = 1 << 20;

export function judgeCalibrationFiles(
  context: CommandContext,
  input: Input,
): Promise<CommandResponse> {
  return catchRefusals(() => {
    const before = readFigures(context.cwd, "before", input.before);
    const after = readFigures(context.cwd, "after", input.after);
    const { floor, isRelative } = parseNoiseFloor(input.noiseFloor, String(noiseFloorDefault));
    const iteration = input.iteration ?? 1;
    if (iteration > iterationsMax) {
      refuse("calibration_input_invalid", {
        message: `The iteration is ${iteration}, expected 1 to ${iterationsMax}.`,
      });
    }

    const judgement = judgeFigures({
      before,
      after,
      noiseFloor: floor,
      iteration,
      scale: { better: input.better === "lower" ? "lower" : "higher", isRelative },
    });
    const rows = Object.keys(judgement.delta).map((name) => [
      oneLine(name, 40),
      formatFigure(before[name] ?? null),
      formatFigure(after[name] ?? null),
      formatFigure(judgement.delta[name] ?? null),
    ]);

    const { verdict, delta, cross_benchmark_check, mean_gain, why } = judgement;
    const table = alignColumns([["benchmark", "before", "after", "delta"], ...rows]);
    const response = respond("ok", {
      message: `${verdict}: ${why}.`,
      warnings: oneSidedWarnings(before, after),
      page: [...table, "", `${verdict}: ${why}`],
      data: { verdict, delta, cross_benchmark_check, mean_gain, why },
    });
    return Promise.resolve(response);
  });
}

/**
 * A benchmark in only one file can't be compared; most likely it has another name in the other
 * file.
 */
function oneSidedWarnings(before: BenchmarkFigures, after: BenchmarkFigures): readonly string[] {
  const onlyBefore = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const onlyAfter = Object.keys(after).filter((name) => !Object.hasOwn(before, name));

  return [
    ...onlyBefore.map((name) => `${oneLine(name, 40)} is in --before only, so it is n/a.`),
    ...onlyAfter.map((name) => `${oneLine(name, 40)} is in --after only, so it is n/a.`),
  ];
}

/**
 * Reads a file such as `{ "chi": 0.5, "express": null }`: a figure for each benchmark, null if it
 * has none.
 */
function readFigures(
  cwd: string,
  side: "before" | "after",
  file: string | undefined,
): Readonly<Record<string, number | null>> {
  const refuseFile = (message: string): never =>
    refuse("calibration_input_invalid", {
      message,
      remediation: [
        `--${side} FILE: one JSON object, a number or null by benchmark: {"chi": 0.5, "express": null}`,
      ],
    });
  if (file === undefined) return refuseFile(`--${side} is missing.`);
  const text = readOwnFile(resolve(cwd, file), figuresBytesMax);
  if (text === null) return refuseFile(`There is no file ${file} that can be read.`);
  let parsed: unknown;

  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return refuseFile(`${file} is not JSON: ${(error as Error).message}`);
  }

  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    return refuseFile(`${file} holds no JSON object.`);
  }

  for (const [name, value] of Object.entries(parsed)) {
    if (value === null || (typeof value === "number" && Number.isFinite(value))) continue;
    const valueText = typeof value === "number" ? "too large" : JSON.stringify(value); // JSON has no infinity, but 1e999 is read as one
    refuseFile(
      `${file}: ${JSON.stringify(name)} is ${valueText}, expected a finite number or null.`,
    );
  }

  return parsed as Record<string, number | null>;
}
