// describe-schema: adds a description to every key of a JSON Schema, from a table by path:
// `checks.commands`, `agents.*.argv`, `Step.agent`.

type Node = { [key: string]: unknown };

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);
const joinPath = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/** A table of descriptions whose keys all begin with this path. */
export const prefixKeys = (path: string, table: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(table).map(([key, about]) => [`${path}.${key}`, about]));

/**
 * The same schema with descriptions; a key that already has one keeps it. `report` is called with
 * every path and its description.
 */
export function describeSchema(
  schema: object,
  table: Readonly<Record<string, string>>,
  report: (path: string, about: string | null) => void = () => undefined,
): object {
  const describeNode = (value: unknown, path: string): unknown => {
    if (Array.isArray(value)) return value.map((element) => describeNode(element, path));
    if (!isNode(value)) return value;
    const result: Node = {};

    for (const [key, child] of Object.entries(value)) {
      if (key === "$defs" && isNode(child)) { result[key] = mapEntries(child, (name, definition) => describeNode(definition, name)); }
      else if (key === "properties" && isNode(child))
        { result[key] = mapEntries(child, (name, property) => describeProperty(property, joinPath(path, name))); }
      else if (key === "additionalProperties") { result[key] = describeNode(child, joinPath(path, "*")); }
      else { result[key] = ["items", "anyOf", "allOf", "oneOf"].includes(key) ? describeNode(child, path) : child; }
    }

    return result;
  };

  const describeProperty = (value: unknown, path: string): unknown => {
    const property = describeNode(value, path);
    if (!isNode(property)) return property;
    const ownDescription = property["description"];
    const about = typeof ownDescription === "string" ? ownDescription : (table[path] ?? null);
    report(path, about);

    return about === null ? property : { ...property, description: about };
  };

  return describeNode(schema, "") as object;
}

const mapEntries = (node: Node, change: (name: string, value: unknown) => unknown): Node =>
  Object.fromEntries(Object.entries(node).map(([name, value]) => [name, change(name, value)]));
