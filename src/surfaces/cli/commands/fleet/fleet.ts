// fleet: the commands about a store that several machines share. All their code is loaded when one of them runs.

import { defined } from "../../defined.ts";
import type { Command, FlagSpec } from "../../spec.ts";

const storeFlag: FlagSpec = {
  name: "store",
  kind: "text",
  placeholder: "URL",
  about: "postgres://USER@HOST/DATABASE; a password belongs in ~/.pgpass.",
  standard: "AUTOPILOT_STORE",
};
const command = (name: string, rest: Omit<Command, "name" | "takesRun">): Command => ({ name: `fleet ${name}`, takesRun: false, ...rest });

const fleet: Command = {
  name: "fleet",
  summary: "Keep runs in a PostgreSQL database that several machines share.",
  usage: "[init | status | doctor | take | export]",
  details: ["Without a store runs lie in files, and nothing here is needed. Alone it shows the store's runs. See docs/FLEET.md."],
  arguments: [],
  flags: [storeFlag],
  takesRun: false,
  run: async (place, given) =>
    (await import("../../../../commands/fleet/status.ts")).fleetStatus(place, defined({ store: given.text("store") })),
};

export const fleetCommands: readonly Command[] = [
  fleet,
  command("init", {
    summary: "Make a store in a PostgreSQL database, or bring it up to date.",
    usage: "[--store URL] [--grant ROLE]",
    details: [
      "Needed once per database, and after an upgrade that says so. A newer store is never touched.",
      "Give workers a role of their own with --grant: it may add lines and hold runs, and can neither change nor remove a line.",
    ],
    arguments: [],
    flags: [storeFlag, { name: "grant", kind: "text", placeholder: "ROLE", about: "Give this role the rights of a worker." }],
    run: async (place, given) =>
      (await import("../../../../commands/fleet/init.ts")).initFleet(
        place,
        defined({ store: given.text("store"), grant: given.text("grant") }),
      ),
  }),
  command("status", {
    summary: "Show the runs of a store: who holds them, how far they are, how often they were taken over.",
    usage: "[--store URL] [--all]",
    details: ["Runs that somebody holds come first. Nothing is changed."],
    arguments: [],
    flags: [storeFlag, { name: "all", kind: "flag", about: "All of them, in order." }],
    run: async (place, given) =>
      (await import("../../../../commands/fleet/status.ts")).fleetStatus(
        place,
        defined({ store: given.text("store"), all: given.flag("all") || undefined }),
      ),
  }),
  command("doctor", {
    summary: "Check whether a store can be trusted with runs, and what to do where not.",
    usage: "[--store URL]",
    details: ["Looks at the server, the schema, durable commits, rights, the clock, and what a failover may lose. Changes nothing."],
    arguments: [],
    flags: [storeFlag],
    run: async (place, given) =>
      (await import("../../../../commands/fleet/doctor.ts")).fleetDoctor(place, defined({ store: given.text("store") })),
  }),
  command("take", {
    summary: "Bring a run of a store into this repository, to go on with it here.",
    usage: "KEY [--store URL]",
    details: [
      "Its journal and blobs come from the store, its commits from the git repository that AUTOPILOT_HUB names.",
      "Nothing of it is executed: autopilot adopt shows what it would do under your config, and asks.",
    ],
    arguments: [{ name: "KEY", about: "the run's key, as fleet status shows it" }],
    flags: [storeFlag],
    run: async (place, given) =>
      (await import("../../../../commands/fleet/take.ts")).takeRun(
        place,
        defined({ store: given.text("store"), key: given.words[0] ?? "" }),
      ),
  }),
  command("export", {
    summary: "Write a run's journal from a store to a file, byte for byte as it would have been on disk.",
    usage: "RUN --to FILE [--store URL]",
    details: ["The chain is checked first. autopilot validate FILE checks it again."],
    arguments: [{ name: "RUN", about: "a run's id" }],
    flags: [storeFlag, { name: "to", kind: "text", placeholder: "FILE", about: "A new file.", standard: "RUN.jsonl" }],
    run: async (place, given) => {
      const run = given.words[0] ?? "";
      return (await import("../../../../commands/fleet/export.ts")).exportRun(
        place,
        defined({ store: given.text("store"), run, to: given.text("to") ?? `${run}.jsonl` }),
      );
    },
  }),
];
