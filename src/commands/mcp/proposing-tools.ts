// proposing-tools: MCP tools that draft, propose and pause. They execute nothing: a person decides
// what becomes of it.

import * as v from "valibot";
import { prioritiesMax } from "../../contracts/portfolio/portfolio-journal.ts";
import { type McpTool, runField, textField, textListField, defineTool } from "./tool.ts";

export const proposingTools: readonly McpTool[] = [
  defineTool({
    name: "draft",
    kind: "propose",
    about:
      "Draft a run and get its preview: scope, checks, limits, isolation, estimate. Nothing is executed; the user confirms it with the command in `remediation`.",
    inputSchema: v.strictObject({
      objective: v.pipe(
        textField("what is to be done, in one sentence", 4_000),
        v.nonEmpty("expected some words"),
      ),
      scope: v.optional(textListField("a glob of what may change, !glob excludes")),
      criteria: v.optional(
        textListField("when it is done: `text :: command`; the command fails now and passes then"),
      ),
      budget: v.optional(
        textField("conservative, balanced, extended, or limits: tokens=250k,minutes=45,usd=3", 200),
      ),
      new: v.optional(
        v.pipe(v.boolean(), v.description("draft it beside a run that is still open")),
      ),
    }),
    run: async (context, { objective, scope, criteria, budget, new: isBesideOpenRun = false }) =>
      (await import("../start.ts")).start(context, {
        words: [],
        goal: objective,
        scope,
        doneCriteria: criteria,
        maxBudget: budget,
        ...(isBesideOpenRun ? { new: true } : {}),
      }),
  }),
  defineTool({
    name: "pause",
    kind: "propose",
    about: "Pause a run when its turn ends. Only the user resumes it.",
    inputSchema: v.strictObject({ run: runField }),
    run: async (context, { run }) =>
      (await import("../pause.ts")).pause(context, { run, now: false }),
  }),
  defineTool({
    name: "add_task",
    kind: "propose",
    about:
      "Propose a task for a project of the portfolio. It waits as `proposed` until the user makes it ready.",
    inputSchema: v.strictObject({
      project: textField("the project's name or id", 200),
      objective: v.pipe(
        textField("what is to be reached", 4_000),
        v.nonEmpty("expected some words"),
      ),
      accept: v.optional(textListField("when it is done: `text :: command`")),
      touches: v.optional(textListField("a glob of what it may change")),
      after: v.optional(textListField("the id of a task that must be done first")),
      priority: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(prioritiesMax)),
      ),
    }),
    run: async (context, input) =>
      (await import("../portfolio/add.ts")).addTask(context, { ...input, propose: true }),
  }),
];
