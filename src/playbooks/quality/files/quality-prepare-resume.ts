// quality-prepare-resume: before a quality run continues, its files are inspected: a log that is not the journal's is reported, and phases whose landed
// artifacts the user no longer has are run again.
//
// Invariants:
//   U1. Artifacts beat events: what was landed and is gone from the checkout no longer proves anything.
//   U2. What was never landed, or is on another branch than the one that is checked out, is not missed.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Draft } from "../../../contracts/event.ts";
import type { RunView } from "../../../core/state.ts";
import { withoutFreshness } from "../../../engine/found-gates.ts";
import { missingFileField, runStatePath } from "../views/run-state-names.ts";
import { judgeGates } from "../../../verify/gates/gates.ts";
import { openMatcher } from "../../../verify/gates/pattern.ts";
import { listTree, textReader } from "../../../verify/gates/tree-facts.ts";
import { git } from "../../../workspace/git/git.ts";
import { gatesOfPhase } from "../steps/phase-gates.ts";
import { type ProjectPaths, runFolder } from "../../../project/runs/project-paths.ts";
import { openedRepository } from "../../../project/runs/opened-repository.ts";
import type { PreparedResume, PrepareResumeInput } from "../../contract/playbook.ts";
import { blobsIn, findEntries } from "../../contract/recorded.ts";
import { type Differs, QualityLogFile } from "./quality-log-file.ts";
import { describeDifference, findEarlierLog, logOf } from "./quality-open.ts";

const goneMax = 100;
const shownMax = 5;

export async function prepareQualityResume({ paths, view }: PrepareResumeInput): Promise<PreparedResume> {
  const folder = runFolder(paths, view.drafted.run_id);
  const readBlob = blobsIn(folder);
  const entries = findEntries(folder);
  const log = logOf({ entries: () => entries, readBlob });
  const differs = await new QualityLogFile(paths.root, log, findEarlierLog(view.drafted, readBlob)).differs();
  const isReported = entries.some(
    (entry) => entry.event === "document_differed" && entry.path === runStatePath && entry.found === differs?.found,
  );
  const again = await phasesGone(paths, view);
  return {
    events: [...(differs === null || isReported ? [] : [differedEvent(differs)]), ...again.events],
    warnings: [...(differs === null ? [] : [describeDifference(differs)]), ...again.warnings],
  };
}

const differedEvent = ({ line, found }: Differs): Draft => ({
  event: "document_differed",
  path: runStatePath,
  field: `line ${line}`,
  found,
  kept: "the file as it is; nothing is added to it",
  because: "it is not what the journal yields",
});

/** U1 */
async function phasesGone(paths: ProjectPaths, view: RunView): Promise<PreparedResume> {
  const { branch } = await openedRepository(paths.root);
  const landed = viewLandings(view);
  const newest = [...landed.values()].at(-1);
  if (newest === undefined || branch === null || branch !== view.drafted.base.branch) return nothing; // U2
  const brought = new Set(await pathsAt(paths.root, newest));
  const missing = (await pathsAt(paths.root, view.tip.commit))
    .filter((path) => brought.has(path) && isMissing(paths.root, path))
    .slice(0, goneMax);
  if (missing.length === 0) return nothing;
  const facts = await checkoutFacts(paths.root);
  const gone = view.phases.filter(({ id }) => {
    const gates = landed.has(id) ? gatesOfPhase(view, id).map(withoutFreshness) : [];
    return gates.length > 0 && !judgeGates(gates, facts).holds;
  });
  if (gone.length === 0) return nothing;
  const differed = missing.map((path): Draft => ({
    event: "document_differed",
    path,
    field: missingFileField,
    found: "gone from the checkout",
    kept: "the checkout",
    because: "artifacts beat events",
  }));
  const reopened = gone.map((phase): Draft => ({
    event: "phase_reopened",
    walk: phase.id,
    visit: phase.visit + 1,
    because: "artifacts_gone",
  }));
  const names = `${missing.slice(0, shownMax).join(", ")}${missing.length > shownMax ? ` and ${missing.length - shownMax} more` : ""}`;
  return {
    events: [...differed, ...reopened],
    warnings: [
      `Gone from the checkout: ${names}. What proved phase ${gone.map(({ id }) => id).join(", ")} is no longer there, so it is done again.`,
    ],
  };
}

const nothing: PreparedResume = { events: [], warnings: [] };
const isMissing = (root: string, path: string): boolean => lstatSync(join(root, path), { throwIfNoEntry: false }) === undefined;

/** The finished phases whose work the user's checkout had, each with the commit that brought it there, oldest landing first. */
function viewLandings(view: RunView): ReadonlyMap<string, string> {
  const finished = new Set(view.phases.filter(({ group, status }) => group === "phases" && status === "completed").map(({ id }) => id));
  const landings = new Map<string, string>();
  for (const { kind, phase, last } of Object.values(view.cursors)) {
    const { landed, commit, why } = last["land"]?.facts ?? {};
    if (kind !== "closing" || !finished.has(phase)) continue;
    if (landed === true && typeof commit === "string") landings.set(phase, commit);
    else if (why === "nothing_to_land") landings.set(phase, view.drafted.base.commit);
  }
  return landings;
}

/** What is under quality/ in the checkout, as gates may know it. */
async function checkoutFacts(root: string): Promise<Parameters<typeof judgeGates>[1]> {
  const folder = join(root, "quality");
  const isThere = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  const listing = await listTree(isThere ? folder : []);
  const read = textReader(listing);
  return {
    files: new Map([...listing.entries].map(([path, entry]) => [`quality/${path}`, entry])),
    isWhole: listing.isWhole,
    match: openMatcher(),
    read: (path) => (path.startsWith("quality/") ? read(path.slice("quality/".length)) : null),
    changed: new Set(),
    isNewer: () => null,
    commandResult: () => ({ hasPassed: false, found: "not run here" }),
  };
}

async function pathsAt(root: string, commit: string): Promise<readonly string[]> {
  const { out } = await git({ cwd: root, args: ["ls-tree", "-r", "-z", "--name-only", commit, "--", "quality/"] });
  return out
    .toString("utf8")
    .split("\0")
    .filter((path) => path !== "");
}
