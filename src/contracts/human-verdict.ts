// human-verdict: the verdicts a person may give on a phase, without a schema so that loading it is cheap.

/** The verdicts a person may give on a phase that only a person can judge. Without a schema, so that frequent callers need not load one. */
export const humanVerdicts = ["pass", "fail", "issues_found"] as const;
