// limits-systemd: limits by a transient systemd scope, if the user has an instance of systemd: the
// usual way on a desktop, where it owns the cgroups.

import { execFile } from "node:child_process";
import type { Limits } from "./confinement.ts";

/** How the user's systemd is reached. The command itself does not get its address. */
export type Systemd = {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

const answerTimeoutMs = 4_000;
export const systemdAddressVariables = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"] as const;

/** The user's systemd instance, checked by starting something; null if it does not answer. */
export async function findSystemd(): Promise<Systemd | null> {
  if (process.platform !== "linux") return null;
  const env = Object.fromEntries(
    systemdAddressVariables.flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name] ?? ""]],
    ),
  );
  if (Object.keys(env).length === 0) return null;
  const systemd: Systemd = { flags: ["--user"], env };

  const isUsable = await succeeds(systemd, [
    "systemd-run",
    ...systemd.flags,
    "--scope",
    "--quiet",
    "--collect",
    "--",
    "true",
  ]);
  return isUsable ? systemd : null;
}

/**
 * The words in front of a command that run it in a scope with these limits, without systemd's
 * address in its environment.
 */
export function composeScopeCommand(
  { flags, env }: Systemd,
  unit: string,
  limits: Limits,
  tasksPerProcess: number,
): readonly string[] {
  const properties = [
    `TasksMax=${limits.processesMax * tasksPerProcess}`,
    `MemoryMax=${limits.memoryBytesMax}`,
    "MemorySwapMax=0",
    "KillMode=control-group",
  ];

  return [
    "/usr/bin/env",
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    "systemd-run",
    ...flags,
    "--scope",
    "--quiet",
    "--collect",
    ...properties.flatMap((property) => ["-p", property]),
    `--unit=${unit}-${nextOrdinal()}`,
    "--",
    "/usr/bin/env",
    ...systemdAddressVariables.flatMap((name) => ["-u", name]),
  ];
}

/** A unit's name can be used once at a time; several commands of one key have one scope each. */
let ordinal = 0;
const nextOrdinal = (): number => (ordinal += 1);

/** Kills what runs in the scopes of a unit. */
export async function stopScope(systemd: Systemd, unit: string): Promise<void> {
  await succeeds(systemd, [
    "systemctl",
    ...systemd.flags,
    "kill",
    "--signal=SIGKILL",
    `${unit}-*.scope`,
  ]);
}

function succeeds({ env }: Systemd, [program = "", ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const options = {
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", ...env },
      timeout: answerTimeoutMs,
    };
    execFile(program, args, options, (error) => resolve(error === null));
  });
}
