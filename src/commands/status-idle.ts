// status-idle: the response of `status` when there is no run: the same fields, empty, and work that was detected.

import type { CommandResponse } from "../contracts/command-response.ts";
import { findingText } from "../kit/finding.ts";
import { detectWork, toData, resumeCommands } from "./detect-work.ts";
import type { CommandContext } from "../project/command-context.ts";
import { respond } from "../project/respond.ts";

/** Without a run: the same fields, empty, so that a program need not ask first; and the detected work. */
export async function respondWithoutRun(context: CommandContext, root: string | null): Promise<CommandResponse> {
  const detected = root === null ? [] : await detectWork(context, root);
  const portfolio = await portfolioLine(context);
  const next = [
    ...(portfolio === null ? [] : ["autopilot portfolio status"]),
    ...resumeCommands(detected),
    'autopilot "what you want done"',
  ];
  const page = [
    "No open run here.",
    ...(portfolio === null ? [] : [`  ${portfolio}`]),
    ...detected.flatMap(({ summary: standing, files, findings }) => [
      `  Found ${standing} (${files.join(", ")})`,
      ...findings.map((finding) => `    ${finding.severity === "error" ? "✗" : "!"} ${findingText(finding)}`),
    ]),
    ...(detected.length === 0 && portfolio === null ? [] : ["", "Next", ...next.map((action) => `  → ${action}`)]),
  ];
  const data = {
    objective: null,
    budget: { limits: {}, counters: {}, ratios: {}, warnings: [] },
    progress: { completed_steps: [], pending_steps: [], blockers: [] },
    phases: [],
    isolation: null,
    verdict: null,
    next_actions: next,
    found: detected.map(toData),
  };
  return respond("run_idle", {
    state: "idle",
    message: "No open run here.",
    remediation: next,
    data,
    ...(detected.length === 0 && portfolio === null ? {} : { page }),
  });
}

/** The state of this folder's portfolio; null if there is none. */
async function portfolioLine(context: CommandContext): Promise<string | null> {
  const { isPortfolioMeant } = await import("./portfolio/meant.ts");
  if (!isPortfolioMeant(context.cwd, {})) return null;
  const { message, data } = await (await import("./portfolio/show.ts")).showPortfolio(context, {});
  const waits = typeof data?.["needs_you"] === "number" ? data["needs_you"] : 0;
  if (waits === 0) return `Portfolio: ${message}`;
  return `Portfolio: ${message} ${waits} ${waits === 1 ? "waits" : "wait"} for you: autopilot inbox`;
}
