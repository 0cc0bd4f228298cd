// staged-asks: the type of what one command asks of a staged flow by the flags --continue, --with
// and --tasks.

export type StagedAsks = {
  readonly continue?: boolean | undefined;
  /** Optional steps by the names of their options. */
  readonly with?: readonly string[] | undefined;
  readonly tasks?: number | undefined;
};
