// config-loosened: applies the table of directions to the repository's config file: settings that would loosen safety are dropped and
// reported.

import type { Config } from "../../contracts/config.ts";
import { configDirections, isRaised } from "./config-directions.ts";
import type { Each, Rule, RuleContext } from "./config-rule.ts";

export type Kept = { readonly config: Config; readonly ignored: readonly { readonly key: string; readonly why: string }[] };

type AnyRule = Rule<unknown>;
type AnyEach = Each<unknown>;
type AnyTable = { readonly [key: string]: AnyNode };
type AnyNode = AnyRule | AnyEach | AnyTable;
type Data = Readonly<Record<string, unknown>>;

const isRule = (node: AnyNode): node is AnyRule => "refuses" in node && typeof node.refuses === "function";
const isEach = (node: AnyNode): node is AnyEach => !isRule(node) && "each" in node;

/** The repository's config without settings that would loosen safety, compared with the user's own config and the defaults. */
export function withoutLoosening(project: Config, own: Config): Kept {
  const ignored: { key: string; why: string }[] = [];

  const hold = (node: AnyNode, said: unknown, mine: unknown, path: readonly string[], context: RuleContext): unknown => {
    if (isRule(node)) {
      const why = node.refuses(said, mine, context);
      if (why === null) return said;
      ignored.push({ key: path.join("."), why });
      return node.rest?.(said, mine);
    }
    const kept: Record<string, unknown> = {};
    const mineOf = (key: string): unknown => (isData(mine) && Object.hasOwn(mine, key) ? mine[key] : undefined);
    for (const [key, value] of Object.entries(said as Data)) {
      const inner = isEach(node) ? (node.each as AnyNode) : Object.hasOwn(node, key) ? node[key] : undefined;
      if (value === undefined || inner === undefined) continue;
      const nextRuleContext = isEach(node) ? { ...context, name: key } : context;
      const held = hold(inner, value, mineOf(key), [...path, key], { ...nextRuleContext, beside: said as Data });
      if (held !== undefined) kept[key] = held;
    }
    return kept;
  };

  const config = hold(configDirections as unknown as AnyTable, project, own, [], { name: "", beside: project, own }) as Config;
  return { config, ignored };
}

const isData = (value: unknown): value is Data => typeof value === "object" && value !== null && !Array.isArray(value);

/** Of a project's limits those that loosen nothing, and the names of the others. */
export function limitsNotRaised(
  project: Readonly<Record<string, number>>,
  own: Readonly<Record<string, number>>,
): [Record<string, number>, string[]] {
  const raised = Object.keys(project).filter((name) =>
    isRaised(name, project[name] ?? 0, Object.hasOwn(own, name) ? own[name] : undefined),
  );
  return [Object.fromEntries(Object.entries(project).filter(([name]) => !raised.includes(name))), raised];
}
