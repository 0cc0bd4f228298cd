// survey-gates: adapts artifact gates for a survey, which only looks at files that exist already:
// drops freshness rules and commands.

import type { Gate, Proof } from "../contracts/flow.ts";

/**
 * A rule for files that were only found: which visit changed them is unknown, so freshness is not
 * required.
 */
export function withoutFreshness({ fresh: _fresh, ...gate }: Gate): Gate {
  return {
    ...gate,
    ...(gate.if === undefined ? {} : { if: withoutFreshness(gate.if) }),
    ...(gate.all === undefined ? {} : { all: gate.all.map(withoutFreshnessIn) }),
    ...(gate.else === undefined ? {} : { else: gate.else.map(withoutFreshnessIn) }),
  };
}

const withoutFreshnessIn = (proof: Proof): Proof =>
  typeof proof === "string" ? proof : withoutFreshness(proof);

/**
 * The part of a rule that files alone decide: a survey executes nothing. Null if a command is all
 * of it, or decides which of its parts counts.
 */
export function withoutCommands({ command: _command, ...gate }: Gate): Gate | null {
  if (gate.if !== undefined) {
    const condition = withoutCommands(gate.if);
    if (condition === null || JSON.stringify(condition) !== JSON.stringify(gate.if)) return null;
  }

  const withoutCommandProofs = (proofs: readonly Proof[]): Proof[] =>
    proofs.flatMap((proof) => (typeof proof === "string" ? [] : (withoutCommands(proof) ?? [])));
  const remainingGate = {
    ...gate,
    ...(gate.all === undefined ? {} : { all: withoutCommandProofs(gate.all) }),
    ...(gate.else === undefined ? {} : { else: withoutCommandProofs(gate.else) }),
  };
  return Object.keys(remainingGate).length === 0 ? null : remainingGate;
}
