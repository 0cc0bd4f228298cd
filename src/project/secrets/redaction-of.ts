// redaction-of: the redactor of a command context, built when something is first written.
//
// Invariants:
//   X1. Everything written to a run's folder passes through the redactor of the command's context.

import type { CommandContext } from "../command-context.ts";
import { openRedaction, type Redaction } from "./redaction.ts";
import { readSettings } from "../config/settings.ts";

const opened = new WeakMap<CommandContext, Redaction>();

/** An unreadable config names no secrets; whatever needs the config reports the error. */
export function redactionOf(context: CommandContext, root: string | null): Redaction {
  const knownRedaction = opened.get(context);
  if (knownRedaction !== undefined) return knownRedaction;
  const read = readSettings(context, root);
  const config = read.kind === "settings" ? read.config : {};
  const set = Object.assign({}, ...Object.values(config.agents ?? {}).map(({ env }) => env ?? {})) as Record<string, string>;
  const redaction = openRedaction({ env: context.env, names: config.redact ?? [], set, home: context.env["HOME"] });
  opened.set(context, redaction);
  return redaction;
}
