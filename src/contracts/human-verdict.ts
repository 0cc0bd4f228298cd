// human-verdict: the verdicts that a person may give on a phase. Without a schema, so that commands
// that are called often load quickly.

export const humanVerdicts = ["pass", "fail", "issues_found"] as const;
