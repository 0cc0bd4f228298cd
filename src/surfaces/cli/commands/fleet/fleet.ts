// fleet: command-line specs of `fleet` and its subcommands and of `worker`: commands about a store
// that several machines share.

import type { FleetRequest } from "../../../../commands/fleet/requests.ts";
import type { CommandResponse } from "../../../../contracts/command-response.ts";
import type { CommandContext } from "../../../../project/command-context.ts";
import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import { goalArgument, objectiveFlags, parseObjective } from "../../objective-flags.ts";
import type { ArgumentSpec, Command, FlagSpec, ParsedInput } from "../../spec.ts";

const storeFlag: FlagSpec = {
  name: "store",
  kind: "text",
  placeholder: "URL",
  about: "postgres://USER@HOST/DATABASE; a password belongs in ~/.pgpass.",
  defaultText: "AUTOPILOT_STORE",
};
/** Each kind of request without the fields that every subcommand fills in alike. */
type FleetRequestKind = FleetRequest extends infer R
  ? R extends FleetRequest
    ? Omit<R, "key" | "store">
    : never
  : never;
const sendRequest = async (
  context: CommandContext,
  input: ParsedInput,
  request: FleetRequestKind,
): Promise<CommandResponse> =>
  (await import("../../../../commands/fleet/requests.ts")).sendFleetRequest(context, {
    ...request,
    key: input.words[0] ?? "",
    ...omitUndefined({ store: input.text("store") }),
  });
const subcommand = (name: string, rest: Omit<Command, "name" | "takesRun">): Command => ({
  name: `fleet ${name}`,
  takesRun: false,
  ...rest,
});

const fleet: Command = {
  name: "fleet",
  summary: "Keep runs in a PostgreSQL database that several machines share.",
  usage: "[init | status | doctor | submit | pause | stop | answer | resume | take | export]",
  details: [
    "Without a store runs lie in files, and nothing here is needed. Alone it shows the store's runs. See docs/FLEET.md.",
  ],
  arguments: [],
  flags: [storeFlag],
  takesRun: false,
  run: async (context, input) =>
    (await import("../../../../commands/fleet/status.ts")).fleetStatus(
      context,
      omitUndefined({ store: input.text("store") }),
    ),
};

const keyArgument: ArgumentSpec = { name: "KEY", about: "the run's key, as fleet status shows it" };
/** `gpu,linux-arm64` */
const labelsForm = {
  matches: /^[a-z0-9][a-z0-9_.,-]*$/,
  says: "small letters and digits, separated by commas",
};

const worker: Command = {
  name: "worker",
  summary: "Work for a store on this machine: take submitted runs, and those whose worker is gone.",
  usage: "[--jobs N] [--labels A,B] [--name NAME] [--store URL]",
  details: [
    "Run it in a clone of the project, with AUTOPILOT_STORE and AUTOPILOT_HUB set. Runs go on under this machine's own config and isolation.",
    "Starting a worker says yes to every run that is submitted for this repository: whoever may write to the store may have commands run here, inside the isolation.",
    "SIGTERM or Ctrl-C drains: runs pause when their turn ends and go back to the store. Once more leaves at once.",
  ],
  arguments: [],
  flags: [
    {
      name: "jobs",
      kind: "number",
      placeholder: "N",
      min: 1,
      about: "Runs at once.",
      defaultText: "1",
    },
    {
      name: "labels",
      kind: "text",
      placeholder: "A,B",
      form: labelsForm,
      about: "What this machine has: runs that need it go here.",
    },
    {
      name: "name",
      kind: "text",
      placeholder: "NAME",
      about: "The worker's name; two of one name are refused.",
      defaultText: "host and folder",
    },
    {
      name: "isolation",
      kind: "text",
      placeholder: "LEVEL",
      about: "Isolation for proving merges.",
      isRare: true,
    },
    storeFlag,
  ],
  takesRun: false,
  onInterrupt: "! Draining: turns end, runs go back to the store. Once more leaves at once.",
  run: async (context, input) =>
    (await import("../../../../commands/fleet/worker.ts")).runWorker(
      context,
      omitUndefined({
        store: input.text("store"),
        jobs: input.number("jobs"),
        labels: input.text("labels")?.split(","),
        name: input.text("name"),
        isolation: input.text("isolation"),
      }),
    ),
};

export const fleetCommands: readonly Command[] = [
  worker,
  fleet,
  subcommand("init", {
    summary: "Make a store in a PostgreSQL database, or bring it up to date.",
    usage: "[--store URL] [--grant ROLE]",
    details: [
      "Needed once per database, and after an upgrade that says so. A newer store is never touched.",
      "Give workers a role of their own with --grant: it may add lines and hold runs, and can neither change nor remove a line.",
    ],
    arguments: [],
    flags: [
      storeFlag,
      {
        name: "grant",
        kind: "text",
        placeholder: "ROLE",
        about: "Give this role the rights of a worker.",
      },
    ],
    run: async (context, input) =>
      (await import("../../../../commands/fleet/init.ts")).initFleet(
        context,
        omitUndefined({ store: input.text("store"), grant: input.text("grant") }),
      ),
  }),
  subcommand("status", {
    summary:
      "Show the runs of a store: who holds them, how far they are, how often they were taken over.",
    usage: "[--store URL] [--all]",
    details: ["Runs that somebody holds come first. Nothing is changed."],
    arguments: [],
    flags: [storeFlag, { name: "all", kind: "flag", about: "All of them, in order." }],
    run: async (context, input) =>
      (await import("../../../../commands/fleet/status.ts")).fleetStatus(
        context,
        omitUndefined({ store: input.text("store"), all: input.flag("all") || undefined }),
      ),
  }),
  subcommand("doctor", {
    summary: "Check whether a store can be trusted with runs, and what to do where not.",
    usage: "[--store URL]",
    details: [
      "Looks at the server, the schema, durable commits, rights, the clock, and what a failover may lose. Changes nothing.",
    ],
    arguments: [],
    flags: [storeFlag],
    run: async (context, input) =>
      (await import("../../../../commands/fleet/doctor.ts")).fleetDoctor(
        context,
        omitUndefined({ store: input.text("store") }),
      ),
  }),
  subcommand("submit", {
    summary: "Draft a run for the store's workers.",
    usage: "GOAL… [--yes] [--priority 1-5] [--needs A,B] [--done-criteria 'TEXT :: COMMAND'] …",
    details: [
      "The run begins at the commit of this checkout; what isn't committed isn't seen. Its work lands on the same branch of the hub.",
      "Needs AUTOPILOT_HUB: the git repository through which machines exchange commits.",
    ],
    arguments: [goalArgument],
    flags: [
      { name: "yes", short: "y", kind: "flag", about: "Confirm the preview." },
      {
        name: "priority",
        kind: "number",
        placeholder: "1-5",
        min: 1,
        about: "1 comes first.",
        defaultText: "3",
      },
      {
        name: "needs",
        kind: "text",
        placeholder: "A,B",
        form: labelsForm,
        about: "Labels that a worker must have.",
      },
      {
        name: "slots",
        kind: "number",
        placeholder: "N",
        min: 1,
        about: "How many runs of this repository may be worked on at once.",
        defaultText: "8",
      },
      storeFlag,
      ...objectiveFlags.filter(({ name }) => name !== "new"),
    ],
    run: async (context, input) =>
      (await import("../../../../commands/fleet/submit.ts")).submitRun(
        context,
        parseObjective(input),
        {
          yes: input.flag("yes"),
          ...omitUndefined({
            store: input.text("store"),
            priority: input.number("priority"),
            needs: input.text("needs")?.split(","),
            slots: input.number("slots"),
          }),
        },
      ),
  }),
  subcommand("pause", {
    summary: "Pause a run, whichever machine works on it.",
    usage: "KEY [--now] [--store URL]",
    details: ["`autopilot fleet resume KEY` goes on."],
    arguments: [keyArgument],
    flags: [{ name: "now", kind: "flag", about: "At once; the turn is set aside." }, storeFlag],
    run: async (context, input) =>
      sendRequest(context, input, { ask: "pause", now: input.flag("now") }),
  }),
  subcommand("stop", {
    summary: "Stop a run for good, whichever machine works on it.",
    usage: "KEY [--store URL]",
    details: ["Its commits stay on the hub."],
    arguments: [keyArgument],
    flags: [storeFlag],
    run: async (context, input) => sendRequest(context, input, { ask: "stop" }),
  }),
  subcommand("answer", {
    summary: "Answer a question of a run, whichever machine works on it.",
    usage: "KEY [--block ID] ANSWER… [--store URL]",
    details: ["The run goes on with the next worker that is free."],
    arguments: [
      keyArgument,
      {
        name: "ANSWER",
        about: "one of the answers, or your own words if the question takes them",
        isRepeatable: true,
      },
    ],
    flags: [
      {
        name: "block",
        kind: "text",
        placeholder: "ID",
        about: "Which question, if several are open.",
      },
      storeFlag,
    ],
    run: async (context, input) =>
      sendRequest(context, input, {
        ask: "answer",
        text: input.words.slice(1).join(" "),
        ...omitUndefined({ block: input.text("block") }),
      }),
  }),
  subcommand("resume", {
    summary: "Hand a run that rests, or failed, to the workers again.",
    usage: "KEY [--store URL]",
    details: [],
    arguments: [keyArgument],
    flags: [storeFlag],
    run: async (context, input) => sendRequest(context, input, { ask: "resume" }),
  }),
  subcommand("take", {
    summary: "Bring a run of a store into this repository, to go on with it here.",
    usage: "KEY [--store URL]",
    details: [
      "Its journal and blobs come from the store, its commits from the git repository that AUTOPILOT_HUB names.",
      "Nothing of it is executed: autopilot adopt shows what it would do under your config, and asks.",
    ],
    arguments: [keyArgument],
    flags: [storeFlag],
    run: async (context, input) =>
      (await import("../../../../commands/fleet/take.ts")).takeRun(
        context,
        omitUndefined({ store: input.text("store"), key: input.words[0] ?? "" }),
      ),
  }),
  subcommand("export", {
    summary:
      "Write a run's journal from a store to a file, byte for byte as it would have been on disk.",
    usage: "RUN --to FILE [--store URL]",
    details: ["The chain is checked first. autopilot validate FILE checks it again."],
    arguments: [{ name: "RUN", about: "a run's id" }],
    flags: [
      storeFlag,
      {
        name: "to",
        kind: "text",
        placeholder: "FILE",
        about: "A new file.",
        defaultText: "RUN.jsonl",
      },
    ],
    run: async (context, input) => {
      const run = input.words[0] ?? "";
      return (await import("../../../../commands/fleet/export.ts")).exportRun(
        context,
        omitUndefined({
          store: input.text("store"),
          run,
          exportPath: input.text("to") ?? `${run}.jsonl`,
        }),
      );
    },
  }),
];
