// quality-prepare-resume: inspects the files of a quality run before it is resumed: reports a log
// that differs from the journal, and reopens phases whose landed artifacts are no longer in the
// checkout.
//
// Invariants:
//   U1. Artifacts count more than events: one that was landed and is missing from the checkout no
//       longer proves its phase.
//   U2. Artifacts that were never landed, or were landed on another branch than the checked-out
//       one, do not count as missing.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Draft } from "../../../contracts/event.ts";
import type { RunView } from "../../../core/state.ts";
import { withoutFreshness } from "../../../engine/survey-gates.ts";
import { listSome } from "../../../kit/list-some.ts";
import { missingFileField, qualityLogPath } from "../views/quality-names.ts";
import { judgeGates } from "../../../verify/gates/gates.ts";
import { openMatcher } from "../../../verify/gates/pattern.ts";
import { listTree, createTextReader } from "../../../verify/gates/tree-facts.ts";
import { git } from "../../../workspace/git/git.ts";
import { listGatesOfPhase } from "../steps/phase-gates.ts";
import { type ProjectPaths, runFolder } from "../../../project/runs/project-paths.ts";
import { requireRepository } from "../../../project/runs/require-repository.ts";
import type { PreparedResume, PrepareResumeInput } from "../../contract/playbook.ts";
import { openBlobReader, readEntries } from "../../contract/run-journal.ts";
import { type LogDifference, QualityLogFile } from "./quality-log-file.ts";
import { describeDifference, findEarlierLog, buildLog } from "./quality-open.ts";

/** Each missing file becomes a line of the journal. */
const missingFilesMax = 100;
const pathsShownMax = 5;

export async function prepareQualityResume({
  paths,
  view,
}: PrepareResumeInput): Promise<PreparedResume> {
  const folder = runFolder(paths, view.drafted.run_id);
  const readBlob = openBlobReader(folder);
  const entries = readEntries(folder);
  const log = buildLog({ entries: () => entries, readBlob });

  const difference = await new QualityLogFile(
    paths.root,
    log,
    findEarlierLog(view.drafted, readBlob),
  ).findDifference();
  const isReported = entries.some(
    (entry) =>
      entry.event === "document_differed" &&
      entry.path === qualityLogPath &&
      entry.found === difference?.actual,
  );

  const reopening = await reopenUnprovedPhases(paths, view);
  return {
    events: [
      ...(difference === null || isReported ? [] : [buildDifferedEvent(difference)]),
      ...reopening.events,
    ],
    warnings: [
      ...(difference === null ? [] : [describeDifference(difference)]),
      ...reopening.warnings,
    ],
  };
}

const buildDifferedEvent = ({ line, actual }: LogDifference): Draft => ({
  event: "document_differed",
  path: qualityLogPath,
  field: `line ${line}`,
  found: actual,
  kept: "the file as it is; nothing is added to it",
  because: "it is not what the journal yields",
});

/**
 * Reports landed files that are missing from the checkout, and reopens the phases whose gates no
 * longer hold without them. U1
 */
async function reopenUnprovedPhases(paths: ProjectPaths, view: RunView): Promise<PreparedResume> {
  const { branch } = await requireRepository(paths.root);
  const landingCommits = findLandings(view);
  const newestLanding = [...landingCommits.values()].at(-1);
  if (newestLanding === undefined || branch === null || branch !== view.drafted.base.branch) {
    return noChange;
  } // U2

  const landedPaths = new Set(await listPathsAt(paths.root, newestLanding));
  const missingPaths = (await listPathsAt(paths.root, view.tip.commit))
    .filter((path) => landedPaths.has(path) && isMissing(paths.root, path))
    .slice(0, missingFilesMax);
  if (missingPaths.length === 0) return noChange;
  const facts = await checkoutFacts(paths.root);
  const unprovedPhases = view.phases.filter(({ id }) => {
    const gates = landingCommits.has(id) ? listGatesOfPhase(view, id).map(withoutFreshness) : [];
    return gates.length > 0 && !judgeGates(gates, facts).holds;
  });
  if (unprovedPhases.length === 0) return noChange;

  const differedEvents = missingPaths.map((path): Draft => ({
    event: "document_differed",
    path,
    field: missingFileField,
    found: "gone from the checkout",
    kept: "the checkout",
    because: "artifacts beat events",
  }));

  const reopenedEvents = unprovedPhases.map((phase): Draft => ({
    event: "phase_reopened",
    walk: phase.id,
    visit: phase.visit + 1,
    because: "artifacts_gone",
  }));

  const phasesText = unprovedPhases.map(({ id }) => id).join(", ");
  const warning = `Gone from the checkout: ${listSome(missingPaths, pathsShownMax)}. What proved phase ${phasesText} is no longer there, so it is done again.`;
  return { events: [...differedEvents, ...reopenedEvents], warnings: [warning] };
}

const noChange: PreparedResume = { events: [], warnings: [] };
const isMissing = (root: string, path: string): boolean =>
  lstatSync(join(root, path), { throwIfNoEntry: false }) === undefined;

/** The finished phases whose work was landed, each with the commit of its landing, oldest first. */
function findLandings(view: RunView): ReadonlyMap<string, string> {
  const finished = new Set(
    view.phases
      .filter(({ group, status }) => group === "phases" && status === "completed")
      .map(({ id }) => id),
  );

  const landings = new Map<string, string>();
  for (const { kind, phase, last } of Object.values(view.cursors)) {
    const { landed, commit, why } = last["land"]?.facts ?? {};
    if (kind !== "closing" || !finished.has(phase)) continue;
    if (landed === true && typeof commit === "string") landings.set(phase, commit);
    else if (why === "nothing_to_land") landings.set(phase, view.drafted.base.commit); // the branch had its artifacts before the run
  }

  return landings;
}

/** The files under quality/ in the checkout, in the form that gates are judged on. */
async function checkoutFacts(root: string): Promise<Parameters<typeof judgeGates>[1]> {
  const folder = join(root, "quality");
  const exists = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  const listing = await listTree(exists ? folder : []);
  const read = createTextReader(listing);

  return {
    files: new Map([...listing.entries].map(([path, entry]) => [`quality/${path}`, entry])),
    isWhole: listing.isWhole,
    match: openMatcher(),
    read: (path) => (path.startsWith("quality/") ? read(path.slice("quality/".length)) : null),
    changed: new Set(),
    isNewer: () => null, // no gate asks: freshness was removed
    commandResult: () => ({ hasPassed: false, ending: "not run here" }), // these gates are about files alone
  };
}

async function listPathsAt(root: string, commit: string): Promise<readonly string[]> {
  const { out } = await git({
    cwd: root,
    args: ["ls-tree", "-r", "-z", "--name-only", commit, "--", "quality/"],
  });
  return out
    .toString("utf8")
    .split("\0")
    .filter((path) => path !== "");
}
