// prepared-turn: the type of everything that one agent turn is run with: command, variables,
// sandbox, tools, metering and limits.

import type { TurnLimits } from "./turn/turn-limits.ts";
import type { Metering } from "./metering.ts";
import type { Guardian } from "./process/guardian.ts";
import type { Mark } from "./process/process-mark.ts";
import type { WatchInput } from "./process/watch-resources.ts";
import type { ProcessCommand } from "./process/spawn-agent.ts";
import type { AgentProfile } from "./profiles/profile.ts";
import type { Submissions, ValidateReturn } from "./answer-tools/submissions.ts";
import type { StdioServer } from "./answer-tools/tools.ts";

export type PreparedTurn = {
  readonly profile: AgentProfile;
  /** The command and what it is started with, templates filled in. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly passEnv: readonly string[];
  /** The environment that names are passed from. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  readonly home: string | null;
  /** The requested model; empty: the agent chooses. */
  readonly model: string;
  readonly mark: Mark;
  readonly wrap: ((command: ProcessCommand) => ProcessCommand) | null;
  readonly guardian: Guardian;
  readonly validateReturn: ValidateReturn;
  readonly submissions: Submissions;
  readonly metering: Metering;
  /** The runner's own tools, if this agent supports them. */
  readonly tools: StdioServer | null;
  /** Whether a path below the layer may be changed. */
  readonly isInScope: (path: string) => boolean;
  /** Whether any host may be reached besides the model provider. */
  readonly mayFetch: boolean;
  readonly limits: TurnLimits;
  /** The turn's resource limits, and where it writes; null: not watched. */
  readonly bounds: Pick<WatchInput, "bounds" | "folders"> | null;
};
