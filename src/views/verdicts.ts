// verdicts: the questions that wait for a person's verdict on a phase, recognised by the answers they take.

import { humanVerdicts } from "../contracts/human-verdict.ts";
import { questionsOpen } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";

export type VerdictWord = (typeof humanVerdicts)[number];
type Block = RunView["blocks"][string];
export type VerdictOpen = { readonly phase: string; readonly name: string; readonly block: Block };

/** Whether a question is one of those: pass, fail or issues found. */
export const isVerdict = ({ options, house }: Block): boolean => !house && humanVerdicts.every((word) => Object.hasOwn(options, word));

/** The phases that wait for one, in the order of the run. */
export function verdictsOpen(run: RunView): readonly VerdictOpen[] {
  const open = questionsOpen(run).filter(isVerdict);
  return run.phases.flatMap(({ id, name }) => {
    const block = open.find(({ cursor }) => run.cursors[cursor]?.phase === id);
    return block === undefined ? [] : [{ phase: id, name, block }];
  });
}

/** How it is given. */
export const verdictCommand = (phase: string): string => `autopilot verdict ${phase} pass|fail|issues_found [--issue "…"]`;
