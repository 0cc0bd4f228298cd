// granting-tools: MCP tools that give authority or end work. They are offered only by name, in a
// session that a person started for that (`--as-operator`), and act as that person. An answer is
// bound to the content that was shown.

import * as v from "valibot";
import { createResumeApart } from "../dashboard/resume-apart.ts";
import { loadRun } from "../../project/runs/loaded-run.ts";
import { catchRefusals } from "../../project/respond.ts";
import { type McpTool, runField, textField, textListField, defineTool } from "./tool.ts";

export const grantingTools: readonly McpTool[] = [
  defineTool({
    name: "ack",
    kind: "grant",
    about: "Confirm the preview of a draft, by its id, so that the run may start.",
    inputSchema: v.strictObject({ id: textField("the preview's id", 100), run: runField }),
    run: async (context, input) => (await import("../ack.ts")).ack(context, input),
  }),
  defineTool({
    name: "answer",
    kind: "grant",
    about:
      "Give the user's answer to a question of a run, or verdict on a phase, in the user's words.",
    inputSchema: v.strictObject({
      block: textField("the question's id", 500),
      content: textField("the `content` that inbox showed with it", 100),
      answer: textField("the answer", 8_000),
      issues: v.optional(textListField("what was found, if the answer is issues_found")),
      run: runField,
    }),
    run: async (context, { answer, ...input }) =>
      (await import("../answer.ts")).answer(context, { ...input, text: answer }),
  }),
  defineTool({
    name: "resume",
    kind: "grant",
    about: "Go on with a paused run, in a process of its own.",
    inputSchema: v.strictObject({ run: runField }),
    run: (context, input) =>
      catchRefusals(async () =>
        createResumeApart([process.execPath, process.argv[1] ?? ""])(
          context,
          (await loadRun(context, input.run)).run,
        ),
      ),
  }),
  defineTool({
    name: "stop",
    kind: "grant",
    about: "Stop a run for good. It is never resumed.",
    inputSchema: v.strictObject({
      run: textField("the run's id; it must be named", 200),
      reason: v.optional(textField("why")),
    }),
    run: async (context, input) => (await import("../stop.ts")).stop(context, input),
  }),
  defineTool({
    name: "budget_raise",
    kind: "grant",
    about: "Raise limits of an open run: tokens=+100k adds, tokens=300k sets.",
    inputSchema: v.strictObject({ limits: textListField("one limit"), run: runField }),
    run: async (context, input) => (await import("../budget.ts")).raiseLimits(context, input),
  }),
];
