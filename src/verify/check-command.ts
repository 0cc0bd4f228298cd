// check-command: builds the request to run one check's command, with the verifier's settings and
// the isolation of the check's kind.

import type { Check } from "../contracts/evidence.ts";
import type { CommandRequest, Wrap } from "./run-command.ts";
import type { VerifierParts } from "./verifier-parts.ts";

export function buildCommandRequest(
  parts: VerifierParts,
  check: Check,
  cwd: string,
  cancel: AbortSignal,
): CommandRequest {
  const { clock, timeoutMs, env, guard, scratch, redactor, shownAs } = parts;
  return {
    command: check.command,
    cwd,
    clock,
    timeoutMs,
    cancel,
    ...(check.expect === undefined ? {} : { expect: check.expect }),
    ...wrapFor(parts, check),
    ...(shownAs === undefined ? {} : { shownAs }),
    ...(env === undefined ? {} : { env }),
    ...(guard === undefined ? {} : { guard }),
    ...(scratch === undefined ? {} : { scratch }),
    ...(redactor === undefined ? {} : { redactor }),
  };
}

/**
 * Restoring dependencies has its own sandbox: it may reach the network and fill the cache, which no
 * check may.
 */
function wrapFor(
  { wrap, wrapRestore = wrap }: VerifierParts,
  { kind }: Check,
): { readonly wrap?: Wrap } {
  const wrapper = kind === "restore" ? wrapRestore : wrap;
  return wrapper === undefined ? {} : { wrap: wrapper };
}
