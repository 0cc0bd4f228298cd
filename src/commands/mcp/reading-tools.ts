// reading-tools: MCP tools that only read: runs, reports, logs, questions, diffs, estimates, checks
// of files.

import * as v from "valibot";
import { type ReasonCode, reasons } from "../../contracts/reason.ts";
import { respond } from "../../project/respond.ts";
import { type McpTool, runField, textField, defineTool } from "./tool.ts";

const eventsDefault = 100;
const eventsMax = 500;
const integerField = (about: string, min: number, max: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max), v.description(about));
const runInput = v.strictObject({ run: runField });
const noInput = v.strictObject({});

export const readingTools: readonly McpTool[] = [
  defineTool({
    name: "status",
    kind: "read",
    about: "How a run stands: state, step, progress, budget, verdict, what to do next.",
    inputSchema: runInput,
    run: async (context, input) =>
      (await import("../status.ts")).status(context, input, {
        idle: async (root) => (await import("../status-idle.ts")).respondWithoutRun(context, root),
        playbookStatus: async (playbook, root) =>
          playbook === "staged"
            ? (await import("../staged/staged-progress.ts")).readStagedProgress(root)
            : null,
      }),
  }),
  defineTool({
    name: "runs",
    kind: "read",
    about: "Every run of this project: state, goal, age, cost.",
    inputSchema: noInput,
    run: async (context) => (await import("../runs.ts")).runs(context, { all: true }),
  }),
  defineTool({
    name: "report",
    kind: "read",
    about:
      "What was asked, done, proved and claimed in a run, with the commands that prove it, and what is open.",
    inputSchema: runInput,
    run: async (context, input) => (await import("../report.ts")).report(context, input),
  }),
  defineTool({
    name: "log",
    kind: "read",
    about: "The run's journal, event by event. Ask again with the last seq for more.",
    inputSchema: v.strictObject({
      run: runField,
      after_seq: v.optional(
        integerField("only events after this number", 0, Number.MAX_SAFE_INTEGER),
      ),
      limit: v.optional(
        integerField(`at most this many events; ${eventsDefault} if left out`, 1, eventsMax),
      ),
    }),
    run: async (context, { run, after_seq = 0, limit = eventsDefault }) => {
      const response = await (
        await import("../log.ts")
      ).log(context, { run, since: after_seq + 1 });
      const allEvents = response.data?.["events"];
      if (!Array.isArray(allEvents)) return response;
      const events: readonly unknown[] = allEvents.slice(0, limit);

      return {
        ...response,
        message: `${events.length} of ${allEvents.length} events.`,
        data: { events, more: allEvents.length > events.length },
      };
    },
  }),
  defineTool({
    name: "inbox",
    kind: "read",
    about:
      "The questions that wait for a person, with their answers and the content each is bound to. They are a person's to answer.",
    inputSchema: runInput,
    run: async (context, { run }) => {
      const { isPortfolioMeant } = await import("../portfolio/is-portfolio-meant.ts");
      if (isPortfolioMeant(context.cwd, run === undefined ? {} : { run })) {
        return (await import("../portfolio/inbox.ts")).portfolioInbox(context);
      }

      return (await import("../inbox-list.ts")).inbox(context, { run });
    },
  }),
  defineTool({
    name: "diff",
    kind: "read",
    about: "What a run changed, as a patch, or as a list of files with stat.",
    inputSchema: v.strictObject({ run: runField, stat: v.optional(v.boolean()) }),
    run: async (context, { run, stat = false }) =>
      (await import("../diff.ts")).diff(context, { run, stat }),
  }),
  defineTool({
    name: "estimate",
    kind: "read",
    about: "What phases of the roadmap, or a run of a flow, may cost. Nothing runs.",
    inputSchema: v.strictObject({
      flow: v.optional(textField("a flow's name", 200)),
      phases: v.optional(
        textField("3, 2.1, 3-7, next or all; all that are not completed if left out", 200),
      ),
    }),
    run: async (context, { flow, phases }) =>
      flow === undefined
        ? (await import("../roadmap/estimate.ts")).estimate(context, { phases })
        : (await import("../estimate-run.ts")).estimateRun(context, { flow }),
  }),
  defineTool({
    name: "roadmap_list",
    kind: "read",
    about:
      "The phases of ROADMAP.md in execution order, and every problem with its line. Nothing runs.",
    inputSchema: noInput,
    run: async (context) => (await import("../roadmap/roadmap-list.ts")).roadmapList(context),
  }),
  defineTool({
    name: "portfolio_status",
    kind: "read",
    about: "What runs, what waits and why, and what has landed in a portfolio of projects.",
    inputSchema: noInput,
    run: async (context) => (await import("../portfolio/show.ts")).showPortfolio(context, {}),
  }),
  defineTool({
    name: "explain",
    kind: "read",
    about: "What a reason_code means and what to do about it.",
    inputSchema: v.strictObject({ reason_code: textField("the code, as an answer names it", 100) }),
    run: (_, { reason_code }) => {
      if (!Object.hasOwn(reasons, reason_code)) {
        return Promise.resolve(
          respond("usage", {
            message: `There is no reason code ${reason_code}.`,
            remediation: ["autopilot schema reason-codes"],
          }),
        );
      }

      return Promise.resolve(
        respond("ok", {
          message: reasons[reason_code as ReasonCode].meaning,
          data: { ...reasons[reason_code as ReasonCode] },
        }),
      );
    },
  }),
  defineTool({
    name: "validate",
    kind: "read",
    about:
      "Check a file of this project that autopilot reads or writes: config, flow, roadmap, journal, records. Findings with lines.",
    inputSchema: v.strictObject({
      path: v.pipe(
        textField("relative to the project's folder", 1_000),
        v.check(
          (path) => !path.startsWith("/") && !path.split(/[/\\]/).includes(".."),
          "expected a path inside the project",
        ),
      ),
    }),
    run: async (context, { path }) =>
      (await import("../validate/validate.ts")).validate(context, { paths: [path] }),
  }),
  defineTool({
    name: "doctor",
    kind: "read",
    about:
      "Whether this machine and project are ready for runs: node, git, config, agents, isolation.",
    inputSchema: noInput,
    run: async (context) => (await import("../doctor.ts")).doctor(context, {}),
  }),
];
