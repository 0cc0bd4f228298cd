// agent-reasons: the reason codes of agents: how their turns end, their provider, and what an agent
// may not do; part of the one table in ../reason.ts.

import { type Reason, reason } from "./reason-row.ts";

export const agentReasons = {
  // Agents.
  agent_unavailable: reason(
    "FAIL",
    "The agent can't start here.",
    "autopilot doctor; after fixing the config: autopilot resume --adopt-config",
  ),
  agent_failed: reason(
    "FAIL",
    "The agent's turn ended in an error.",
    "autopilot log, then autopilot resume",
  ),
  agent_timeout: reason("FAIL", "The agent's turn timed out.", "autopilot resume"),
  provider_limit_reached: reason(
    "FAIL",
    "The model provider's limit is used up for now.",
    "wait for the reset, then autopilot resume",
  ),
  provider_failed: reason(
    "FAIL",
    "The model provider isn't responding.",
    "look at autopilot log; autopilot resume tries again",
  ),
  agent_switched: reason("PASS", "Another agent goes on.", ""),
  provider_reset: reason("PASS", "Provider limit lifted; continuing.", ""),
  return_invalid: reason(
    "FAIL",
    "The agent's result doesn't fit its schema, even after a retry.",
    "autopilot log shows the raw text",
  ),
  crash_loop: reason(
    "FAIL",
    "autopilot crashed three times on the same attempt.",
    "look at autopilot log, then autopilot resume",
  ),

  // What agents may not do.
  agent_may_not_grant: reason(
    "FAIL",
    "An agent can't do this: confirming, answering, approving, resuming, raising limits and stopping are a person's.",
    "give the command yourself, in a terminal or in autopilot dashboard",
  ),
  inside_a_run: reason(
    "FAIL",
    "Refused: this comes from inside a run, and no agent decides about a run.",
    "give the command in a terminal of your own",
  ),
  skill_kept: reason(
    "WARN",
    "Some skill files hold text of yours; they were left unchanged.",
    "move them away, then autopilot skills install",
  ),
} as const satisfies Record<string, Reason>;
