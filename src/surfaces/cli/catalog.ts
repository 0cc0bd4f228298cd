// catalog: lists all commands, in the order in which the help shows them.

import { ack } from "./commands/ack.ts";
import { adopt } from "./commands/adopt.ts";
import { agentsTry } from "./commands/agents-try.ts";
import { agents } from "./commands/agents.ts";
import { answer } from "./commands/answer.ts";
import { approve } from "./commands/approve.ts";
import { budgetRaise } from "./commands/budget-raise.ts";
import { budget } from "./commands/budget.ts";
import { calibrateCommands } from "./commands/experiment/calibrate.ts";
import { clean } from "./commands/clean.ts";
import { createCompletionsCommand } from "./commands/completions.ts";
import { config } from "./commands/config.ts";
import { dashboard } from "./commands/web/dashboard.ts";
import { demo } from "./commands/demo.ts";
import { diff } from "./commands/diff.ts";
import { discard } from "./commands/discard.ts";
import { doctor } from "./commands/doctor.ts";
import { estimate } from "./commands/experiment/estimate.ts";
import { exportCommands } from "./commands/integration/export.ts";
import { fleetCommands } from "./commands/fleet/fleet.ts";
import { fork, replay } from "./commands/experiment/replay-fork.ts";
import { flowDetect } from "./commands/flow/flow-detect.ts";
import { flowLint } from "./commands/flow/flow-lint.ts";
import { flowList } from "./commands/flow/flow-list.ts";
import { flowShow } from "./commands/flow/flow-show.ts";
import { flow } from "./commands/flow/flow.ts";
import { go } from "./commands/go.ts";
import { createHelpCommand } from "./commands/help.ts";
import { inbox } from "./commands/inbox.ts";
import { init } from "./commands/init.ts";
import { log } from "./commands/log.ts";
import { mcp } from "./commands/integration/mcp.ts";
import { notifyCommands } from "./commands/integration/notify.ts";
import { pause } from "./commands/pause.ts";
import { portfolioCommands } from "./commands/portfolio.ts";
import { prCommands } from "./commands/integration/pr.ts";
import { quality } from "./commands/quality.ts";
import { report } from "./commands/report.ts";
import { resume } from "./commands/resume.ts";
import { roadmapList } from "./commands/roadmap-list.ts";
import { roadmap } from "./commands/roadmap.ts";
import { runs } from "./commands/runs.ts";
import { systemdUnit } from "./commands/integration/systemd-unit.ts";
import { schema } from "./commands/schema.ts";
import { skillsCommands } from "./commands/integration/skills.ts";
import { start } from "./commands/start.ts";
import { status } from "./commands/status.ts";
import { stop } from "./commands/stop.ts";
import { trace } from "./commands/trace.ts";
import { transcript } from "./commands/transcript.ts";
import { validate } from "./commands/validate.ts";
import { verdict } from "./commands/verdict.ts";
import { verify } from "./commands/verify.ts";
import { watch } from "./commands/watch.ts";
import type { Chapter } from "./help-page.ts";
import type { Command } from "./spec.ts";

export const chapters: readonly Chapter[] = [
  {
    title: "Work",
    commands: [
      go,
      start,
      roadmap,
      roadmapList,
      quality,
      status,
      watch,
      dashboard,
      pause,
      resume,
      stop,
      report,
      diff,
      ...prCommands,
      transcript,
      runs,
    ],
  },
  { title: "Many projects", commands: [...portfolioCommands, systemdUnit] },
  { title: "Many machines", commands: fleetCommands },
  { title: "Experiment", commands: [replay, fork, ...calibrateCommands] },
  { title: "Decide", commands: [ack, adopt, approve, verdict, answer, inbox, budget, budgetRaise] },
  {
    title: "Look and check",
    commands: [
      log,
      verify,
      validate,
      trace,
      ...exportCommands,
      estimate,
      flow,
      flowList,
      flowShow,
      flowLint,
      flowDetect,
      agents,
      agentsTry,
      config,
      schema,
      doctor,
    ],
  },
  {
    title: "Set up",
    commands: [
      init,
      ...skillsCommands,
      mcp,
      ...notifyCommands,
      demo,
      discard,
      clean,
      createCompletionsCommand(() => commands),
      createHelpCommand(() => chapters),
    ],
  },
];

export const commands: readonly Command[] = chapters.flatMap((chapter) => chapter.commands);
