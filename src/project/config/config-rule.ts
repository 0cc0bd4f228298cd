// config-rule: the kinds of rules in the table of directions, and how one is applied to a key.

import type { Config } from "../../contracts/config.ts";

/** `tighten`: only a stricter value counts. `neutral`: nothing is less safe either way. `user`: never the repository's to say. */
export type Direction = "tighten" | "neutral" | "user";

/** What else a rule may read: the entry's name in a mapping of free names, the repository's other keys, the user's own config. */
export type RuleContext = { readonly name: string; readonly beside: object; readonly own: Config };

export type Rule<Value> = {
  readonly direction: Direction;
  /** Why the repository's value does not count, given the user's own; null if it does. */
  readonly refuses: (said: Value, own: Value | undefined, context: RuleContext) => string | null;
  /** The part of a refused value that may stay; without it nothing does. */
  readonly rest?: (said: Value, own: Value | undefined) => Value | undefined;
};

/** A mapping of free names: the same rule or table applies to every entry. */
export type Each<Value> = { readonly each: Node<Value> };

type IsMapping<Value> = [Value] extends [readonly unknown[]] ? false : [Value] extends [object] ? true : false;
export type Node<Value> =
  IsMapping<Value> extends true
    ? string extends keyof Value
      ? Each<NonNullable<Value[keyof Value]>> | Rule<Value>
      : { readonly [Key in keyof Value]-?: Node<NonNullable<Value[Key]>> } | Rule<Value>
    : Rule<Value>;

export const neutral = { direction: "neutral", refuses: () => null } as const satisfies Rule<never>;

/** Only the user may set it; repeating the user's value isn't a difference. */
export const userOnly = <Value>(why: string): Rule<Value> => ({
  direction: "user",
  refuses: (said, own) => (own !== undefined && JSON.stringify(said) === JSON.stringify(own) ? null : why),
});

export const tighten = <Value>(refuses: Rule<Value>["refuses"], rest?: Rule<Value>["rest"]): Rule<Value> => ({
  direction: "tighten",
  refuses,
  ...(rest === undefined ? {} : { rest }),
});
