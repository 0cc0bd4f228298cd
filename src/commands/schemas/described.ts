// described: adds a description to every key of a JSON Schema, from a table by path: `checks.commands`, `agents.*.argv`, `Step.agent`.

type Node = { [key: string]: unknown };

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);
const join = (place: string, key: string): string => (place === "" ? key : `${place}.${key}`);

/** The same schema with descriptions; a key that already has one keeps it. `tell` is called with every path. */
export function described(
  schema: object,
  table: Readonly<Record<string, string>>,
  report: (place: string, about: string | null) => void = () => undefined,
): object {
  const walk = (value: unknown, place: string): unknown => {
    if (Array.isArray(value)) return value.map((element) => walk(element, place));
    if (!isNode(value)) return value;
    const made: Node = {};
    for (const [key, inner] of Object.entries(value)) {
      if (key === "$defs" && isNode(inner)) made[key] = mapped(inner, (name, item) => walk(item, name));
      else if (key === "properties" && isNode(inner)) made[key] = mapped(inner, (name, item) => property(item, join(place, name)));
      else if (key === "additionalProperties") made[key] = walk(inner, join(place, "*"));
      else made[key] = ["items", "anyOf", "allOf", "oneOf"].includes(key) ? walk(inner, place) : inner;
    }
    return made;
  };
  const property = (value: unknown, place: string): unknown => {
    const inner = walk(value, place);
    if (!isNode(inner)) return inner;
    const own = inner["description"];
    const about = typeof own === "string" ? own : (table[place] ?? null);
    report(place, about);
    return about === null ? inner : { ...inner, description: about };
  };
  return walk(schema, "") as object;
}

const mapped = (node: Node, change: (name: string, value: unknown) => unknown): Node =>
  Object.fromEntries(Object.entries(node).map(([name, value]) => [name, change(name, value)]));
