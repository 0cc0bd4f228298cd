// reading-tools: MCP tools that only read: runs, reports, logs, questions, diffs, estimates, checks of files.

import * as v from "valibot";
import { type ReasonCode, reasons } from "../../contracts/reason.ts";
import { respond } from "../../project/respond.ts";
import { type McpTool, runField, text, tool } from "./tool.ts";

const eventsUsual = 100;
const eventsMax = 500;
const whole = (about: string, min: number, max: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max), v.description(about));
const ofRun = v.strictObject({ run: runField });
const nothing = v.strictObject({});

export const readingTools: readonly McpTool[] = [
  tool({
    name: "status",
    kind: "read",
    about: "How a run stands: state, step, progress, budget, verdict, what to do next.",
    takes: ofRun,
    run: async (context, input) =>
      (await import("../status.ts")).status(context, input, {
        idle: async (root) => (await import("../status-idle.ts")).respondWithoutRun(context, root),
        playbookStatus: async (playbook, root) =>
          playbook === "staged" ? (await import("../staged/staged-progress.ts")).stagedStatus(root) : null,
      }),
  }),
  tool({
    name: "runs",
    kind: "read",
    about: "Every run of this project: state, goal, age, cost.",
    takes: nothing,
    run: async (context) => (await import("../runs.ts")).runs(context, { all: true }),
  }),
  tool({
    name: "report",
    kind: "read",
    about: "What was asked, done, proved and claimed in a run, with the commands that prove it, and what is open.",
    takes: ofRun,
    run: async (context, input) => (await import("../report.ts")).report(context, input),
  }),
  tool({
    name: "log",
    kind: "read",
    about: "The run's journal, event by event. Ask again with the last seq for more.",
    takes: v.strictObject({
      run: runField,
      after_seq: v.optional(whole("only events after this number", 0, Number.MAX_SAFE_INTEGER)),
      limit: v.optional(whole(`at most this many events; ${eventsUsual} where not given`, 1, eventsMax)),
    }),
    run: async (context, { run, after_seq = 0, limit = eventsUsual }) => {
      const response = await (await import("../log.ts")).log(context, { run, since: after_seq + 1 });
      const all = response.data?.["events"];
      if (!Array.isArray(all)) return response;
      const events: readonly unknown[] = all.slice(0, limit);
      return { ...response, message: `${events.length} of ${all.length} events.`, data: { events, more: all.length > events.length } };
    },
  }),
  tool({
    name: "inbox",
    kind: "read",
    about: "The questions that wait for a person, with their answers and the content each is bound to. They are a person's to answer.",
    takes: ofRun,
    run: async (context, { run }) => {
      const { isPortfolioMeant } = await import("../portfolio/meant.ts");
      if (isPortfolioMeant(context.cwd, run === undefined ? {} : { run }))
        return (await import("../portfolio/inbox.ts")).portfolioInbox(context);
      return (await import("../inbox-list.ts")).inbox(context, { run });
    },
  }),
  tool({
    name: "diff",
    kind: "read",
    about: "What a run changed, as a patch, or as a list of files with stat.",
    takes: v.strictObject({ run: runField, stat: v.optional(v.boolean()) }),
    run: async (context, { run, stat = false }) => (await import("../diff.ts")).diff(context, { run, stat }),
  }),
  tool({
    name: "estimate",
    kind: "read",
    about: "What phases of the roadmap, or a run of a flow, may cost. Nothing runs.",
    takes: v.strictObject({
      flow: v.optional(text("a flow's name", 200)),
      phases: v.optional(text("3, 2.1, 3-7, next or all; all that are not completed where not given", 200)),
    }),
    run: async (context, { flow, phases }) =>
      flow === undefined
        ? (await import("../roadmap/estimate.ts")).estimate(context, { phases })
        : (await import("../estimate-run.ts")).estimateRun(context, { flow }),
  }),
  tool({
    name: "roadmap_list",
    kind: "read",
    about: "The phases of ROADMAP.md in execution order, and every problem with its line. Nothing runs.",
    takes: nothing,
    run: async (context) => (await import("../roadmap/roadmap-list.ts")).roadmapList(context),
  }),
  tool({
    name: "portfolio_status",
    kind: "read",
    about: "What runs, what waits and why, and what has landed in a portfolio of projects.",
    takes: nothing,
    run: async (context) => (await import("../portfolio/show.ts")).showPortfolio(context, {}),
  }),
  tool({
    name: "explain",
    kind: "read",
    about: "What a reason_code means and what to do about it.",
    takes: v.strictObject({ reason_code: text("the code, as an answer names it", 100) }),
    run: (_, { reason_code }) => {
      if (!Object.hasOwn(reasons, reason_code))
        return Promise.resolve(
          respond("usage", { message: `There is no reason code ${reason_code}.`, remediation: ["autopilot schema reason-codes"] }),
        );
      return Promise.resolve(
        respond("ok", { message: reasons[reason_code as ReasonCode].meaning, data: { ...reasons[reason_code as ReasonCode] } }),
      );
    },
  }),
  tool({
    name: "validate",
    kind: "read",
    about: "Check a file of this project that autopilot reads or writes: config, flow, roadmap, journal, records. Findings with lines.",
    takes: v.strictObject({
      path: v.pipe(
        text("relative to the project's folder", 1_000),
        v.check((path) => !path.startsWith("/") && !path.split(/[/\\]/).includes(".."), "expected a path inside the project"),
      ),
    }),
    run: async (context, { path }) => (await import("../validate/validate.ts")).validate(context, { paths: [path] }),
  }),
  tool({
    name: "doctor",
    kind: "read",
    about: "Whether this machine and project are ready for runs: node, git, config, agents, isolation.",
    takes: nothing,
    run: async (context) => (await import("../doctor.ts")).doctor(context, {}),
  }),
];
