// mode: sets an agent's permission mode and model in its session. A mode or model that it does not offer is a warning: no other is chosen.

import { type ClientContext, RequestError } from "@agentclientprotocol/sdk";
import type { ModeSetting } from "../profiles/profile.ts";
import type { Watch } from "./ending.ts";
import { asArray, type JsonObject, asRecord, asString } from "./untrusted-json.ts";

type Setting =
  | { readonly method: "session/set_mode"; readonly modeId: string }
  | { readonly method: "session/set_config_option"; readonly configId: string; readonly value: string };

type Wanted = { readonly mode: ModeSetting; readonly model: string; readonly modelOption: string | null };

/** Options to set among those the session offers, and those requested that it doesn't offer. Pure. */
export function settingsFor(
  offered: JsonObject,
  wanted: Wanted,
): { readonly set: readonly Setting[]; readonly warnings: readonly string[] } {
  const set: Setting[] = [];
  const warnings: string[] = [];
  const { session, options = {} } = wanted.mode;
  if (session !== undefined) {
    const modes = asRecord(offered["modes"]);
    const isOffered = asArray(modes["availableModes"]).some((mode) => asRecord(mode)["id"] === session);
    const option = offeredOption(offered, "mode");
    if (isOffered) {
      if (modes["currentModeId"] !== session) set.push({ method: "session/set_mode", modeId: session });
    } else if (option !== null && optionValues(option).includes(session)) {
      if (option["currentValue"] !== session) set.push(choose(option, session));
    } else warnings.push(`it does not offer the mode ${session}, and stays in its own`);
  }
  const named = [
    ...Object.entries(options),
    ...(wanted.model === "" || wanted.modelOption === null ? [] : [[wanted.modelOption, wanted.model] as const]),
  ];
  for (const [name, value] of named) {
    const option = offeredOption(offered, name);
    if (option === null || !optionValues(option).includes(value)) warnings.push(`it does not offer ${name} = ${value}, and keeps its own`);
    else if (option["currentValue"] !== value) set.push(choose(option, value));
  }
  return { set, warnings };
}

/** Sets them one after the other; what the agent refuses is a warning. */
export async function setMode(
  agent: ClientContext,
  watch: Watch,
  session: string,
  offered: JsonObject,
  wanted: Wanted,
  ms: number,
): Promise<readonly string[]> {
  const { set, warnings } = settingsFor(offered, wanted);
  const refused: string[] = [];
  for (const setting of set) {
    const { method } = setting;
    const asked =
      method === "session/set_mode"
        ? agent.request("session/set_mode", { sessionId: session, modeId: setting.modeId })
        : agent.request("session/set_config_option", { sessionId: session, configId: setting.configId, value: setting.value });
    try {
      await watch.ask<unknown>(asked, { asked: method, ms });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      refused.push(`it refused ${method} (${method === "session/set_mode" ? setting.modeId : setting.value}): ${error.message}`);
    }
  }
  return [...warnings, ...refused];
}

/** By its id, else by its category. */
function offeredOption(offered: JsonObject, name: string): JsonObject | null {
  const options = asArray(offered["configOptions"]).map(asRecord);
  return options.find((option) => option["id"] === name) ?? options.find((option) => option["category"] === name) ?? null;
}

/** The values of a select, grouped or not. */
function optionValues(option: JsonObject): readonly string[] {
  return asArray(option["options"])
    .map(asRecord)
    .flatMap((item) => [item, ...asArray(item["options"]).map(asRecord)])
    .flatMap((item) => asString(item["value"]) ?? []);
}

const choose = (option: JsonObject, value: string): Setting => ({
  method: "session/set_config_option",
  configId: asString(option["id"]) ?? "",
  value,
});
