// status-idle: the response of `status` when there is no run: the same fields, empty, and work that
// was detected.

import type { CommandResponse } from "../contracts/command-response.ts";
import { findingText } from "../kit/finding.ts";
import { detectWork, toDetectedFields, listResumeCommands } from "./detect-work.ts";
import type { CommandContext } from "../project/command-context.ts";
import { respond } from "../project/respond.ts";

/**
 * The fields of `status`, all empty, so that a program can read them without asking first whether
 * there is a run.
 */
export async function respondWithoutRun(
  context: CommandContext,
  root: string | null,
): Promise<CommandResponse> {
  const detected = root === null ? [] : await detectWork(context, root);
  const portfolio = await portfolioLine(context);

  const next = [
    ...(portfolio === null ? [] : ["autopilot portfolio status"]),
    ...listResumeCommands(detected),
    'autopilot "what you want done"',
  ];

  const page = [
    "No open run here.",
    ...(portfolio === null ? [] : [`  ${portfolio}`]),
    ...detected.flatMap(({ summary, files, findings }) => [
      `  Found ${summary} (${files.join(", ")})`,
      ...findings.map(
        (finding) => `    ${finding.severity === "error" ? "✗" : "!"} ${findingText(finding)}`,
      ),
    ]),
    ...(detected.length === 0 && portfolio === null
      ? []
      : ["", "Next", ...next.map((action) => `  → ${action}`)]),
  ];

  const data = {
    objective: null,
    budget: { limits: {}, counters: {}, ratios: {}, warnings: [] },
    progress: { completed_steps: [], pending_steps: [], blockers: [] },
    phases: [],
    isolation: null,
    verdict: null,
    next_actions: next,
    found: detected.map(toDetectedFields),
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
  const { isPortfolioMeant } = await import("./portfolio/is-portfolio-meant.ts");
  if (!isPortfolioMeant(context.cwd, {})) return null;
  const { message, data } = await (await import("./portfolio/show.ts")).showPortfolio(context, {});
  const waitingCount = typeof data?.["needs_you"] === "number" ? data["needs_you"] : 0;
  if (waitingCount === 0) return `Portfolio: ${message}`;

  return `Portfolio: ${message} ${waitingCount} ${waitingCount === 1 ? "waits" : "wait"} for you: autopilot inbox`;
}
