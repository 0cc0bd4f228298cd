// start-flags: the flags of `calibrate start` as they were typed, how a wrong one is refused, and
// how a path among them is recorded.

import { isAbsolute, relative } from "node:path";
import { refuse } from "../../project/respond.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";

/** The flags of `calibrate start`, as they were typed. */
export type StartInput = {
  readonly name?: string | undefined;
  readonly lever?: string | undefined;
  readonly to?: string | undefined;
  readonly benchmarks?: string | undefined;
  readonly hypothesis?: string | undefined;
  readonly description?: string | undefined;
  readonly apply?: string | undefined;
  readonly patch?: string | undefined;
  readonly commit?: string | undefined;
  readonly command?: string | undefined;
  readonly agent?: string | undefined;
  readonly findings?: string | undefined;
  readonly baselines?: readonly string[] | undefined;
  readonly metric?: string | undefined;
  readonly better?: string | undefined;
  readonly noiseFloor?: string | undefined;
  readonly iteration?: number | undefined;
  readonly jobs?: number | undefined;
  readonly repeat?: number | undefined;
  readonly hangAfter?: string | undefined;
};

export function refuseInput(message: string, remedy?: string): never {
  const remediation = remedy === undefined ? {} : { remediation: [remedy] };
  return refuse("calibration_input_invalid", { message, ...remediation });
}

/** A path as the log records it: relative to the repository's root if it is inside. */
export function pathForLog({ root }: ProjectPaths, path: string): string {
  const relativePath = relative(root, path);
  return relativePath.startsWith("..") || isAbsolute(relativePath) ? path : relativePath;
}
