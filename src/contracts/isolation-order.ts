// isolation-order: which isolation level holds at least what another does.

import { isolationLevels } from "./objective.ts";

export type IsolationLevel = (typeof isolationLevels)[number];

/** Strongest first, as `auto` tries them; the last two hold nobody. */
const levels = ["overlay", "bwrap", "srt", "landlock", "clone", "none"] as const satisfies readonly IsolationLevel[];
const rank = (level: IsolationLevel, auto: IsolationLevel): number => levels.findIndex((one) => one === (level === "auto" ? auto : level));

/** What a level is worth, in one word: docs/ISOLATION.md has what was tried at each. */
const grades: Readonly<Record<string, string>> = { overlay: "strong", bwrap: "strong", srt: "good", landlock: "fair", clone: "weak" };
export const gradeOf = (level: string): string | null => grades[level] ?? null;

/** Whether a level holds at least what another does on every machine: `auto` may come out as low as landlock, and as high as overlay. */
export const isAsStrong = (level: IsolationLevel, as: IsolationLevel): boolean =>
  level === as || rank(level, "landlock") <= rank(as, "overlay");

/** A recorded level by its name; one that nobody knows any more counts as `auto`, which is what it is run with. */
export const levelOf = (level: string): IsolationLevel => isolationLevels.find((one) => one === level) ?? "auto";

/** The weaker of two levels. */
export const weakerOf = (one: string, other: string): string => (isAsStrong(levelOf(one), levelOf(other)) ? other : one);
