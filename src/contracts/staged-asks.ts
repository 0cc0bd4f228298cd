// staged-asks: what one invocation asks of its flow by flow-specific flags.

export type StagedAsks = {
  readonly continue?: boolean | undefined;
  /** Optional steps by the names of their options. */
  readonly with?: readonly string[] | undefined;
  readonly tasks?: number | undefined;
};
