// open-isolation: sets up the requested isolation after its self-test, or refuses.

import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { toLevel } from "../../contracts/isolation-levels.ts";
import type { Isolation } from "../../workspace/isolation/confinement.ts";
import { chooseIsolation } from "../../workspace/isolation/isolation.ts";
import { openSelfTestCache } from "../../workspace/isolation/self-test-cache.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { explainDiskFull } from "../../workspace/explain-disk-full.ts";
import { refuse } from "../../project/respond.ts";

/**
 * Opens the requested isolation, tested since this machine started; refuses if it does not hold.
 */
export async function openIsolation(
  requested: string,
  paths: ProjectPaths,
  runDir: string,
): Promise<Isolation> {
  mkdirSync(runDir, { recursive: true, mode: 0o700 });
  const level = toLevel(requested);

  const place = { hidden: [paths.root], runDir, cache: openSelfTestCache(runDir) };
  const choice = await chooseIsolation(level, place);
  if ("isolation" in choice) return choice.isolation;
  const { reason, detail, fixes } = choice.failure;
  const fullDisk = explainDiskFull(detail, [runDir, homedir()]);
  if (fullDisk !== null) {
    return refuse("disk_full", { message: `${fullDisk} The sandbox could not be tested.` });
  }

  const message =
    level === "auto"
      ? `No sandbox works here: ${detail}.`
      : `The sandbox ${level} doesn't work here: ${detail.replace(`${level}: `, "")}.`;

  const [fix] = fixes; // of the strongest level, or of the one that was named
  const fallback = level === "auto" ? choice : await chooseIsolation("auto", place);
  if ("isolation" in fallback) {
    const leaveOut = `leave --isolation out: ${fallback.isolation.level} works here`;
    return refuse(reason, { message, remediation: [leaveOut, fix] });
  }

  const useClone = "--isolation clone discards bad changes, and blocks nothing";
  return refuse(reason, { message, remediation: [fix, useClone] });
}
