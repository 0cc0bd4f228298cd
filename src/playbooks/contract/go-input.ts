// go-input: what `start` and `go` were given, on the command line or by another command that starts
// runs; not yet validated.

import type { Criterion, LandMinimum } from "../../contracts/objective.ts";
import type { StagedAsks } from "../../contracts/staged-asks.ts";
import { nonBlank } from "./non-blank.ts";

/** The flags as they were given; nothing is checked yet. */
export type ObjectiveInput = {
  readonly words?: readonly string[] | undefined;
  readonly goal?: string | undefined;
  readonly scope?: readonly string[] | undefined;
  readonly doneCriteria?: readonly string[] | undefined;
  /**
   * Criteria that are already parsed, instead of `doneCriteria`: their texts are not searched for
   * commands.
   */
  readonly criteria?: readonly Omit<Criterion, "id">[] | undefined;
  readonly maxBudget?: string | undefined;
  readonly completionMode?: string | undefined;
  readonly completionPromise?: string | undefined;
  readonly riskLevel?: string | undefined;
  readonly handoffMode?: string | undefined;
  readonly approvalPolicy?: string | undefined;
  readonly redGreen?: readonly string[] | undefined;
  readonly holdout?: readonly string[] | undefined;
};

/** Everything `start` and `go` accept. */
export type GoInput = ObjectiveInput & {
  readonly words: readonly string[];
  readonly agent?: string | undefined;
  readonly isolation?: string | undefined;
  readonly land?: LandMinimum | "pr" | undefined;
  readonly flow?: string | undefined;
  readonly options?: Readonly<Record<string, string>> | undefined;
  readonly run?: string | undefined;
  /** The id of a new run, if it was claimed before. */
  readonly newId?: string | undefined;
  readonly new?: boolean | undefined;
  /** The caller will not wait for a breaker to cool down. */
  readonly now?: boolean | undefined;
  /** Values of flow-specific flags. */
  readonly asks?: StagedAsks | undefined;
  /**
   * The commit to begin at instead of the checkout's, for a run that continues another one's work.
   */
  readonly base?: { readonly commit: string; readonly tree: string } | undefined;
  /**
   * The checkout was made for this run alone: it has no uncommitted changes, and its survey is not
   * shown.
   */
  readonly isCopy?: boolean | undefined;
  /** The repository that this checkout is a copy of: installed packages are taken from there. */
  readonly copyOf?: string | undefined;
  /** Flags that a playbook understands, by name: `accept-spec-change`. */
  readonly flags?: ReadonlySet<string> | undefined;
};

/** Whether something new is requested, rather than what can be resumed. */
export function requestsNewRun(input: GoInput): boolean {
  const hasText = (texts: readonly string[] | undefined): boolean =>
    texts?.some((text) => nonBlank(text) !== null) === true;
  return (
    nonBlank(input.words.join(" ")) !== null ||
    nonBlank(input.goal) !== null ||
    hasText(input.doneCriteria) ||
    hasText(input.scope) ||
    input.flow !== undefined
  );
}

/**
 * The flags given that describe an objective. Without a goal they have no effect on an existing
 * run.
 */
export function listObjectiveFlags(input: GoInput): readonly string[] {
  const flags: Readonly<Record<string, unknown>> = {
    "--max-budget": input.maxBudget,
    "--completion-mode": input.completionMode,
    "--completion-promise": input.completionPromise,
    "--risk-level": input.riskLevel,
    "--handoff-mode": input.handoffMode,
    "--approval-policy": input.approvalPolicy,
    "--agent": input.agent,
    "--isolation": input.isolation,
    "--land": input.land,
    "--red-green": input.redGreen,
    "--holdout": input.holdout,
    "--option": input.options,
    "--new": input.new,
  };
  return Object.keys(flags).filter((name) => flags[name] !== undefined);
}
