// json-schema: what of JSON Schema our own schemas use, read strictly: a keyword it does not know
// is a fault, so that nothing is passed over.

type Schema = Readonly<Record<string, unknown>>;

const silent = new Set(["$schema", "$defs", "title", "description", "default"]);

/**
 * Every way in which a value does not fit; empty if it fits. References are looked up from the
 * root, as they must be.
 */
export function misfits(
  value: unknown,
  schema: Schema,
  at = "$",
  root: Schema = schema,
): readonly string[] {
  return Object.entries(schema).flatMap(([keyword, asked]) => {
    if (silent.has(keyword)) return [];
    const rule = rules[keyword];
    return rule === undefined
      ? [`${at}: the schema uses ${keyword}, which this test cannot judge`]
      : rule(value, asked, at, schema, root);
  });
}

type Rule = (
  value: unknown,
  asked: unknown,
  at: string,
  schema: Schema,
  root: Schema,
) => readonly string[];
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const unless = (holds: boolean, fault: string): readonly string[] => (holds ? [] : [fault]);
const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

const rules: Readonly<Record<string, Rule>> = {
  $ref: (value, asked, at, _schema, root) => {
    let found: unknown = root;
    for (const part of String(asked).split("/").slice(1)) {
      found = isObject(found) ? found[part] : undefined;
    }

    return isObject(found)
      ? misfits(value, found, at, root)
      : [`${at}: ${String(asked)} leads nowhere`];
  },
  type: (value, asked, at) => {
    const isFit = asked === "integer" ? Number.isInteger(value) : kindOf(value) === asked;
    return unless(isFit, `${at}: is ${kindOf(value)}, not ${String(asked)}`);
  },
  required: (value, asked, at) =>
    isObject(value)
      ? (asked as string[]).flatMap((name) =>
          unless(Object.hasOwn(value, name), `${at}: lacks ${name}`),
        )
      : [],
  properties: (value, asked, at, _schema, root) =>
    isObject(value)
      ? Object.entries(asked as Record<string, Schema>).flatMap(([name, inner]) =>
          Object.hasOwn(value, name) ? misfits(value[name], inner, `${at}.${name}`, root) : [],
        )
      : [],
  additionalProperties: (value, asked, at, schema, root) => {
    if (!isObject(value) || asked === true) return [];
    const known = Object.keys(schema["properties"] ?? {});
    const others = Object.keys(value).filter((name) => !known.includes(name));

    return others.flatMap((name) =>
      asked === false
        ? [`${at}: has ${name} besides`]
        : misfits(value[name], asked as Schema, `${at}.${name}`, root),
    );
  },
  propertyNames: (value, asked, at) =>
    isObject(value)
      ? Object.keys(value).flatMap((name) =>
          misfits(name, asked as Schema, `${at} (its name ${name})`),
        )
      : [],
  items: (value, asked, at, _schema, root) =>
    Array.isArray(value)
      ? value.flatMap((item, n) => misfits(item, asked as Schema, `${at}[${n}]`, root))
      : [],
  enum: (value, asked, at) =>
    unless(
      (asked as unknown[]).includes(value),
      `${at}: ${JSON.stringify(value)} is none of ${JSON.stringify(asked)}`,
    ),
  const: (value, asked, at) =>
    unless(value === asked, `${at}: ${JSON.stringify(value)} is not ${JSON.stringify(asked)}`),
  anyOf: (value, asked, at, _schema, root) => {
    const tried = (asked as Schema[]).map((one) => misfits(value, one, at, root));
    return tried.some((found) => found.length === 0)
      ? []
      : [`${at}: fits none of ${tried.length}: ${tried.map((found) => found[0]).join(" / ")}`];
  },
  pattern: (value, asked, at) =>
    unless(
      typeof value !== "string" || new RegExp(asked as string, "u").test(value),
      `${at}: does not match ${String(asked)}`,
    ),
  minimum: (value, asked, at) =>
    unless(
      typeof value !== "number" || value >= (asked as number),
      `${at}: below ${String(asked)}`,
    ),
  maximum: (value, asked, at) =>
    unless(
      typeof value !== "number" || value <= (asked as number),
      `${at}: above ${String(asked)}`,
    ),
  minLength: (value, asked, at) =>
    unless(
      typeof value !== "string" || value.length >= (asked as number),
      `${at}: shorter than ${String(asked)}`,
    ),
  maxLength: (value, asked, at) =>
    unless(
      typeof value !== "string" || value.length <= (asked as number),
      `${at}: longer than ${String(asked)}`,
    ),
  minItems: (value, asked, at) =>
    unless(
      !Array.isArray(value) || value.length >= (asked as number),
      `${at}: fewer than ${String(asked)}`,
    ),
};
