// require-own-run: refuses a run that does not belong to this user. All code that writes to a run,
// or executes anything of it, calls this first.

import { join, relative } from "node:path";
import { isAtLeastAsStrong, toLevel } from "../../contracts/isolation-levels.ts";
import type { RunView } from "../../core/state.ts";
import { git } from "../../workspace/git/git.ts";
import { mayTrack } from "../../workspace/git/index-file.ts";
import { findGitPlaces } from "../../workspace/git/git-places.ts";
import { openUserView } from "../../workspace/git/user-view.ts";
import { type ProjectPaths, runFolder } from "./project-paths.ts";
import type { CommandContext } from "../command-context.ts";
import { refuse } from "../respond.ts";
import { findBinding, type BindingRecord, whyOverwritten } from "./run-binding.ts";

/**
 * The ownership record of a run that is this user's; refused if it is not, or if git tracks its
 * files.
 */
export async function requireOwnRun(
  context: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  folder: string,
  run: string,
): Promise<BindingRecord> {
  const binding = findBinding(context.env, paths, folder, run);
  if (binding.kind === "foreign") return refuseForeign(run, binding.why);
  const tracked = await whyTracked(paths, folder);

  return tracked === null ? binding.record : refuseForeign(run, tracked);
}

/** The same without asking git, for later checks in the same process. */
export function refuseIfForeign(
  context: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  run: string,
): void {
  const binding = findBinding(context.env, paths, runFolder(paths, run), run);
  if (binding.kind === "foreign") refuseForeign(run, binding.why);
}

/**
 * A journal other than the acknowledged one, or one that asks for less isolation, is refused
 * although its file is known. Its chain has been checked.
 */
export function requireAsAcknowledged(
  { drafted }: RunView,
  record: BindingRecord,
  folder: string,
): void {
  if (drafted.ack !== record.ack) {
    refuseForeign(record.run, "its journal isn't the one you acknowledged");
  }

  if (!isAtLeastAsStrong(toLevel(drafted.isolation), toLevel(record.isolation))) {
    refuseForeign(
      record.run,
      `its journal asks for isolation ${drafted.isolation}, and you acknowledged ${record.isolation}`,
    );
  }

  const overwritten = whyOverwritten(folder, record);
  if (overwritten !== null) refuseForeign(record.run, overwritten);
}

export function refuseForeign(run: string, why: string): never {
  return refuse("run_foreign", {
    run_id: run,
    message: `${run} isn't yours: ${why}. Nothing of it was executed.`,
    remediation: [
      `autopilot adopt ${run} shows what it would do and asks`,
      `autopilot status --run ${run}, log, report and verify read it`,
      'autopilot go "what you want done" starts a run of your own',
    ],
  });
}

/**
 * Why git's index makes a run foreign: tracked files come and change with every pull. Null if it
 * does not.
 */
export async function whyTracked({ root }: ProjectPaths, folder: string): Promise<string | null> {
  const path = relative(root, folder);
  // A case-insensitive file system treats `.Autopilot` as the same folder.
  const places = findGitPlaces(root);
  if (places === null) return "git can't tell whether it tracks its files";
  if (!mayTrack(join(places.gitDir, "index"), path.split("/", 1)[0] ?? path)) return null; // git would read a large index whole, too

  const { out, code } = await git({
    ...(await openUserView(places)),
    args: ["ls-files", "-z", "--", `:(top,icase,literal)${path}`],
    acceptedExitCodes: [0, 128],
  });
  if (code !== 0) return "git can't tell whether it tracks its files";
  return out.length === 0 ? null : `git tracks its files (git rm -r --cached ${path})`;
}
