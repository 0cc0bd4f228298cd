// redaction-of: the one redaction of a place, gathered when something is first to be written.
//
// Invariants:
//   X1. Nothing is written to a run's folder but through the redactor of the place it was asked for from.

import type { CommandContext } from "../command-context.ts";
import { openRedaction, type Redaction } from "./redaction.ts";
import { readSettings } from "../config/settings.ts";

const opened = new WeakMap<CommandContext, Redaction>();

/** A config that cannot be read names nothing; whoever needs it says so. */
export function redactionOf(context: CommandContext, root: string | null): Redaction {
  const known = opened.get(context);
  if (known !== undefined) return known;
  const read = readSettings(context, root);
  const config = read.kind === "settings" ? read.config : {};
  const set = Object.assign({}, ...Object.values(config.agents ?? {}).map(({ env }) => env ?? {})) as Record<string, string>;
  const redaction = openRedaction({ env: context.env, names: config.redact ?? [], set, home: context.env["HOME"] });
  opened.set(context, redaction);
  return redaction;
}
