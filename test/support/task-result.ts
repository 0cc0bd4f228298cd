// task-result: what a worker of a portfolio hands in when all went well; the names in braces are in
// its prompt.

export const taskResult = {
  task_id: "{{task_id}}",
  event_nonce: "{{event_nonce}}",
  status: "done",
  summary: "did it",
  evidence: ["looked"],
  verification: {
    confidence: "high",
    complete: true,
    checks_attempted: [],
    checks_passed: [],
    checks_failed: [],
    why_not_fully_verifiable: null,
  },
  next_suggestions: [] as readonly unknown[],
  risks_or_unknowns: [],
};
