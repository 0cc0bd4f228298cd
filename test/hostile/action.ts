// action: one hostile command, as data: what an agent runs in its box, and how its success is seen
// from outside.

import { existsSync, readFileSync } from "node:fs";
import type { Scene } from "./scene.ts";

export type Kind =
  | "files"
  | "links"
  | "git"
  | "state"
  | "processes"
  | "shared"
  | "network"
  | "secrets"
  | "late";

export type Action = {
  readonly id: string;
  readonly kind: Kind;
  /** What it tries, after "an agent". */
  readonly tries: string;
  /** A shell command, run in the layer with the scene's variables. */
  readonly command: string;
  /**
   * What would be run in its place without any care, where isolation is not the only care taken.
   */
  readonly control?: string;
  /** Whether it got out, looked at from outside. */
  readonly escaped: (scene: Scene) => boolean | Promise<boolean>;
  /**
   * What a runner without care would do next with the layer. An action that has it is sprung by the
   * runner, not by the agent.
   */
  readonly careless?: string;
  /** How long after the agent's end it strikes. */
  readonly strikesAfterMs?: number;
  /** Where it cannot be tried at all, and why. */
  readonly impossible?: string | null;
};

/** Something watched is no longer as it was. */
export const changed = (scene: Scene): boolean => scene.changes().length > 0;

/** The agent could carry off this secret. */
export const looted =
  (secret: string) =>
  (scene: Scene): boolean =>
    existsSync(scene.loot) &&
    readFileSync(scene.loot, "latin1").includes(scene.secrets[secret] ?? "no such secret");

/** It left some loot at all, where leaving it proves that it worked. */
export const claimed = (scene: Scene): boolean =>
  existsSync(scene.loot) && readFileSync(scene.loot, "utf8").includes("done");

/** A service heard this word. */
export const heard =
  (word: string) =>
  (scene: Scene): Promise<boolean> =>
    scene.ears.heard(word);

const isArm = process.arch === "arm64";
/** The kernel's numbers differ by machine. */
export const syscalls = {
  ptrace: isArm ? 117 : 101,
  readMemory: isArm ? 270 : 310,
  setxattr: isArm ? 5 : 188,
} as const;
export const isRoot = process.getuid?.() === 0;
