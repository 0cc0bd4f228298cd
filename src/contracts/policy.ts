// policy: schema of the check, sandbox and landing settings that a run records when it starts.

import * as v from "valibot";
import { BoxLimits, canaryModes, limitPolicies, ModelPrice, Quarantine } from "./config.ts";
import { Check } from "./evidence.ts";
import { landMinimums } from "./objective.ts";

const text = v.string();
const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const maybe = <S extends v.GenericSchema>(schema: S) => v.optional(schema);

/**
 * The config's settings for checks, as they were when the run began: a run continues with its
 * recorded copy.
 */
export const Policy = v.strictObject({
  check_minutes_max: v.number(),
  check_network: v.boolean(),
  check_env: maybe(v.record(text, text)),
  dependencies: maybe(v.array(text)),
  /** The repository whose checkout has the installed packages, for a run in a copy of it. */
  dependencies_from: maybe(text),
  /**
   * The commands that restore dependencies before checks; if there are any, installed packages are
   * not copied for checks.
   */
  restores: maybe(v.array(Check)),
  /**
   * The lock files of the tree under check name those commands, and not only those the base had.
   */
  restore_from: maybe(v.literal("lockfile")),
  /** How often at most a check is run on one tree to find out whether it is flaky. */
  repeat: maybe(Count),
  /** When a passing check is tried out, and for how many minutes at most. */
  canary: maybe(v.picklist(canaryModes)),
  canary_minutes_max: maybe(v.number()),
  /** Checks known to be flaky, and until when. */
  quarantine: maybe(v.array(Quarantine)),
  /** Globs of further files that judge as they were before the run. */
  protect: maybe(v.array(text)),
  agent_hosts: maybe(v.array(text)),
  prices: maybe(v.record(text, ModelPrice)),
  box: maybe(BoxLimits),
  on_limit: maybe(v.picklist(limitPolicies)),
  /** The verdict that work needs before it lands. */
  land: maybe(v.picklist(landMinimums)),
  /** Whether it lands as a pull request, opened when the run is over, instead of a merge. */
  land_as: maybe(v.literal("pr")),
  /** Whether it lands as one commit, and the subject of that commit or of the merge. */
  land_squash: maybe(v.boolean()),
  land_message: maybe(text),
  /**
   * Changes of older tests that the work can't pass without are held back from landing, instead of
   * asked about at once: the run lands its work itself.
   */
  changed_tests: maybe(v.literal("hold")),
});
export type Policy = v.InferOutput<typeof Policy>;
