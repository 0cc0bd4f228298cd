// verdicts: finds the questions that wait for a person's verdict on a phase, recognised by the
// answers they take.

import { humanVerdicts } from "../contracts/human-verdict.ts";
import { listOpenQuestions } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";

export type VerdictWord = (typeof humanVerdicts)[number];
type Block = RunView["blocks"][string];
export type OpenVerdict = { readonly phase: string; readonly name: string; readonly block: Block };

/** Whether a question asks for a verdict: its answers are pass, fail and issues found. */
export const isVerdictQuestion = ({ options, house }: Block): boolean =>
  !house && humanVerdicts.every((word) => Object.hasOwn(options, word));

/** The phases that wait for a verdict, in the order of the run. */
export function listOpenVerdicts(run: RunView): readonly OpenVerdict[] {
  const open = listOpenQuestions(run).filter(isVerdictQuestion);
  return run.phases.flatMap(({ id, name }) => {
    const block = open.find(({ cursor }) => run.cursors[cursor]?.phase === id);
    return block === undefined ? [] : [{ phase: id, name, block }];
  });
}

/** The command that gives a verdict, as a person types it. */
export const composeVerdictCommand = (phase: string): string =>
  `autopilot verdict ${phase} pass|fail|issues_found [--issue "…"]`;
