// inspect-isolation: tests which isolation levels work on this machine and describes them.

import type { ChosenLogin } from "../agents/profiles/choose-login.ts";
import { onlyDetects } from "../contracts/isolation-levels.ts";
import { erase } from "../workspace/folder.ts";
import { type InspectedIsolation, inspectIsolations } from "../workspace/isolation/isolation.ts";
import { clearSelfTestCache } from "../workspace/isolation/self-test-cache.ts";
import {
  chooseCheckoutKind,
  checkoutKindDescriptions,
} from "../workspace/checkouts/checkout-kind.ts";
import { createTemporaryFolder } from "../workspace/temporary-folder.ts";

export type WantedIsolation = {
  readonly level: string;
  readonly isUsable: boolean;
  readonly found: string;
};

/**
 * Finds the isolation a run would have here with this setting: the strongest that passes its
 * self-test, or the one named.
 */
export async function inspectWantedIsolation(wanted: string): Promise<WantedIsolation> {
  const inspected = await inspectEveryIsolation();
  const detectingLevel = {
    level: wanted,
    isUsable: true,
    found: "it detects what an agent did, and does not hold it",
  };

  const refusedLevel = {
    level: "none",
    isUsable: false,
    found: `no run would start: ${inspected.map(({ found }) => found).join("; ")}`,
  };

  if (wanted === "auto") {
    return inspected.find(({ level, isUsable }) => isUsable && !onlyDetects(level)) ?? refusedLevel;
  }

  return (
    inspected.find(({ level }) => level === wanted) ??
    (onlyDetects(wanted) ? detectingLevel : { ...refusedLevel, level: wanted })
  );
}

/** Tests every isolation level in a temporary folder; cached results are ignored. */
export async function inspectEveryIsolation(): Promise<readonly InspectedIsolation[]> {
  const folder = await createTemporaryFolder("isolation");
  try {
    clearSelfTestCache();
    return await inspectIsolations(folder);
  } finally {
    await erase(folder);
  }
}

/** Describes how folders for agents and checks would be created at this level. */
export async function describeCheckoutKind(level: string): Promise<string> {
  const folder = await createTemporaryFolder("worlds");
  try {
    return checkoutKindDescriptions[chooseCheckoutKind(level, folder)];
  } finally {
    await erase(folder);
  }
}

/** Whether an agent has its own network at this level, with the meter as the only way out. */
const hasOwnNetwork = (level: string): boolean =>
  level === "overlay" || level === "bwrap" || level === "srt";

export function describeNetwork(
  level: string,
  login: ChosenLogin["kind"],
  hosts: readonly string[],
): string {
  const reachable = [
    ...(login === "key" ? ["its model provider through the meter"] : []),
    ...hosts,
  ].join(", ");
  if (hasOwnNetwork(level)) return reachable === "" ? "none" : `only ${reachable}`;
  return `${reachable === "" ? "none is meant for it" : `meant for ${reachable}`}, but ${level} does not hold it to that`;
}
