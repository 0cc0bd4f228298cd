// config-rule: the kinds of rules in the table of directions, and how one is applied to a key.

import type { Config } from "../../contracts/config.ts";

/**
 * `tighten`: only a stricter value counts. `neutral`: any value is as safe as another. `user`: the
 * repository may never set it.
 */
export type Direction = "tighten" | "neutral" | "user";

/** What else a rule may read. */
export type RuleContext = {
  /** The entry's name, in a mapping of free names. */
  readonly name: string;
  /** The mapping of the repository's file that the value is in. */
  readonly siblings: object;
  readonly userConfig: Config;
};

export type DirectionRule<Value> = {
  readonly direction: Direction;
  /** Why the repository's value does not count, given the user's; null if it does. */
  readonly whyRefused: (
    value: Value,
    userValue: Value | undefined,
    context: RuleContext,
  ) => string | null;
  /** The part of a refused value that may stay; without this function nothing does. */
  readonly allowedPart?: (value: Value, userValue: Value | undefined) => Value | undefined;
};

/** A mapping of free names: the same rule or table applies to every entry. */
export type EachEntry<Value> = { readonly each: DirectionNode<Value> };

type IsMapping<Value> = [Value] extends [readonly unknown[]]
  ? false
  : [Value] extends [object]
    ? true
    : false;
export type DirectionNode<Value> =
  IsMapping<Value> extends true
    ? string extends keyof Value
      ? EachEntry<NonNullable<Value[keyof Value]>> | DirectionRule<Value>
      :
          | { readonly [Key in keyof Value]-?: DirectionNode<NonNullable<Value[Key]>> }
          | DirectionRule<Value>
    : DirectionRule<Value>;

export const neutral = {
  direction: "neutral",
  whyRefused: () => null,
} as const satisfies DirectionRule<never>;

/** Only the user may set it; repeating the user's value isn't a difference. */
export const userOnly = <Value>(why: string): DirectionRule<Value> => ({
  direction: "user",
  whyRefused: (value, userValue) =>
    userValue !== undefined && JSON.stringify(value) === JSON.stringify(userValue) ? null : why,
});

/** Only a stricter value counts; the function says what would be looser. */
export const tighten = <Value>(
  whyRefused: DirectionRule<Value>["whyRefused"],
  allowedPart?: DirectionRule<Value>["allowedPart"],
): DirectionRule<Value> =>
  allowedPart === undefined
    ? { direction: "tighten", whyRefused }
    : { direction: "tighten", whyRefused, allowedPart };
