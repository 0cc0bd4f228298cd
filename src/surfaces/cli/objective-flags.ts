// objective-flags: the flags that describe an objective, shared by every command that starts a run,
// and how their values are read.

import {
  approvalPolicies,
  completionModes,
  handoffModes,
  type LandMinimum,
  landMinimums,
  riskLevels,
} from "../../contracts/objective.ts";
import { isolationLevels } from "../../contracts/isolation-levels.ts";
import { omitUndefined } from "../../kit/omit-undefined.ts";
import type { ArgumentSpec, FlagSpec, ParsedInput } from "./spec.ts";

export const goalArgument: ArgumentSpec = {
  name: "GOAL",
  about: "what you want done, in your own words",
  isRepeatable: true,
  isOptional: true,
};

export const objectiveFlags: readonly FlagSpec[] = [
  { name: "goal", isRare: true, kind: "text", placeholder: "TEXT", about: "The goal, as a flag." },
  {
    name: "scope",
    kind: "text",
    placeholder: "GLOBS",
    isRepeatable: true,
    about: "Files the agent may change: globs, separated by , or ;. !glob excludes.",
    defaultText: "**",
  },
  {
    name: "done-criteria",
    kind: "text",
    placeholder: "TEXT",
    isRepeatable: true,
    about: "When it is done: `text :: command`, where the command proves it.",
    defaultText: "the goal",
  },
  {
    name: "max-budget",
    kind: "text",
    placeholder: "BUDGET",
    about: "conservative, balanced, extended, or limits: tokens=250k,minutes=45,calls=200,usd=3",
    defaultText: "the flow's",
  },
  {
    name: "completion-mode",
    isRare: true,
    kind: "enum",
    values: completionModes,
    about:
      "promise: done when the checks pass and the agent says so; objective: when the checks pass.",
    defaultText: "promise",
  },
  {
    name: "completion-promise",
    isRare: true,
    kind: "text",
    placeholder: "TOKEN",
    about: "The word the agent says inside <promise>…</promise>.",
    defaultText: "DONE",
  },
  {
    name: "risk-level",
    kind: "enum",
    values: riskLevels,
    about: "Confidence the agent needs to continue alone.",
    defaultText: "medium",
  },
  {
    name: "handoff-mode",
    kind: "enum",
    values: handoffModes,
    about: "When the agent is unsure: auto asks a reviewing agent, manual asks you.",
    defaultText: "manual",
  },
  {
    name: "approval-policy",
    kind: "enum",
    values: approvalPolicies,
    about: "Steps that need your approval.",
    defaultText: "none",
  },
  {
    name: "agent",
    kind: "text",
    placeholder: "NAME",
    about: "The agent to use, or scripted:FILE to play a script.",
  },
  {
    name: "isolation",
    kind: "enum",
    values: isolationLevels,
    about:
      "Sandbox for the agent. auto takes the strongest that works; clone only detects violations, none does nothing.",
    defaultText: "auto",
  },
  {
    name: "land",
    kind: "enum",
    values: [...landMinimums, "pr"],
    about:
      "The verdict needed to merge. unverified always merges; pr opens a pull request instead.",
    defaultText: "verified_with_gaps",
  },
  {
    name: "red-green",
    isRare: true,
    kind: "text",
    placeholder: "COMMAND",
    isRepeatable: true,
    about: "A check that must fail before the work and pass after it.",
  },
  {
    name: "holdout",
    isRare: true,
    kind: "text",
    placeholder: "COMMAND",
    isRepeatable: true,
    about: "A check the agent isn't told about.",
  },
  {
    name: "flow",
    kind: "text",
    placeholder: "NAME",
    about: "Which flow.",
    defaultText: "objective",
    names: "flows",
  },
  {
    name: "option",
    isRare: true,
    kind: "text",
    placeholder: "NAME=VALUE",
    isRepeatable: true,
    form: { matches: /^[a-z][a-z0-9_-]*=/, says: "NAME=VALUE" },
    about: "An option of the flow.",
  },
  {
    name: "new",
    isRare: true,
    kind: "flag",
    about: "Start a second run beside an open one, if the flow allows it.",
  },
];

/** The values of these flags, and the words of the goal; what was not given is absent. */
export function parseObjective(input: ParsedInput) {
  const readList = (name: string): string[] | undefined => input.texts(name)?.slice();
  const options = input
    .texts("option")
    ?.map((pair): [string, string] => [
      pair.slice(0, pair.indexOf("=")),
      pair.slice(pair.indexOf("=") + 1),
    ]);

  return {
    words: [...input.words],
    ...omitUndefined({
      goal: input.text("goal"),
      scope: readList("scope"),
      doneCriteria: readList("done-criteria"),
      maxBudget: input.text("max-budget"),
      completionMode: input.text("completion-mode"),
      completionPromise: input.text("completion-promise"),
      riskLevel: input.text("risk-level"),
      handoffMode: input.text("handoff-mode"),
      approvalPolicy: input.text("approval-policy"),
      agent: input.text("agent"),
      isolation: input.text("isolation"),
      land: input.text("land") as LandMinimum | "pr" | undefined,
      redGreen: readList("red-green"),
      holdout: readList("holdout"),
      flow: input.text("flow"),
      options: options === undefined ? undefined : Object.fromEntries(options),
      run: input.run,
      new: input.flag("new") || undefined,
    }),
  };
}
