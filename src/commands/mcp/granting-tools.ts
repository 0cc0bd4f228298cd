// granting-tools: MCP tools that give authority or end work. They are offered only by name, in a session that a person started for that
// (`--as-operator`), and act as that person. An answer is bound to the content that was shown.

import * as v from "valibot";
import { resumeApart } from "../dashboard/resume-apart.ts";
import { loadRun } from "../../project/runs/loaded-run.ts";
import { catchRefusals } from "../../project/respond.ts";
import { type McpTool, runField, text, texts, tool } from "./tool.ts";

export const grantingTools: readonly McpTool[] = [
  tool({
    name: "ack",
    kind: "grant",
    about: "Confirm the preview of a draft, by its id, so that the run may start.",
    takes: v.strictObject({ id: text("the preview's id", 100), run: runField }),
    run: async (context, input) => (await import("../ack.ts")).ack(context, input),
  }),
  tool({
    name: "answer",
    kind: "grant",
    about: "Give the user's answer to a question of a run, or verdict on a phase, in the user's words.",
    takes: v.strictObject({
      block: text("the question's id", 500),
      content: text("the `content` that inbox showed with it", 100),
      answer: text("the answer", 8_000),
      issues: v.optional(texts("what was found, where the answer is issues_found")),
      run: runField,
    }),
    run: async (context, { answer, ...input }) => (await import("../answer.ts")).answer(context, { ...input, text: answer }),
  }),
  tool({
    name: "resume",
    kind: "grant",
    about: "Go on with a paused run, in a process of its own.",
    takes: v.strictObject({ run: runField }),
    run: (context, input) =>
      catchRefusals(async () => resumeApart([process.execPath, process.argv[1] ?? ""])(context, (await loadRun(context, input.run)).run)),
  }),
  tool({
    name: "stop",
    kind: "grant",
    about: "Stop a run for good. It is never resumed.",
    takes: v.strictObject({ run: text("the run's id; it must be named", 200), reason: v.optional(text("why")) }),
    run: async (context, input) => (await import("../stop.ts")).stop(context, input),
  }),
  tool({
    name: "budget_raise",
    kind: "grant",
    about: "Raise limits of an open run: tokens=+100k adds, tokens=300k sets.",
    takes: v.strictObject({ limits: texts("one limit"), run: runField }),
    run: async (context, input) => (await import("../budget.ts")).raise(context, input),
  }),
];
