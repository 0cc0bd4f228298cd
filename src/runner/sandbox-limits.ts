// sandbox-limits: computes the process, memory and disk limits of a sandbox from the run's policy.

import { configDefaults } from "../contracts/config-defaults.ts";
import type { Policy } from "../contracts/policy.ts";
import type { Limits } from "../workspace/isolation/confinement.ts";

const mebibyte = 1024 ** 2;

/** Computes the limits of one agent's or check's processes. */
export function computeSandboxLimits({ box = {} }: Pick<Policy, "box">): Limits {
  const standard = configDefaults.box;
  return {
    processesMax: box.processes ?? standard.processes,
    memoryBytesMax: (box.memory_mb ?? standard.memory_mb) * mebibyte,
    diskBytesMax: (box.disk_mb ?? standard.disk_mb) * mebibyte,
  };
}
