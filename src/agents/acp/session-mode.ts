// session-mode: sets an agent's permission mode and model in its session. A mode or model that it
// does not offer is a warning: no other is chosen.

import { type ClientContext, RequestError } from "@agentclientprotocol/sdk";
import type { ModeSetting } from "../profiles/profile.ts";
import type { Watch } from "../turn/ending.ts";
import type { TurnLimits } from "../turn/turn-limits.ts";
import { asArray, type JsonObject, asRecord, asString } from "../turn/untrusted-json.ts";

type Setting =
  | { readonly method: "session/set_mode"; readonly modeId: string }
  | {
      readonly method: "session/set_config_option";
      readonly configId: string;
      readonly value: string;
    };

type ModeRequest = {
  readonly mode: ModeSetting;
  readonly model: string;
  readonly modelOption: string | null;
};

/**
 * Options to set among those the session offers, and those requested that it doesn't offer. Pure.
 */
export function chooseSettings(
  offered: JsonObject,
  modeRequest: ModeRequest,
): { readonly settings: readonly Setting[]; readonly warnings: readonly string[] } {
  const settings: Setting[] = [];
  const warnings: string[] = [];
  const { session, options = {} } = modeRequest.mode;
  if (session !== undefined) {
    const modes = asRecord(offered["modes"]);
    const isOffered = asArray(modes["availableModes"]).some(
      (mode) => asRecord(mode)["id"] === session,
    );

    const option = findOption(offered, "mode");
    if (isOffered) {
      if (modes["currentModeId"] !== session) {
        settings.push({ method: "session/set_mode", modeId: session });
      }
    } else if (option !== null && listOptionValues(option).includes(session)) {
      if (option["currentValue"] !== session) settings.push(toOptionSetting(option, session));
    } else {
      warnings.push(`it does not offer the mode ${session}, and stays in its own`);
    }
  }

  const configOptions = [
    ...Object.entries(options),
    ...(modeRequest.model === "" || modeRequest.modelOption === null
      ? []
      : [[modeRequest.modelOption, modeRequest.model] as const]),
  ];
  for (const [name, value] of configOptions) {
    const option = findOption(offered, name);
    if (option === null || !listOptionValues(option).includes(value)) {
      warnings.push(`it does not offer ${name} = ${value}, and keeps its own`);
    } else if (option["currentValue"] !== value) {
      settings.push(toOptionSetting(option, value));
    }
  }

  return { settings, warnings };
}

/** Sets the options one after the other; what the agent refuses is a warning. */
export async function setMode(
  {
    agent,
    watch,
    limits,
  }: {
    readonly agent: ClientContext;
    readonly watch: Watch;
    readonly limits: Pick<TurnLimits, "sessionMs">;
  },
  { session, offered }: { readonly session: string; readonly offered: JsonObject },
  modeRequest: ModeRequest,
): Promise<readonly string[]> {
  const { settings, warnings } = chooseSettings(offered, modeRequest);
  const refusals: string[] = [];

  for (const setting of settings) {
    const { method } = setting;
    const response =
      method === "session/set_mode"
        ? agent.request("session/set_mode", { sessionId: session, modeId: setting.modeId })
        : agent.request("session/set_config_option", {
            sessionId: session,
            configId: setting.configId,
            value: setting.value,
          });

    try {
      await watch.ask<unknown>(response, { asked: method, ms: limits.sessionMs });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      refusals.push(
        `it refused ${method} (${method === "session/set_mode" ? setting.modeId : setting.value}): ${error.message}`,
      );
    }
  }

  return [...warnings, ...refusals];
}

/** The option of this id, else of this category. */
function findOption(offered: JsonObject, name: string): JsonObject | null {
  const options = asArray(offered["configOptions"]).map(asRecord);
  return (
    options.find((option) => option["id"] === name) ??
    options.find((option) => option["category"] === name) ??
    null
  );
}

/** The values of a select, grouped or not. */
function listOptionValues(option: JsonObject): readonly string[] {
  return asArray(option["options"])
    .map(asRecord)
    .flatMap((item) => [item, ...asArray(item["options"]).map(asRecord)])
    .flatMap((item) => asString(item["value"]) ?? []);
}

const toOptionSetting = (option: JsonObject, value: string): Setting => ({
  method: "session/set_config_option",
  configId: asString(option["id"]) ?? "",
  value,
});
