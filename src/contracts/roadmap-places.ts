// roadmap-places: the paths of the roadmap playbook's files, relative to the user's checkout.

/** The roadmap itself, if no option names another. */
export const roadmapFile = ".planning/ROADMAP.md";
export const stateFile = ".autopilot/state.json";
export const backupFile = ".autopilot/state.json.backup";
export const archiveFolder = ".autopilot/archive";
export const metricsFile = `${archiveFolder}/metrics.json`;
export const diagnosticsFolder = ".autopilot/diagnostics";
export const learningsFile = ".autopilot/learnings.md";
export const completionPageFile = ".autopilot/completion-report.md";
export const completionDataFile = ".autopilot/completion-report.json";

export const archiveFile = (run: string): string => `${archiveFolder}/${run}.json`;

/** A state.json is some megabytes at most; a larger file isn't one. */
export const stateBytesMax = 64 * 1024 * 1024;

export const phasesFolder = ".planning/phases";
/** The runner's files in a phase's folder, as globs. */
const inPhase = [
  "TRIAGE.json",
  "EXECUTION-LOG.md",
  "VERIFICATION.md",
  "TRACE.jsonl",
  "*-trace.jsonl",
] as const;

/** The runner's own files of all phases, as globs; the other files there are the agents'. */
export const ownedInPhases: readonly string[] = inPhase.map((name) => `${phasesFolder}/*/${name}`);

/** A phase's folder; null if its name can't be a folder's. */
export const phaseFolder = (phase: string): string | null =>
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(phase) ? `${phasesFolder}/${phase}` : null;
