// agent-environment: which variables of the runner's environment an agent may see, and which its
// profile and its turn add. Of a check: verify/check-environment.ts.
//
// Invariants:
//   V1. No variable of the runner's environment reaches an agent unless its name is on a list, or
//       begins with LC_.

import { type Mark, toMarkVariables } from "./process-mark.ts";

const passedVariables = [
  "PATH",
  "LANG",
  "TERM",
  "TZ",
  "TMPDIR",
  "SHELL",
  "USER",
  "LOGNAME",
  "HOME",
] as const;
/**
 * Never inherited, even if a profile names them: they would weaken or slow down the agent's
 * programs. A profile may set its own value.
 */
const barredVariables = new Set(["NODE_EXTRA_CA_CERTS", "IS_SANDBOX"]);

/** What an agent's environment is made of, besides the runner's. */
export type AgentEnvironmentSources = {
  /** Further names to pass from the runner's environment. */
  readonly passEnv: readonly string[];
  /** Values set outright. */
  readonly env: Readonly<Record<string, string>>;
  /** A private HOME. */
  readonly home: string | null;
  readonly mark: Mark;
};

/** The environment of an agent's process. */
export function composeAgentEnvironment(
  sources: AgentEnvironmentSources,
  inherited: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const isListed = (name: string): boolean =>
    passedVariables.some((variable) => variable === name) ||
    name.startsWith("LC_") ||
    sources.passEnv.includes(name);
  const names = Object.keys(inherited).filter(
    (name) => isListed(name) && !barredVariables.has(name),
  );
  const passed = Object.fromEntries(names.map((name) => [name, inherited[name] ?? ""])); // V1
  const home = sources.home === null ? {} : { HOME: sources.home };

  return { ...passed, ...home, ...sources.env, ...toMarkVariables(sources.mark) };
}
