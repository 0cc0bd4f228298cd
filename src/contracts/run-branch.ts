// run-branch: the name of the branch that a run's work is committed to.

export const runBranchName = (runId: string): string => `autopilot/${runId}`;
