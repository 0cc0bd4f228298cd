// experiment: one command in a fresh copy of a commit with a few files replaced, behind the same isolation as a check. It proves nothing
// by itself: no evidence is kept, and nobody else sees the folder.
//
// Invariants:
//   X1. Every experiment starts on a folder made for it alone; what it writes is gone when the answer is given.
//   X2. The command has exactly a check's environment: the same isolation, variables, limits, HOME and restored dependencies.

import type { Expectation } from "../contracts/evidence.ts";
import type { GitSha } from "../contracts/ids.ts";
import { type CommandResult, runCommand } from "./command.ts";
import type { OpenParts } from "./parts.ts";

export type ExperimentOrder = {
  readonly commit: GitSha;
  /** Files of the commit with another text, new files, and (null) files taken away. A path is relative to the tree's top. */
  readonly replaced: readonly { readonly path: string; readonly text: string | null }[];
  readonly command: string;
  readonly expect?: Expectation;
  /** The run's own limit for checks unless told. */
  readonly timeoutMs?: number;
  readonly cancel: AbortSignal;
};

/** Runs the command and says how it ended. Restoring dependencies counts as part of it: where that fails, its result is the answer. */
export async function runExperiment(parts: OpenParts, order: ExperimentOrder): Promise<CommandResult> {
  const { workspace, restores = [], wrap, wrapRestore = wrap } = parts;
  const { commit, replaced } = order;
  const folder = await workspace.checkout(commit, "experiment", {
    from: commit,
    paths: [],
    without: replaced.flatMap(({ path, text }) => (text === null ? [path] : [])),
    written: replaced.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }])),
  });
  try {
    for (const restore of restores) {
      const restored = await runCommand({ ...commandIn(parts, order, folder, wrapRestore), command: restore.command });
      if (restored.status !== "passed") return restored;
    }
    return await runCommand({ ...commandIn(parts, order, folder, wrap), ...(order.expect === undefined ? {} : { expect: order.expect }) });
  } finally {
    await workspace.dropCheckout(folder); // X1
  }
}

/** X2 */
function commandIn(parts: OpenParts, order: ExperimentOrder, cwd: string, wrap: OpenParts["wrap"]): Parameters<typeof runCommand>[0] {
  const { clock, env, guard, scratch, redactor } = parts;
  return {
    command: order.command,
    cwd,
    clock,
    timeoutMs: order.timeoutMs ?? parts.timeoutMs,
    cancel: order.cancel,
    ...(wrap === undefined ? {} : { wrap }),
    ...(env === undefined ? {} : { env }),
    ...(guard === undefined ? {} : { guard }),
    ...(scratch === undefined ? {} : { scratch }),
    ...(redactor === undefined ? {} : { redactor }),
  };
}
