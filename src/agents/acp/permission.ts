// permission: answers an agent's permission requests for tools.
//
// Invariants:
//   P1. An option is chosen by its kind, never by its position or name: agents list them in any
//       order and under any name.
//   P2. A tool may name only paths inside the layer; one that changes files, only those in the
//       scope. A command is allowed, and a call of which nothing is known: the sandbox contains
//       them, and what they change is judged.
//   P3. Fetching is refused unless some host may be reached.

import type { PermissionOption, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { isChanging, listCallPaths, type ToolCall } from "../turn/tool-calls.ts";

export type PermissionVerdict = "allowed" | "refused" | "cancelled";

export type PermissionRules = {
  readonly isInside: (path: string) => boolean;
  readonly isInScope: (path: string) => boolean;
  readonly mayFetch: boolean;
};

/** Whether a call is allowed, and if not, why. */
export function judgeCall(
  call: ToolCall | null,
  { isInside, isInScope, mayFetch }: PermissionRules,
): { readonly refused: string } | "allowed" {
  if (call === null || call.kind === "execute") return "allowed"; // P2
  if (call.kind === "fetch") {
    return mayFetch ? "allowed" : { refused: "no host may be reached from here" };
  } // P3

  const isChange = isChanging(call);
  const paths = isChange ? [...listCallPaths(call), ...call.inputPaths] : listCallPaths(call);
  const outside = paths.find((path) => !isInside(path));
  if (outside !== undefined) return { refused: `${outside} lies outside its folder` }; // P2
  const outOfScope = isChange ? paths.find((path) => !isInScope(path)) : undefined;

  return outOfScope === undefined ? "allowed" : { refused: `${outOfScope} is out of scope` }; // P2
}

/**
 * The response for a verdict. An option for this call alone is preferred; one for always is taken
 * only if there is no other. P1
 */
export function toPermissionResponse(
  options: readonly PermissionOption[],
  verdict: PermissionVerdict,
): RequestPermissionResponse {
  if (verdict === "cancelled") return { outcome: { outcome: "cancelled" } };
  const kinds =
    verdict === "allowed" ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const chosen = kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0];

  return chosen === undefined
    ? { outcome: { outcome: "cancelled" } }
    : { outcome: { outcome: "selected", optionId: chosen.optionId } };
}

const shownMax = 5;

/** Counts the answers and keeps the text of the first few refusals. */
export class PermissionAnswers {
  readonly count = { allowed: 0, refused: 0, cancelled: 0 };
  readonly #refusals: string[] = [];

  add(verdict: PermissionVerdict, reason = ""): void {
    this.count[verdict] += 1;
    if (verdict === "refused" && this.#refusals.length < shownMax) this.#refusals.push(reason);
  }

  /** A sentence about the refusals, if there were any. */
  warnings(): readonly string[] {
    const { refused } = this.count;
    if (refused === 0) return [];
    const more = refused - this.#refusals.length;
    const requests =
      refused === 1 ? "1 request for permission was" : `${refused} requests for permission were`;

    return [
      `${requests} refused: ${this.#refusals.join("; ")}${more > 0 ? `; and ${more} more` : ""}`,
    ];
  }
}
