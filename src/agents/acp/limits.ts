import { type WireLimits, wireLimits } from "./wire.ts";

/** How long an agent may take for what is not work, and how long it is waited for when it must go. */
export type AcpLimits = {
  readonly initializeMs: number;
  readonly sessionMs: number;
  /** Silence while no tool is at work. */
  readonly stallMs: number;
  /** From the protocol's cancel to the signals. */
  readonly cancelGraceMs: number;
  /** From TERM to KILL. */
  readonly termGraceMs: number;
  /** What may still be in the pipe of a process that has ended. */
  readonly drainMs: number;
  readonly wire: WireLimits;
};

export const acpLimits: AcpLimits = {
  initializeMs: 30_000,
  sessionMs: 60_000,
  stallMs: 15 * 60_000,
  cancelGraceMs: 250,
  termGraceMs: 250,
  drainMs: 250,
  wire: wireLimits,
};
