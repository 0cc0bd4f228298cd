/** What a person may say of a phase that only a person can judge. Without a schema, so that whoever asks often need not load one. */
export const humanVerdicts = ["pass", "fail", "issues_found"] as const;
