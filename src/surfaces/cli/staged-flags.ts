// staged-flags: the flags that staged flows understand: --continue, --with and --tasks.

import type { StagedAsks } from "../../contracts/staged-asks.ts";
import { omitUndefined } from "../../kit/omit-undefined.ts";
import type { FlagSpec, ParsedInput } from "./spec.ts";

/** Flags that ask something of a staged flow when it is begun or taken up. */
export const stagedFlags: readonly FlagSpec[] = [
  {
    name: "continue",
    isRare: true,
    kind: "flag",
    about: "Staged flows: don't stop at session boundaries.",
  },
  {
    name: "with",
    isRare: true,
    kind: "text",
    placeholder: "STEPS",
    about:
      "Staged flows: optional steps, separated by commas: ui, refactor, security, performance.",
  },
  {
    name: "tasks",
    isRare: true,
    kind: "number",
    min: 1,
    placeholder: "N",
    about: "Flow existing-code: write and implement N tasks in a row.",
  },
];

/** Undefined if none was given. */
export function parseStagedFlags(input: ParsedInput): StagedAsks | undefined {
  const steps = input
    .text("with")
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

  const asks = omitUndefined({
    continue: input.flag("continue") || undefined,
    with: steps,
    tasks: input.number("tasks"),
  });
  return Object.keys(asks).length === 0 ? undefined : asks;
}
