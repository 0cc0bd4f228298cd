// secret-checks: says which checks are kept from the agent, and how they are named where it reads.
//
// Invariants:
//   S1. Of a hold-out, an agent sees its title and whether it passed: never its command, its
//       output or the names of its tests. Whatever a prompt, a task's proof or a pull request says
//       of a check asks this file first.

import type { Check } from "./evidence.ts";

export const isSecretFromAgent = ({ kind }: Pick<Check, "kind">): boolean => kind === "holdout"; // S1

/** A hold-out's title: its number, and nothing of what it runs. */
export const titleSecretCheck = (number: number): string => `holdout ${number}`;

/** What a check is called where an agent may read it: its command, or the title of a secret one. */
export const nameForAgent = (check: Pick<Check, "kind" | "title" | "command">): string =>
  isSecretFromAgent(check) ? check.title : check.command; // S1
