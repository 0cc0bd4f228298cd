// isolation-levels: the isolation levels in their order, and how two compare by strength.

/** The levels that enforce, strongest first: the order in which `auto` tries them. */
export const enforcingLevels = ["overlay", "bwrap", "srt", "landlock"] as const;
const detectingLevels = ["clone", "none"] as const;
/** Every level, strongest first. */
const levelsByStrength = [...enforcingLevels, ...detectingLevels] as const;
/** Whether a level detects what an agent did outside its folder without preventing it. */
export const onlyDetects = (level: string): boolean =>
  detectingLevels.some((detecting) => detecting === level);

/** What a person may ask for. */
export const isolationLevels = ["auto", ...levelsByStrength] as const;

export type EnforcingLevel = (typeof enforcingLevels)[number];
export type IsolationLevel = (typeof isolationLevels)[number];

/** A level's place in the order, smaller is stronger; `auto` counts as the given level. */
const rank = (level: IsolationLevel, auto: EnforcingLevel): number =>
  levelsByStrength.findIndex((candidate) => candidate === (level === "auto" ? auto : level));

/** A level's strength, in one word: docs/ISOLATION.md lists what was tried at each. */
const grades: Readonly<Record<string, string>> = {
  overlay: "strong",
  bwrap: "strong",
  srt: "good",
  landlock: "fair",
  clone: "weak",
};
export const gradeLevel = (level: string): string | null => grades[level] ?? null;

/**
 * Whether a level is at least as strong as another on every machine: `auto` may resolve to as
 * little as landlock, and to as much as overlay.
 */
export const isAtLeastAsStrong = (level: IsolationLevel, other: IsolationLevel): boolean =>
  level === other || rank(level, "landlock") <= rank(other, "overlay");

/** A recorded level by its name; an unknown one counts as `auto`, which it is run with. */
export const toLevel = (level: string): IsolationLevel =>
  isolationLevels.find((isolationLevel) => isolationLevel === level) ?? "auto";

/** The weaker of two levels. */
export const findWeakerLevel = (a: string, b: string): string =>
  isAtLeastAsStrong(toLevel(a), toLevel(b)) ? b : a;
