// prevention: writes the rule of a post-mortem, by which the next agent avoids the same failure:
// advice for its category, and what was seen.

import type { FailureCategory } from "../contracts/roadmap-values.ts";

const ruleCharsMax = 500;

const rules: Readonly<Record<FailureCategory, string>> = {
  executor_incomplete:
    "Run every task's own commands before calling the task done, and commit what they prove",
  executor_wrong_approach:
    "Check the approach against every success criterion before planning tasks; do not repeat the approach that was rejected",
  compilation_failure: "Compile after every file that is written and go on only when it is clean",
  lint_failure: "Run the linter before every commit and repair what it names",
  build_failure: "Run the production build before calling a task done, not only the compiler",
  acceptance_criteria_unmet:
    "Run the command of every success criterion after the last change and repair what it names first",
  scope_creep:
    "Change only what the plan's tasks name; write anything else down as a concern instead of building it",
  context_exhaustion: "Split the work into smaller tasks and read only the files a task names",
  tool_failure: "Make sure the tools a task needs can be run here before relying on them",
  coordination_failure:
    "Hand back exactly the fields that are asked for, each with content of its own, and refer only to files and commits that exist",
};

/** `red`: the commands that failed at the end. */
export function writePreventionRule(
  root: { readonly category: FailureCategory; readonly step: string; readonly description: string },
  { name, red }: { readonly name: string; readonly red: readonly string[] },
): string {
  const [first, ...others] = red;
  const more = others.length === 0 ? "." : ` and ${others.length} more.`;
  const observation =
    first === undefined
      ? lowerFirst(root.description)
      : `the step ${root.step} ended with \`${first}\` red${more}`;

  return `${rules[root.category]}: in “${name}” ${observation}`
    .replaceAll(/\s+/g, " ")
    .slice(0, ruleCharsMax);
}

const lowerFirst = (sentence: string): string =>
  sentence.charAt(0).toLowerCase() + sentence.slice(1);
