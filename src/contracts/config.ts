import * as v from "valibot";
import { approvalPolicies, completionModes, handoffModes, isolationLevels, riskLevels } from "./objective.ts";

const text = v.string();
const AgentProfileOverride = v.strictObject({
  argv: v.optional(v.pipe(v.array(text), v.minLength(1))),
  env: v.optional(v.record(text, text)),
  pass_env: v.optional(v.array(text)),
  model: v.optional(text),
});

/** What a config file may say. Every key optional; unknown keys are refused with their line. */
export const Config = v.strictObject({
  version: v.optional(v.literal(1)),
  agent: v.optional(text),
  agents: v.optional(v.record(text, AgentProfileOverride)),
  roles: v.optional(v.record(text, text)),
  checks: v.optional(
    v.strictObject({
      commands: v.optional(v.array(text)),
      detect: v.optional(v.boolean()),
      timeout_minutes: v.optional(v.pipe(v.number(), v.minValue(0.01), v.maxValue(1440))),
      dependencies: v.optional(v.array(text)),
    }),
  ),
  limits: v.optional(v.record(text, v.pipe(v.number(), v.minValue(0)))),
  isolation: v.optional(v.picklist(isolationLevels)),
  network: v.optional(v.strictObject({ checks: v.optional(v.boolean()), agents: v.optional(v.array(text)) })),
  dry_run: v.optional(v.picklist(["required", "auto"])),
  protect: v.optional(v.array(text)),
  prices: v.optional(v.record(text, v.strictObject({ input: v.number(), output: v.number(), cached: v.optional(v.number()) }))),
  max_budget: v.optional(text),
  completion_mode: v.optional(v.picklist(completionModes)),
  risk_level: v.optional(v.picklist(riskLevels)),
  handoff_mode: v.optional(v.picklist(handoffModes)),
  approval_policy: v.optional(v.picklist(approvalPolicies)),
});
export type Config = v.InferOutput<typeof Config>;
