// notify: command-line specs of `notify` and its subcommands, about who is notified of what.

import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import type { Command } from "../../spec.ts";

const withoutArguments: Pick<Command, "arguments" | "flags" | "takesRun"> = {
  arguments: [],
  flags: [],
  takesRun: false,
};

export const notifyCommands: readonly Command[] = [
  {
    name: "notify",
    summary: "Show where notifications go, what waits and what was delivered.",
    usage: "[test [NAME] | send [--wait]]",
    details: [
      "Hooks stand in your own config under `notify`: a command or a signed webhook, told when a run needs you, ended, failed or is near a limit.",
      "Nothing is sent unless you set it up; a repository can't. See docs/NOTIFICATIONS.md.",
    ],
    ...withoutArguments,
    run: async (context) =>
      (await import("../../../../commands/outbound/notify.ts")).listNotifications(context),
  },
  {
    name: "notify test",
    summary: "Send a test notification now, to every hook or to one.",
    usage: "[NAME]",
    details: [],
    ...withoutArguments,
    arguments: [{ name: "NAME", about: "a hook's name", isOptional: true }],
    run: async (context, input) =>
      (await import("../../../../commands/outbound/notify.ts")).testNotification(
        context,
        omitUndefined({ name: input.words[0] }),
      ),
  },
  {
    name: "notify send",
    summary: "Deliver what waits. Runs do this by themselves, in a process of its own.",
    usage: "[--wait]",
    details: [
      "Three messages in ten minutes go out one by one; more are sent as one. What fails is tried again for a day.",
    ],
    ...withoutArguments,
    flags: [
      { name: "wait", kind: "flag", about: "Stay until everything is delivered or given up." },
    ],
    onInterrupt: "",
    run: async (context, input) =>
      (await import("../../../../commands/outbound/notify.ts")).sendNotifications(context, {
        waits: input.flag("wait"),
      }),
  },
];
