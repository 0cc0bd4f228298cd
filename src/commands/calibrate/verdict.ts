// verdict: computes the verdict of two files of recalls, by the rules of a cycle. Changes nothing.

import { resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { type Figures, iterationsMax, judgeFigures, noiseFloorDefault } from "../../calibration/cycle/verdict.ts";
import { figureText } from "../../calibration/cycle/cycle-figures.ts";
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

const bytesMax = 1 << 20;

export function calibrationVerdict(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(() => {
    const [before, after] = (["before", "after"] as const).map((side) => readFigures(context.cwd, side, input[side]));
    const { floor, isRelative } = parseNoiseFloor(input.noiseFloor, String(noiseFloorDefault));
    const iteration = input.iteration ?? 1;
    if (iteration > iterationsMax)
      refuse("calibration_input_invalid", { message: `The iteration is ${iteration}, expected 1 to ${iterationsMax}.` });
    const judgement = judgeFigures({
      before: before ?? {},
      after: after ?? {},
      noiseFloor: floor,
      iteration,
      scale: { better: input.better === "lower" ? "lower" : "higher", isRelative },
    });
    const rows = Object.keys(judgement.delta).map((name) => [
      oneLine(name, 40),
      figureText(before?.[name] ?? null),
      figureText(after?.[name] ?? null),
      figureText(judgement.delta[name] ?? null),
    ]);
    const { verdict, delta, cross_benchmark_check, mean_gain, why } = judgement;
    return Promise.resolve(
      respond("ok", {
        message: `${verdict}: ${why}.`,
        warnings: oneSidedWarnings(before ?? {}, after ?? {}),
        page: [...alignColumns([["benchmark", "before", "after", "delta"], ...rows]), "", `${verdict}: ${why}`],
        data: { verdict, delta, cross_benchmark_check, mean_gain, why },
      }),
    );
  });
}

/** A benchmark in only one file is n/a; most likely it has another name in the other. */
function oneSidedWarnings(before: Figures, after: Figures): readonly string[] {
  const only = (a: Figures, b: Figures): readonly string[] => Object.keys(a).filter((name) => !Object.hasOwn(b, name));
  return [
    ...only(before, after).map((name) => `${oneLine(name, 40)} is in --before only, so it is n/a.`),
    ...only(after, before).map((name) => `${oneLine(name, 40)} is in --after only, so it is n/a.`),
  ];
}

/** `{ "chi": 0.5, "express": null }` */
function readFigures(cwd: string, side: "before" | "after", file: string | undefined): Readonly<Record<string, number | null>> {
  const bad = (message: string): never =>
    refuse("calibration_input_invalid", {
      message,
      remediation: [`--${side} FILE: one JSON object, a number or null by benchmark: {"chi": 0.5, "express": null}`],
    });
  if (file === undefined) return bad(`--${side} is missing.`);
  const text = readOwnFile(resolve(cwd, file), bytesMax);
  if (text === null) return bad(`There is no file ${file} that can be read.`);
  let tree: unknown;
  try {
    tree = JSON.parse(text);
  } catch (error) {
    return bad(`${file} is not JSON: ${(error as Error).message}`);
  }
  if (typeof tree !== "object" || tree === null || Array.isArray(tree)) return bad(`${file} holds no JSON object.`);
  for (const [name, value] of Object.entries(tree))
    if (value !== null && (typeof value !== "number" || !Number.isFinite(value)))
      bad(
        `${file}: ${JSON.stringify(name)} is ${typeof value === "number" ? "too large" : JSON.stringify(value)}, expected a finite number or null.`,
      );
  return tree as Record<string, number | null>;
}
