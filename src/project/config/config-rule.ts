// config-rule: how one key of the config is held to what its user says, as the parts the table of directions is made of.

import type { Config } from "../../contracts/config.ts";

/** `tighten`: only a stricter value counts. `neutral`: nothing is less safe either way. `user`: never the repository's to say. */
export type Direction = "tighten" | "neutral" | "user";

/** What else a rule may look at: the entry's name in a mapping of free names, what the repository says beside the key, the user's own config. */
export type RuleContext = { readonly name: string; readonly beside: object; readonly own: Config };

export type Rule<Value> = {
  readonly direction: Direction;
  /** Why the repository's value does not count, given the user's own; null if it does. */
  readonly refuses: (said: Value, own: Value | undefined, context: RuleContext) => string | null;
  /** The part of a refused value that may stay; without it nothing does. */
  readonly rest?: (said: Value, own: Value | undefined) => Value | undefined;
};

/** A mapping of free names: every entry is held to the same rule or table. */
export type Each<Value> = { readonly each: Node<Value> };

type IsMapping<Value> = [Value] extends [readonly unknown[]] ? false : [Value] extends [object] ? true : false;
export type Node<Value> =
  IsMapping<Value> extends true
    ? string extends keyof Value
      ? Each<NonNullable<Value[keyof Value]>> | Rule<Value>
      : { readonly [Key in keyof Value]-?: Node<NonNullable<Value[Key]>> } | Rule<Value>
    : Rule<Value>;

export const neutral = { direction: "neutral", refuses: () => null } as const satisfies Rule<never>;

/** Only the user may say it; saying what they say already isn't a difference. */
export const userOnly = <Value>(why: string): Rule<Value> => ({
  direction: "user",
  refuses: (said, own) => (own !== undefined && JSON.stringify(said) === JSON.stringify(own) ? null : why),
});

export const tighten = <Value>(refuses: Rule<Value>["refuses"], rest?: Rule<Value>["rest"]): Rule<Value> => ({
  direction: "tighten",
  refuses,
  ...(rest === undefined ? {} : { rest }),
});
