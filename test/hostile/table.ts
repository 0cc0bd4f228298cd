// table: every hostile action, and for each level of isolation those that are known to get out of
// it. docs/ISOLATION.md says the same in words.

import type { Action } from "./action.ts";
import { egressActions } from "./actions-egress.ts";
import { fileActions, secretActions } from "./actions-files.ts";
import { networkActions, processActions, sharedActions, stateActions } from "./actions-machine.ts";
import { gitActions, lateActions, lookActions } from "./actions-runner.ts";

export const actions: readonly Action[] = [
  ...fileActions,
  ...lookActions,
  ...gitActions,
  ...stateActions,
  ...processActions,
  ...sharedActions,
  ...networkActions,
  ...egressActions,
  ...secretActions,
  ...lateActions,
];

export const levels = ["overlay", "bwrap", "srt", "landlock", "clone", "none"] as const;
export type Level = (typeof levels)[number];

/**
 * Whatever the level, the runner itself springs no trap, and never hands its own environment or the
 * user's packages on.
 */
const always = [...gitActions, ...lookActions]
  .map(({ id }) => id)
  .filter((id) => id !== "git/alternates");
const byEgress = egressActions.map(({ id }) => id).filter((id) => id !== "egress/around");
const held = [
  ...always,
  ...byEgress,
  "links/store",
  "secrets/environment",
  "late/session",
  "late/twice",
];
const open = actions.map(({ id }) => id).filter((id) => !held.includes(id));

/**
 * What gets out, exactly: an action that is not listed must be held, and one that is listed must
 * get out.
 */
export const holes: Readonly<Record<Level, readonly string[]>> = {
  overlay: [],
  bwrap: [],
  srt: [],
  landlock: ["files/mode", "files/time", "files/attribute", "late/bare"],
  clone: open,
  none: open,
};
