// turn-limits: what an agent may take in one turn: time for startup, silence, cancellation and
// shutdown, and output. How long its work may take comes with each request: ports/agent.ts.
//
// Invariant:
//   L1. `stop` promises two seconds: `cancelGraceMs`, `turnTermGraceMs`, `drainMs` and the
//       `sweepTimeoutMs` of ../process/end-tree.ts stay below that together.

/**
 * How long an agent may take for anything but work, and how long it is waited for when it must end.
 */
export type TurnLimits = {
  readonly initializeMs: number;
  readonly sessionMs: number;
  /** Silence while no tool is running. */
  readonly stallMs: number;
  /** Silence while every call that the meter sees fails. */
  readonly failingMs: number;
  /** Silence after an error of the provider that waiting can't mend. */
  readonly giveUpMs: number;
  /** From the protocol's cancel to the signals (L1). */
  readonly cancelGraceMs: number;
  /** From TERM to KILL (L1). */
  readonly turnTermGraceMs: number;
  /** Output may still be in the pipe after the process has ended (L1). */
  readonly drainMs: number;
  /** From an answer to the end of waiting for the usage that some agents report after it. */
  readonly lateMs: number;
  readonly wire: WireLimits;
};

/** What is read of its output. */
export type WireLimits = {
  readonly lineBytesMax: number;
  readonly garbageBytesMax: number;
  readonly allBytesMax: number;
  readonly requestsMax: number;
};

export const wireLimits: WireLimits = {
  lineBytesMax: 32 * 1024 * 1024,
  garbageBytesMax: 16 * 1024 * 1024,
  allBytesMax: 1024 * 1024 * 1024,
  requestsMax: 10_000,
};

export const turnLimits: TurnLimits = {
  initializeMs: 30_000,
  sessionMs: 60_000,
  stallMs: 15 * 60_000,
  failingMs: 3 * 60_000,
  giveUpMs: 5000,
  cancelGraceMs: 250,
  turnTermGraceMs: 250,
  drainMs: 250,
  lateMs: 150,
  wire: wireLimits,
};
