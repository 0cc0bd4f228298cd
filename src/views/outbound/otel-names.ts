// otel-names: every name that leaves in a trace, in one table. The GenAI conventions are still in development; a change of them is a change here.

/** Spans of the GenAI conventions, and what they are called without them. */
export const spanNames = {
  run: (flow: string, isGenAi: boolean): string => (isGenAi ? `invoke_workflow ${flow}` : "autopilot.run"),
  phase: "autopilot.phase",
  step: (step: string): string => `autopilot.step ${step}`,
  turn: (agent: string, isGenAi: boolean): string => (isGenAi ? `invoke_agent ${agent}` : "autopilot.turn"),
  check: "autopilot.check",
  wait: "autopilot.wait",
} as const;

export const names = {
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

/** Of the GenAI conventions (schema gen-ai/1.42). */
export const genAi = {
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

/** The convention's name of an agent's provider; unknown for any other agent. */
export const providers: Readonly<Record<string, string>> = { claude: "anthropic", codex: "openai", gemini: "gcp.gemini" };
