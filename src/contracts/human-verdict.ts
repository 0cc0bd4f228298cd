// human-verdict: the verdicts a person may give on a phase, without a schema so that loading it is cheap.

/** What a person may say of a phase that only a person can judge. Without a schema, so that whoever asks often need not load one. */
export const humanVerdicts = ["pass", "fail", "issues_found"] as const;
