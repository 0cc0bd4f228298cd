// context-redaction: returns the redactor of a command context, built when something is first
// written.
//
// Invariants:
//   X1. Everything written to a run's folder passes through the redactor of the command's context.

import type { CommandContext } from "../command-context.ts";
import { openRedaction, type Redaction } from "./redaction.ts";
import { readSettings } from "../config/settings.ts";

const redactions = new WeakMap<CommandContext, Redaction>();

/**
 * The context's redactor, made with the first `root` it is asked for. An unreadable config names no
 * secrets; whatever needs the config reports the error.
 */
export function getRedaction(context: CommandContext, root: string | null): Redaction {
  const earlier = redactions.get(context);
  if (earlier !== undefined) return earlier;
  const settings = readSettings(context, root);
  const config = settings.kind === "settings" ? settings.config : {};
  const agentEnv = Object.assign(
    {},
    ...Object.values(config.agents ?? {}).map(({ env }) => env ?? {}),
  ) as Record<string, string>;

  const redaction = openRedaction({
    env: context.env,
    names: config.redact ?? [],
    agentEnv,
    home: context.env["HOME"],
  });
  redactions.set(context, redaction);
  return redaction;
}
