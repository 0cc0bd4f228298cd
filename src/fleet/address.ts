// address: reads which store and hub a command uses, from its flags and the environment. Files of a
// repository can't name either.

import { isGitAddress } from "../contracts/git-address.ts";
import { leaseMsDefault, leaseMsMax, leaseMsMin } from "./lease-times.ts";
import { refuse } from "../project/respond.ts";

export const storeVariable = "AUTOPILOT_STORE";
export const hubVariable = "AUTOPILOT_HUB";
export const leaseVariable = "AUTOPILOT_LEASE_MS";

/** The address of the store; null if none is named. */
export function findStoreAddress(env: NodeJS.ProcessEnv, flag?: string): string | null {
  const address = (flag ?? env[storeVariable] ?? "").trim();
  if (address === "") return null;
  if (/^postgres(ql)?:\/\/\S+$/.test(address)) return address;

  return refuse("store_unusable", {
    message: `The store's address must begin with postgres://, as postgres://USER@HOST/DATABASE does.`,
    remediation: [`set ${storeVariable}, or give --store`],
  });
}

export function requireStoreAddress(env: NodeJS.ProcessEnv, flag?: string): string {
  return (
    findStoreAddress(env, flag) ??
    refuse("store_unusable", {
      message: "No store is named.",
      remediation: [`set ${storeVariable}=postgres://USER@HOST/DATABASE, or give --store`],
    })
  );
}

/**
 * How long a lease lasts without a renewal: lease, renewal and self-stop all follow from this one
 * number.
 */
export function readLeaseMs(env: NodeJS.ProcessEnv): number {
  const text = (env[leaseVariable] ?? "").trim();
  if (text === "") return leaseMsDefault;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (ms >= leaseMsMin && ms <= leaseMsMax) return ms;

  return refuse("store_unusable", {
    message: `${leaseVariable} is ${JSON.stringify(text)}; expected milliseconds from ${leaseMsMin} to ${leaseMsMax}.`,
    remediation: [`unset ${leaseVariable} for ${leaseMsDefault}`],
  });
}

/** The git repository through which machines exchange commits; null if none is named. */
export function findHubAddress(env: NodeJS.ProcessEnv): string | null {
  const address = (env[hubVariable] ?? "").trim();
  if (address === "") return null;
  if (isGitAddress(address)) return address;

  return refuse("hub_unreachable", {
    message: `${hubVariable} must be an absolute path, or a git address that begins with https://, ssh://, file:// or USER@HOST:.`,
    remediation: [`git init --bare /srv/git/project.git, then ${hubVariable}=/srv/git/project.git`],
  });
}
