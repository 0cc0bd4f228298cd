// rehearse: runs one harmless turn in a temporary folder to see if an agent answers and what it
// reports.

import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenedAgents } from "../agents/open-agents.ts";
import { resolveProfile } from "../agents/profiles/resolve-profile.ts";
import type { CommandResponse } from "../contracts/command-response.ts";
import type { Cast } from "../contracts/event.ts";
import type { ReasonCode } from "../contracts/reason.ts";
import type { TurnRequest, TurnResult } from "../ports/agent.ts";
import { erase } from "../workspace/folder.ts";
import { openLimits } from "../workspace/isolation/limits.ts";
import { openLimitsCache } from "../workspace/isolation/self-test-cache.ts";
import { openSandboxedAgents } from "../runner/sandboxed-agents.ts";
import { assignAgent } from "../runner/draft/assign-agent.ts";
import { findProject } from "../project/runs/project-paths.ts";
import { openIsolation } from "../runner/draft/open-isolation.ts";
import type { CommandContext } from "../project/command-context.ts";
import { buildPolicy } from "../runner/draft/run-policy.ts";
import { refuse, respond } from "../project/respond.ts";
import { type Settings, describeInvalidConfig, readSettings } from "../project/config/settings.ts";
import { createTemporaryFolder } from "../workspace/temporary-folder.ts";

const turnMinutesMax = 2;
const replyCharsMax = 200;

/** Runs the turn in an empty folder that is erased afterwards. */
export async function rehearse(context: CommandContext, name: string): Promise<CommandResponse> {
  const settings = readSettings(context, findProject(context.cwd)?.root ?? context.cwd);
  if (settings.kind !== "settings") {
    return refuse("config_invalid", describeInvalidConfig(settings.findings));
  }

  let script = "";
  const storeScript = (text: string): Promise<string> => {
    script = text;
    return Promise.resolve("0".repeat(64)); // a trial has no blobs: `scriptPathOf` ignores this hash
  };

  const cast = await assignAgent({ context, config: settings.config, storeScript }, "try", name);
  const folder = realpathSync(await createTemporaryFolder("try"));
  const layer = join(folder, "work");
  mkdirSync(layer);
  writeFileSync(join(folder, "script"), script);

  try {
    const agents = await openTrialAgents(context, settings, folder);
    try {
      return respondWithResult(
        name,
        cast,
        await agents.turn(createTrialRequest(cast, layer, context.interrupted)),
      );
    } finally {
      await agents.close();
    }
  } finally {
    await erase(folder);
  }
}

/** The agents of a temporary folder, with the same isolation, limits and meter as in a run. */
async function openTrialAgents(
  context: CommandContext,
  { config, isolation: wanted }: Settings,
  folder: string,
): Promise<Pick<OpenedAgents, "turn" | "close">> {
  const paths = findProject(context.cwd) ?? { root: join(folder, "nowhere"), folder };
  const [isolation, limits] = await Promise.all([
    openIsolation(wanted, paths, folder),
    openLimits(folder, openLimitsCache(folder)),
  ]);

  const agents = openSandboxedAgents({
    context,
    turnEnv: () => ({}),
    isolation,
    limits,
    policy: buildPolicy(config),
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

/**
 * A turn outside any run: its run and attempt are made-up names, and nothing limits its usage but
 * the time.
 */
const createTrialRequest = (cast: Cast, layer: string, cancel: AbortSignal): TurnRequest => ({
  run: "run-2000-01-01-000000",
  attempt: "1@1/try#1",
  cast,
  facts: { flow: "try", phase: "1", step: "try", role: "try", task: null, attempt: 1, ask: 1 },
  history: [],
  prompt: "Say hello in one short sentence. Change nothing and run nothing.",
  returns: null,
  promise: null,
  layer,
  minutesMax: turnMinutesMax,
  scope: ["**"],
  isInterrupted: false,
  allowanceLeft: () => ({ tokens: Infinity, usd: Infinity, calls: Infinity }),
  isUnpaid: () => true,
  session: null,
  cancel,
  onSession: () => Promise.resolve(),
  onAskAgain: () => Promise.resolve(false),
  onLiveEvent: () => undefined,
});

/** Every failure has its reason code, the message of the part that saw it, and what to do next. */
function respondWithResult(name: string, cast: Cast, result: TurnResult): CommandResponse {
  if (result.kind === "ended") {
    return respond("ok", {
      message: `${name} answered: ${result.said.slice(0, replyCharsMax)}`,
      warnings: result.warnings,
      data: { agent: name, said: result.said, usage: result.usage, stop: result.stop },
    });
  }

  const { code, remediation } = explainFailure(name, cast, result);
  return respond(code, {
    message: `${name}: ${result.detail}`,
    remediation,
    data: {
      agent: name,
      usage: result.usage,
      ...("fault" in result ? { fault: result.fault } : {}),
    },
  });
}

type FailureAdvice = { readonly code: ReasonCode; readonly remediation: readonly string[] };

function explainFailure(
  name: string,
  cast: Cast,
  result: Exclude<TurnResult, { kind: "ended" }>,
): FailureAdvice {
  const resolved = resolveProfile(cast);
  const hints = "profile" in resolved ? resolved.profile.hints : { install: "", login: "" };
  const retryCommand = `autopilot agents try ${name}`;

  if (result.kind === "failed") {
    if (result.reason !== "agent_unavailable") {
      return { code: result.reason, remediation: [retryCommand, "autopilot doctor"] };
    }

    const isLoginProblem = /logged in|log in|authenticat/i.test(result.detail);
    return {
      code: result.reason,
      remediation: [
        isLoginProblem ? hints.login : hints.install.replace("agents.NAME", () => `agents.${name}`),
        retryCommand,
      ],
    };
  }

  switch (result.by) {
    case "cancel":
      return { code: "agent_failed", remediation: [retryCommand] };
    case "deadline":
      return {
        code: "agent_timeout",
        remediation: [`it had ${turnMinutesMax} minutes; ${retryCommand}`],
      };
    case "budget":
      return { code: "budget_threshold_reached", remediation: [retryCommand] };
    case "provider":
      return explainProviderFault(result.fault, result.resetAt, hints.login, retryCommand);
  }
}

function explainProviderFault(
  fault: string,
  resetAt: string | null,
  login: string,
  retryCommand: string,
): FailureAdvice {
  if (fault === "limit") {
    return {
      code: "provider_limit_reached",
      remediation: [
        resetAt === null ? `later: ${retryCommand}` : `after ${resetAt}: ${retryCommand}`,
      ],
    };
  }

  if (fault === "access") return { code: "agent_unavailable", remediation: [login, retryCommand] };
  return {
    code: "agent_failed",
    remediation: [
      fault === "request"
        ? "look at the model's name and the upstream in the config"
        : retryCommand,
    ],
  };
}
