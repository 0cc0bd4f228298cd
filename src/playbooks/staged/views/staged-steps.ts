// staged-steps: the names of the steps of the two staged flows, by number. The flows themselves are
// in flows/catalog/greenfield and flows/catalog/existing-code; a test holds both equal.

/**
 * The steps of the two flows by number, as the file names them. A team's own flow may have others.
 */
export const stagedSteps: Readonly<Record<string, readonly string[]>> = {
  greenfield: [
    "Problem",
    "Research",
    "Plan",
    "UI Design",
    "Decompose",
    "Implement",
    "Run Tests",
    "Security Audit",
    "Performance Test",
    "Deploy",
  ],
  "existing-code": [
    "Document",
    "Test Spec",
    "Decompose Tests",
    "Implement Tests",
    "Run Tests",
    "Refactor",
    "New Task",
    "Implement",
    "Run Tests",
    "Security Audit",
    "Performance Test",
    "Deploy",
  ],
};
