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

/** What is to be set, and what was requested although the session doesn't offer it. */
type Choice = { readonly settings: readonly Setting[]; readonly warnings: readonly string[] };

/** Chooses what to set in a session among what it offers. Pure. */
export function chooseSettings(
  offered: JsonObject,
  { mode, model, modelOption }: ModeRequest,
): Choice {
  const requested = Object.entries(mode.options ?? {});
  if (model !== "" && modelOption !== null) requested.push([modelOption, model]);
  const choices = [
    chooseMode(offered, mode.session),
    ...requested.map(([name, value]) => chooseOption(offered, name, value)),
  ];

  return {
    settings: choices.flatMap(({ settings }) => settings),
    warnings: choices.flatMap(({ warnings }) => warnings),
  };
}

const noChange: Choice = { settings: [], warnings: [] };
const toChoice = (setting: Setting): Choice => ({ settings: [setting], warnings: [] });
const toWarning = (warning: string): Choice => ({ settings: [], warnings: [warning] });

/** A mode is offered as such, or as an option of the category `mode`. */
function chooseMode(offered: JsonObject, modeId: string | undefined): Choice {
  if (modeId === undefined) return noChange;
  const modes = asRecord(offered["modes"]);
  const isOffered = asArray(modes["availableModes"]).some(
    (mode) => asRecord(mode)["id"] === modeId,
  );
  if (isOffered) {
    return modes["currentModeId"] === modeId
      ? noChange
      : toChoice({ method: "session/set_mode", modeId });
  }

  return (
    chooseValue(findOption(offered, "mode"), modeId) ??
    toWarning(`it does not offer the mode ${modeId}, and stays in its own`)
  );
}

const chooseOption = (offered: JsonObject, name: string, value: string): Choice =>
  chooseValue(findOption(offered, name), value) ??
  toWarning(`it does not offer ${name} = ${value}, and keeps its own`);

/** Null if the option, or this value of it, is not offered. */
function chooseValue(option: JsonObject | null, value: string): Choice | null {
  if (option === null || !listOptionValues(option).includes(value)) return null;
  return option["currentValue"] === value ? noChange : toChoice(toOptionSetting(option, value));
}

/** Sets what was chosen, one after the other; what the agent refuses is a warning. */
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
  { session: sessionId, offered }: { readonly session: string; readonly offered: JsonObject },
  modeRequest: ModeRequest,
): Promise<readonly string[]> {
  const { settings, warnings } = chooseSettings(offered, modeRequest);
  const refusals: string[] = [];

  for (const setting of settings) {
    const { method } = setting;
    const response =
      method === "session/set_mode"
        ? agent.request("session/set_mode", { sessionId, modeId: setting.modeId })
        : agent.request("session/set_config_option", {
            sessionId,
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
