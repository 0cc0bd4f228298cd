// machines: several "machines" on this one: a clone and a home each, one store, one hub.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { autopilot, begin, type Ended, type Reported } from "../support/autopilot.ts";
import { checkedOnce, git, scratch, scratchFolder } from "../support/scratch-repository.ts";

export type Machine = { readonly folder: string; readonly env: Readonly<Record<string, string>> };
export type Fleet = {
  readonly hub: string;
  /** Where runs are submitted. */
  readonly first: Machine;
  readonly another: (env?: Readonly<Record<string, string>>) => Machine;
};

/** Where no owner is lost: none loses its lease because the machine is busy. */
export const patientMs = 300_000;
/**
 * Where one is: the shortest there may be, and the story must have that a slow machine loses
 * another.
 */
export const shortMs = 8_000;

/** `files`: of a repository that no other fleet has. */
export function openFleet(
  store: string,
  leaseMs = patientMs,
  files?: Readonly<Record<string, string>>,
): Fleet {
  const folder = checkedOnce(scratch(files === undefined ? {} : { files }));
  const hub = join(scratchFolder(), "hub.git");
  git(folder, "init", "-q", "--bare", "-b", "main", hub);
  git(folder, "push", "-q", hub, "main");

  const env = {
    AUTOPILOT_STORE: store,
    AUTOPILOT_HUB: hub,
    AUTOPILOT_LEASE_MS: String(leaseMs),
    AUTOPILOT_ISOLATION: "clone",
  };

  return {
    hub,
    first: { folder, env },
    another: (more = {}) => {
      const clone = checkedOnce(join(scratchFolder(), "repo"));
      git(folder, "clone", "-q", "-b", "main", hub, clone);
      git(clone, "config", "user.name", "Worker");
      git(clone, "config", "user.email", "worker@example.invalid");

      return { folder: clone, env: { ...env, ...more } };
    },
  };
}

export const said = ({ out, err }: Ended): string => `${out}\n${err}`;
export const at = ({ folder, env }: Machine, ...args: readonly string[]): Promise<Ended> =>
  autopilot(folder, [...args, "--json"], { env });
export const worker = (
  { folder, env }: Machine,
  ...args: readonly string[]
): ReturnType<typeof begin> => begin(folder, ["worker", ...args, "--json"], { env });

let scripts = 0;

/** Submits a run whose embedded agent plays these turns, or whose agent has a name; its key. */
export async function submit(
  machine: Machine,
  path: string,
  turns: readonly object[] | string,
  ...args: readonly string[]
): Promise<string> {
  const file = join(machine.folder, "..", `script-${scripts++}.json`);
  if (typeof turns !== "string") writeFileSync(file, JSON.stringify({ turns }));

  const goal = [
    "fleet",
    "submit",
    `make ${path}`,
    "--yes",
    "--done-criteria",
    `${path} is there :: test -f ${path}`,
  ];
  const ended = await at(
    machine,
    ...goal,
    "--agent",
    typeof turns === "string" ? turns : `scripted:${file}`,
    ...args,
  );
  if (ended.code !== 0) throw new Error(said(ended));

  return String(ended.json["key"]);
}

/** One turn that makes a file. */
export const makes = (path: string, waitMs = 0): object => ({
  do: [
    ...(waitMs === 0 ? [] : [{ sleep: waitMs }]),
    { write: { path, text: `${path}\n` } },
    { say: "<promise>DONE</promise>" },
  ],
  confidence: 0.9,
});

/** A turn that lasts until its gate is opened, whatever the speed of the machine. */
export function gate(): { readonly waits: object; readonly open: () => void } {
  const file = join(scratchFolder(), "open");
  return {
    waits: { run: `while ! test -e '${file}'; do sleep 0.1; done` },
    open: () => writeFileSync(file, ""),
  };
}

export type ReportedOrder = {
  readonly order: string;
  readonly run_id: string;
  readonly state: string;
  readonly worker: string | null;
  readonly times_taken: number;
  readonly outcome: string | null;
};
export const ordersOf = (reported: Reported): readonly ReportedOrder[] =>
  reported["orders"] as readonly ReportedOrder[];

/** What a hub says when it is pushed to: refused by a hook, with words. */
export function refusePushes(hub: string, ref: string, text: string): void {
  mkdirSync(join(hub, "hooks"), { recursive: true });
  const hook = `#!/bin/sh\nwhile read old new ref; do if [ "$ref" = "${ref}" ]; then echo "${text}" >&2; exit 1; fi; done\n`;
  writeFileSync(join(hub, "hooks", "pre-receive"), hook, { mode: 0o755 });
}

export const linesOf = (path: string): readonly string[] =>
  readFileSync(path, "utf8").trim().split("\n");
