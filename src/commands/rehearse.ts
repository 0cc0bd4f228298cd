// rehearse: runs one harmless turn in a temporary folder to see if an agent answers and what it reports.

import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenedAgents } from "../agents/open-agents.ts";
import { resolveProfile } from "../agents/profiles/resolve.ts";
import type { CommandResponse } from "../contracts/command-response.ts";
import type { Cast } from "../contracts/event.ts";
import type { ReasonCode } from "../contracts/reason.ts";
import type { TurnRequest, TurnResult } from "../ports/agent.ts";
import { erase } from "../workspace/folder.ts";
import { openLimits } from "../workspace/isolation/limits.ts";
import { openLimitsCache } from "../workspace/isolation/self-test-cache.ts";
import { openSandboxedAgents } from "../runner/sandboxed-agents.ts";
import { castFor } from "../runner/draft/assign-agents.ts";
import { findProject } from "../project/runs/project-paths.ts";
import { openIsolation } from "../runner/draft/open-isolation.ts";
import type { CommandContext } from "../project/command-context.ts";
import { policyOf } from "../runner/draft/policy.ts";
import { refuse, respond } from "../project/respond.ts";
import { type Settings, describeInvalidConfig, readSettings } from "../project/config/settings.ts";
import { createTemporaryFolder } from "../workspace/temporary-folder.ts";

const minutesMax = 2;
const saidCharsMax = 200;

/** One harmless turn in an empty temporary folder: is the agent there, does it answer, what does it report. */
export async function rehearse(context: CommandContext, name: string): Promise<CommandResponse> {
  const settings = readSettings(context, findProject(context.cwd)?.root ?? context.cwd);
  if (settings.kind !== "settings") return refuse("config_invalid", describeInvalidConfig(settings.findings));
  let text = "";
  const storeScript = (scriptText: string): Promise<string> => {
    text = scriptText;
    return Promise.resolve("0".repeat(64));
  };
  const cast = await castFor({ context, config: settings.config, storeScript }, "try", name);
  const folder = realpathSync(await createTemporaryFolder("try"));
  const layer = join(folder, "work");
  mkdirSync(layer);
  writeFileSync(join(folder, "script"), text);
  try {
    const agents = await trialAgents(context, settings, folder);
    try {
      return answerFor(name, cast, await agents.turn(trialRequest(cast, layer, context.interrupted)));
    } finally {
      await agents.close();
    }
  } finally {
    await erase(folder);
  }
}

/** The agents of a temporary folder, with the same isolation, limits and meter as in a run. */
async function trialAgents(
  context: CommandContext,
  { config, isolation: wanted }: Settings,
  folder: string,
): Promise<Pick<OpenedAgents, "turn" | "close">> {
  const paths = findProject(context.cwd) ?? { root: join(folder, "nowhere"), folder };
  const [isolation, limits] = await Promise.all([openIsolation(wanted, paths, folder), openLimits(folder, openLimitsCache(folder))]);
  const agents = openSandboxedAgents({
    context,
    turnEnv: () => ({}),
    isolation,
    limits,
    policy: policyOf(config),
    folder,
    mark: folder,
    scriptPathOf: () => join(folder, "script"),
    learnSecret: () => undefined,
    isOwner: () => true, // nothing of a trial is written anywhere
  });
  const close = async (): Promise<void> => {
    await agents.close();
    await limits.close();
  };
  return { turn: (request) => agents.turn(request), close };
}

const trialRequest = (cast: Cast, layer: string, cancel: AbortSignal): TurnRequest => ({
  run: "run-2000-01-01-000000",
  attempt: "1@1/try#1",
  cast,
  facts: { flow: "try", phase: "1", step: "try", role: "try", task: null, attempt: 1, ask: 1 },
  history: [],
  prompt: "Say hello in one short sentence. Change nothing and run nothing.",
  returns: null,
  promise: null,
  layer,
  minutesMax,
  scope: ["**"],
  isInterrupted: false,
  left: () => ({ tokens: Infinity, usd: Infinity, calls: Infinity }),
  isUnpaid: () => true,
  session: null,
  cancel,
  onSession: () => Promise.resolve(),
  onAskAgain: () => Promise.resolve(false),
  onLiveEvent: () => undefined,
});

/** The result. Every failure has its reason, the message of the part that saw it, and what to do next. */
function answerFor(name: string, cast: Cast, result: TurnResult): CommandResponse {
  if (result.kind === "ended")
    return respond("ok", {
      message: `${name} answered: ${result.said.slice(0, saidCharsMax)}`,
      warnings: result.warnings,
      data: { agent: name, said: result.said, usage: result.usage, stop: result.stop },
    });
  const { code, remediation } = explainFailure(name, cast, result);
  return respond(code, {
    message: `${name}: ${result.detail}`,
    remediation,
    data: { agent: name, usage: result.usage, ...("fault" in result ? { fault: result.fault } : {}) },
  });
}

type FailureAdvice = { readonly code: ReasonCode; readonly remediation: readonly string[] };

function explainFailure(name: string, cast: Cast, result: Exclude<TurnResult, { kind: "ended" }>): FailureAdvice {
  const resolved = resolveProfile(cast);
  const hints = "profile" in resolved ? resolved.profile.hints : { install: "", login: "" };
  const retryCommand = `autopilot agents try ${name}`;
  if (result.kind === "failed") {
    if (result.reason !== "agent_unavailable") return { code: result.reason, remediation: [retryCommand, "autopilot doctor"] };
    const isLogin = /logged in|log in|authenticat/i.test(result.detail);
    return {
      code: result.reason,
      remediation: [isLogin ? hints.login : hints.install.replace("agents.NAME", `agents.${name}`), retryCommand],
    };
  }
  switch (result.by) {
    case "cancel":
      return { code: "agent_failed", remediation: [retryCommand] };
    case "deadline":
      return { code: "agent_timeout", remediation: [`it had ${minutesMax} minutes; ${retryCommand}`] };
    case "budget":
      return { code: "budget_threshold_reached", remediation: [retryCommand] };
    case "provider":
      return explainProviderFault(result.fault, result.resetAt, hints.login, retryCommand);
  }
}

function explainProviderFault(fault: string, resetAt: string | null, login: string, retryCommand: string): FailureAdvice {
  if (fault === "limit")
    return {
      code: "provider_limit_reached",
      remediation: [resetAt === null ? `later: ${retryCommand}` : `after ${resetAt}: ${retryCommand}`],
    };
  if (fault === "access") return { code: "agent_unavailable", remediation: [login, retryCommand] };
  return {
    code: "agent_failed",
    remediation: [fault === "request" ? "look at the model's name and the upstream in the config" : retryCommand],
  };
}
