// sandbox-limits: computes the process, memory and disk limits of a sandbox from the run's policy.

import type { Policy } from "../contracts/policy.ts";
import type { Limits } from "../workspace/isolation/confinement.ts";
import { defaultLimits } from "../workspace/isolation/limits.ts";

const mebibyte = 1024 ** 2;

/** Computes the limits of one agent's or check's processes. */
export function computeSandboxLimits({ box = {} }: Policy): Limits {
  return {
    processesMax: box.processes ?? defaultLimits.processesMax,
    memoryBytesMax:
      box.memory_mb === undefined ? defaultLimits.memoryBytesMax : box.memory_mb * mebibyte,
    diskBytesMax: box.disk_mb === undefined ? defaultLimits.diskBytesMax : box.disk_mb * mebibyte,
  };
}
