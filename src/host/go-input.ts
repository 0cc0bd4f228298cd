/** What `start` and `go` may be given, as words from the command line. */
export type GoInput = {
  readonly words: readonly string[];
  readonly goal?: string | undefined;
  readonly scope?: readonly string[] | undefined;
  readonly doneCriteria?: readonly string[] | undefined;
  readonly maxBudget?: string | undefined;
  readonly completionMode?: string | undefined;
  readonly completionPromise?: string | undefined;
  readonly riskLevel?: string | undefined;
  readonly handoffMode?: string | undefined;
  readonly approvalPolicy?: string | undefined;
  readonly agent?: string | undefined;
  readonly isolation?: string | undefined;
  readonly redGreen?: readonly string[] | undefined;
  readonly holdout?: readonly string[] | undefined;
  readonly flow?: string | undefined;
  readonly options?: Readonly<Record<string, string>> | undefined;
  readonly run?: string | undefined;
  readonly new?: boolean | undefined;
};

/** Whether something new is asked for, rather than what is there to be taken up. */
export function hasGoal(input: GoInput): boolean {
  return input.words.length > 0 || input.goal !== undefined || input.doneCriteria !== undefined || input.scope !== undefined || input.flow !== undefined;
}
