// isolation: chooses the isolation level that keeps an agent or a check inside its folder, in the
// order of contracts/isolation-levels.ts. Each
// level is a file of its own: overlay.ts, bwrap.ts, srt.ts, landlock.ts; clone and none, which only
// detect, are here.
//
// Invariants:
//   I1. `auto` never chooses a level that only detects (clone, none); those must be named.
//   I2. A level counts only after its self-test passed here since the machine started
//       (self-test-cache.ts): one allowed write, and forbidden ones that must fail.

import { mkdir } from "node:fs/promises";
import {
  enforcingLevels,
  type EnforcingLevel,
  type IsolationLevel,
} from "../../contracts/isolation-levels.ts";
import { createBwrapIsolation } from "./bwrap.ts";
import {
  cleanEnvironment,
  detachedProcessGap,
  privateHome,
  type Isolation,
  type IsolationPlace,
} from "./confinement.ts";
import { adviseLevelFix } from "./isolation-fix.ts";
import { createLandlockIsolation } from "./landlock.ts";
import { createOverlayIsolation } from "./overlay.ts";
import { createSrtIsolation } from "./srt.ts";

export type IsolationChoice =
  | { readonly isolation: Isolation }
  | {
      readonly failure: {
        readonly reason: "isolation_unavailable";
        readonly detail: string;
        readonly fixes: readonly string[];
      };
    };

const makers: Readonly<Record<EnforcingLevel, (place: IsolationPlace) => Isolation>> = {
  overlay: createOverlayIsolation,
  bwrap: createBwrapIsolation,
  srt: createSrtIsolation,
  landlock: (place) => createLandlockIsolation(place),
};

/** The wanted level, or with `auto` the strongest, if its self-test passes; else why not. */
export async function chooseIsolation(
  wanted: IsolationLevel,
  place: IsolationPlace,
): Promise<IsolationChoice> {
  await mkdir(privateHome(place.runDir), { recursive: true, mode: 0o700 });
  if (wanted === "none") return { isolation: noIsolation() };
  if (wanted === "clone") return { isolation: cloneIsolation(place) };
  const candidates = enforcingLevels.filter((level) => wanted === "auto" || wanted === level); // I1
  const fixes: string[] = [];
  const reasons: string[] = [];

  for (const level of candidates) {
    const isolation = makers[level](place);
    const failures = await isolation.selfTest(); // I2
    if (failures.length === 0) return { isolation };
    reasons.push(`${level}: ${failures.join("; ")}`);
    fixes.push(adviseLevelFix(level, failures));
  }

  return { failure: { reason: "isolation_unavailable", detail: reasons.join(". "), fixes } };
}

export type InspectedIsolation = {
  readonly level: IsolationLevel;
  readonly isUsable: boolean;
  readonly found: string;
  /** Empty if it can be used. */
  readonly fix: string;
};

/** Tests every level that enforces, for `doctor`. `runDir`: a private folder. */
export async function inspectIsolations(runDir: string): Promise<readonly InspectedIsolation[]> {
  const inspected: InspectedIsolation[] = [];
  for (const level of enforcingLevels) {
    const isolation = makers[level]({ hidden: [], runDir });
    const failures = await isolation.selfTest();
    const isUsable = failures.length === 0;
    const found = isUsable ? `${isolation.mechanism}, self-test passed` : failures.join("; ");
    const bwrap = inspected.find((inspection) => inspection.level === "bwrap");
    const needsBwrap = level === "srt" && process.platform === "linux" && bwrap?.isUsable === false; // on Linux srt uses bubblewrap
    const fix = needsBwrap ? bwrap.fix : adviseLevelFix(level, failures);
    inspected.push({ level, isUsable, found, fix: isUsable ? "" : fix });
  }

  return inspected;
}

const noIsolation = (): Isolation => ({
  level: "none",
  mechanism: "none",
  enforced: ["only in-scope changes of the layer are applied"],
  not_enforced: ["writes outside the layer", "reads of any file", "network", detachedProcessGap],
  wrap: ({ argv, cwd, env }) => ({ argv, cwd, env: cleanEnvironment(env, cwd) }),
  hasOwnNetwork: false,
  collect: () => Promise.resolve(),
  selfTest: () => Promise.resolve([]),
});

const cloneIsolation = (place: IsolationPlace): Isolation => ({
  level: "clone",
  mechanism: "disposable repository, private HOME",
  enforced: ["only in-scope changes of the layer are applied"],
  not_enforced: [
    "writes outside the layer (not prevented)",
    "reads of any file",
    "network",
    detachedProcessGap,
  ],
  wrap: ({ argv, cwd, env, home }) => ({
    argv,
    cwd,
    env: {
      ...cleanEnvironment(env, cwd),
      ...(home === "user" ? {} : { HOME: privateHome(place.runDir) }),
    },
  }),
  hasOwnNetwork: false,
  collect: () => Promise.resolve(),
  selfTest: () => Promise.resolve([]),
});
