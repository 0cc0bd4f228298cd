// judge: judges a change that is given as texts, for the tests of judge.ts.

import { createRowFinder } from "./protect.ts";
import { isCandidate, judgeProtected, type ChangedFile, type ProtectionRules } from "./judge.ts";
import { findMoves } from "./moved-files.ts";

export type Texts = Readonly<Record<string, string>>;

export function judged(
  before: Texts,
  after: Texts,
  more: {
    scope?: string[];
    approved?: string[];
    commands?: string[];
    restores?: boolean;
    protect?: string[];
    goal?: string;
  } = {},
) {
  const { scope = ["**"], approved = [], commands = [], restores = false, protect = [] } = more;
  const { goal = "" } = more;
  const setting: ProtectionRules = {
    base: new Set(Object.keys(before)),
    rowOf: createRowFinder(protect),
    named: { commands, usedCommands: commands, restores },
  };

  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (path) => before[path] !== after[path],
  );
  const seen = paths.map((path): ChangedFile => {
    const kind =
      before[path] === undefined ? "added" : after[path] === undefined ? "deleted" : "changed";
    return {
      difference: { path, kind, was: before[path] ?? null, is: after[path] ?? null },
      before: before[path] ?? null,
      after: after[path] ?? null,
    };
  });
  const wanted = seen.filter(({ difference }) => isCandidate(difference, setting));

  return judgeProtected({
    changedFiles: wanted,
    moved: findMoves(seen.map(({ difference }) => difference)),
    rules: setting,
    scope,
    approved,
    goal,
  });
}
