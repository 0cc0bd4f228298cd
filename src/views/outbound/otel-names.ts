// otel-names: lists every name that is sent in a trace. The GenAI conventions are still in
// development; if they change, only this file does.

/** The names of spans. With `isGenAi`, runs and turns are named as the GenAI conventions ask. */
export const spanNames = {
  run: (flow: string, isGenAi: boolean): string =>
    isGenAi ? `invoke_workflow ${flow}` : "autopilot.run",
  phase: "autopilot.phase",
  step: (step: string): string => `autopilot.step ${step}`,
  turn: (agent: string, isGenAi: boolean): string =>
    isGenAi ? `invoke_agent ${agent}` : "autopilot.turn",
  check: "autopilot.check",
  wait: "autopilot.wait",
} as const;

/** Our own attributes, and the general ones of OpenTelemetry that we use. */
export const attributeNames = {
  runId: "autopilot.run.id",
  flow: "autopilot.flow",
  verdict: "autopilot.run.verdict",
  reasonCode: "autopilot.reason_code",
  phase: "autopilot.phase.id",
  visit: "autopilot.phase.visit",
  walk: "autopilot.step.walk",
  attempt: "autopilot.step.attempt",
  try: "autopilot.step.try",
  stepKind: "autopilot.step.kind",
  tree: "autopilot.step.tree",
  checksPassed: "autopilot.checks.passed",
  checksFailed: "autopilot.checks.failed",
  checkId: "autopilot.check.id",
  checkStatus: "autopilot.check.status",
  exitCode: "process.exit.code",
  quarantined: "autopilot.check.quarantined",
  block: "autopilot.block.id",
  agent: "autopilot.agent",
  usageSource: "autopilot.usage.source",
  tokens: "autopilot.usage.tokens",
  costUsd: "autopilot.cost.usd",
  errorType: "error.type",
} as const;

/** The attributes of the GenAI conventions (schema gen-ai/1.42). */
export const genAiAttributes = {
  operation: "gen_ai.operation.name",
  workflow: "gen_ai.workflow.name",
  agent: "gen_ai.agent.name",
  provider: "gen_ai.provider.name",
  model: "gen_ai.request.model",
  conversation: "gen_ai.conversation.id",
  input: "gen_ai.usage.input_tokens",
  output: "gen_ai.usage.output_tokens",
  cacheRead: "gen_ai.usage.cache_read.input_tokens",
} as const;

/**
 * What the conventions call the provider of an agent's model. Other agents' providers are not
 * known.
 */
export const genAiProviders: Readonly<Record<string, string>> = {
  claude: "anthropic",
  codex: "openai",
  gemini: "gcp.gemini",
};
