// without-loosening: drops settings from the repository's config that the table of directions does
// not allow, and reports them.

import type { Config } from "../../contracts/config.ts";
import { configDirections, isLoosened } from "./config-directions.ts";
import type { EachEntry, DirectionRule, RuleContext } from "./config-rule.ts";

export type KeptConfig = {
  readonly config: Config;
  readonly ignored: readonly { readonly key: string; readonly why: string }[];
};

// The table's own types follow the schema; to walk through it, any rule, mapping or table may be at
// any place.
type AnyRule = DirectionRule<unknown>;
type AnyEach = EachEntry<unknown>;
type AnyTable = { readonly [key: string]: AnyNode };
type AnyNode = AnyRule | AnyEach | AnyTable;
type Data = Readonly<Record<string, unknown>>;
/** Where in the table and the file a value is. */
type Position = { readonly path: readonly string[]; readonly context: RuleContext };

const isRule = (node: AnyNode): node is AnyRule =>
  "whyRefused" in node && typeof node.whyRefused === "function";
const isEach = (node: AnyNode): node is AnyEach => !isRule(node) && "each" in node;

/**
 * The repository's config without settings that would loosen safety, compared with the user's own
 * config and the defaults.
 */
export function withoutLoosening(project: Config, userConfig: Config): KeptConfig {
  const ignored: { key: string; why: string }[] = [];

  const root: Position = { path: [], context: { name: "", siblings: project, userConfig } };
  const config = allowedPart(
    configDirections as unknown as AnyTable,
    project,
    userConfig,
    root,
  ) as Config;

  return { config, ignored };

  /** What the table allows of a value; undefined if nothing. */
  function allowedPart(
    node: AnyNode,
    value: unknown,
    userValue: unknown,
    { path, context }: Position,
  ): unknown {
    if (isRule(node)) {
      const why = node.whyRefused(value, userValue, context);
      if (why === null) return value;
      ignored.push({ key: path.join("."), why });

      return node.allowedPart?.(value, userValue);
    }

    const siblings = value as Data;
    const allowedData: Record<string, unknown> = {};

    for (const [key, inner] of Object.entries(siblings)) {
      const innerNode = isEach(node) ? (node.each as AnyNode) : readEntry(node, key);
      if (inner === undefined || innerNode === undefined) continue;
      const innerContext = { ...context, siblings, name: isEach(node) ? key : context.name };
      const userInner = isData(userValue) ? readEntry(userValue, key) : undefined;
      const part = allowedPart(innerNode, inner, userInner, {
        path: [...path, key],
        context: innerContext,
      });
      if (part !== undefined) allowedData[key] = part;
    }

    return allowedData;
  }
}

const readEntry = <Value>(
  mapping: Readonly<Record<string, Value>>,
  key: string,
): Value | undefined => (Object.hasOwn(mapping, key) ? mapping[key] : undefined);

const isData = (value: unknown): value is Data =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The project's limits without those that loosen one of the user's; and the names of these. */
export function withoutLoosenedLimits(
  project: Readonly<Record<string, number>>,
  userLimits: Readonly<Record<string, number>>,
): [Record<string, number>, string[]] {
  const raised = Object.entries(project).flatMap(([name, value]) =>
    isLoosened(name, value, readEntry(userLimits, name)) ? [name] : [],
  );
  return [
    Object.fromEntries(Object.entries(project).filter(([name]) => !raised.includes(name))),
    raised,
  ];
}
