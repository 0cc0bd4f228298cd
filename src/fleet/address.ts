// address: which store a command means: the flag, or AUTOPILOT_STORE. Nothing that lies in a repository can name one.

import { refuse } from "../project/reply.ts";

export const storeVariable = "AUTOPILOT_STORE";
export const leaseVariable = "AUTOPILOT_LEASE_MS";

/** The address of the store; null where none is named. */
export function storeAddress(env: NodeJS.ProcessEnv, flag?: string): string | null {
  const said = (flag ?? env[storeVariable] ?? "").trim();
  if (said === "") return null;
  if (/^postgres(ql)?:\/\/\S+$/.test(said)) return said;
  return refuse("store_unusable", {
    message: `The store's address must begin with postgres://, as postgres://USER@HOST/DATABASE does.`,
    remediation: [`set ${storeVariable}, or give --store`],
  });
}

export function requireStoreAddress(env: NodeJS.ProcessEnv, flag?: string): string {
  return (
    storeAddress(env, flag) ??
    refuse("store_unusable", {
      message: "No store is named.",
      remediation: [`set ${storeVariable}=postgres://USER@HOST/DATABASE, or give --store`],
    })
  );
}
