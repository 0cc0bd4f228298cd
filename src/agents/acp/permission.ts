// permission: the answer to an agent that asks before it uses a tool. By the kind of each option, never by its place or name:
// agents list them in any order and call them anything.

import type { PermissionOption, RequestPermissionResponse } from "@agentclientprotocol/sdk";

/** `allowed`: every path named is in the layer. One permission at a time is given, and only if there is no such thing, one for always. */
export function permit(options: readonly PermissionOption[], verdict: "allowed" | "refused" | "cancelled"): RequestPermissionResponse {
  if (verdict === "cancelled") return { outcome: { outcome: "cancelled" } };
  const kinds = verdict === "allowed" ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const chosen = kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0];
  return chosen === undefined ? { outcome: { outcome: "cancelled" } } : { outcome: { outcome: "selected", optionId: chosen.optionId } };
}
