// staged-flags: the flags that staged flows understand: --continue, --with and --tasks.

import type { Asks } from "../../contracts/asks.ts";
import { defined } from "./defined.ts";
import type { FlagSpec, Given } from "./spec.ts";

/** Flags that ask something of a staged flow when it is begun or taken up. */
export const stagedFlags: readonly FlagSpec[] = [
  { name: "continue", rare: true, kind: "flag", about: "Staged flows: go on past session boundaries without asking." },
  {
    name: "with",
    rare: true,
    kind: "text",
    placeholder: "STEPS",
    about: "Staged flows: optional steps to do: ui, refactor, security, performance; split on ,",
  },
  {
    name: "tasks",
    rare: true,
    kind: "number",
    min: 1,
    placeholder: "N",
    about: "Flow existing-code: write and implement N tasks, one after the other.",
  },
];

/** Undefined if none was given. */
export function askedBy(given: Given): Asks | undefined {
  const steps = given
    .text("with")
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const asks = defined({ continue: given.flag("continue") || undefined, with: steps, tasks: given.number("tasks") });
  return Object.keys(asks).length === 0 ? undefined : asks;
}
