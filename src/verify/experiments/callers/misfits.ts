// misfits: tells whether a call that fitted a function before the work still fits it. Pure.
//
// Invariants:
//   F1. In JavaScript nothing has to be given. Something is missing only if it had a default, was
//       given before at this place, or is new and used in a way that needs it; and if the function
//       neither looks whether it is there nor only hands it on.

import type { Call } from "./calls.ts";
import type { Parameter, Signature } from "./signatures.ts";

/** `isNew`: whether the file did not have the same call before the work. */
export type Fitting = {
  readonly was: Signature;
  readonly is: Signature;
  readonly call: Call;
  readonly isNew: boolean;
};

/** What the call does not give any more, in words; null if it fits. */
export const findMisfit = (fitting: Fitting, language: "js" | "py"): string | null =>
  language === "js" ? findJsMisfit(fitting) : findPythonMisfit(fitting);

function findJsMisfit({ was, is, call, isNew }: Fitting): string | null {
  const count = call.given.length;
  const placeBefore = ({ name }: Parameter): number =>
    was.parameters.findIndex((other) => other.name === name);

  for (const [at, parameter] of is.parameters.entries()) {
    const { name, fields } = parameter;
    const before = was.parameters[placeBefore(parameter)] ?? was.parameters[at];
    const argument = call.given[at];
    if (fields !== null) {
      const missing = findMissingField(parameter, before, is.body, argument);
      if (missing !== null) return missing;
    } else if (at >= count && !parameter.isOptional) {
      const hadDefault = before !== undefined && hasDefault(before);
      const place = placeBefore(parameter);
      const wasGiven = place !== -1 && place < count && !isNew;
      const isNeeded = place === -1 && at >= was.parameters.length && isUsed(name, is.body);
      if ((hadDefault || wasGiven || isNeeded) && !isHandled(name, is.body)) return name;
    } else if (at < count && !isNew && placeBefore(parameter) !== -1) {
      const isMoved = placeBefore(parameter) !== at && placeBefore(parameter) < count;
      if (isMoved) return `${name} in its new place`;
    }
  }

  return null;
}

function findMissingField(
  { isOptional, fields }: Parameter,
  before: Parameter | undefined,
  body: string,
  given: string | undefined,
): string | null {
  if (before?.fields == null) return null;
  if (given === undefined) {
    const [first = "{}"] = fields?.keys() ?? [];
    if (before.isOptional && !isOptional) return first;
  } else if (!given.startsWith("{") || given.includes("...")) {
    return null;
  }

  const keys = new Set(given?.match(/[\w$]+/g));
  const lost = [...(fields ?? [])].find(
    ([name, hasOwn]) =>
      !hasOwn && before.fields?.get(name) === true && !keys.has(name) && !isHandled(name, body),
  );
  return lost?.[0] ?? null;
}

/** Nothing is as good as these. */
const hasDefault = ({ isOptional, fallback, kind }: Parameter): boolean =>
  isOptional && kind !== "rest" && !/^(?:undefined|null|false|void 0)$/.test(fallback);

/** Whether the code needs a value: calls it, or takes a part of it. */
const isUsed = (name: string, body: string): boolean =>
  new RegExp(`(?<![\\w$.])${escape(name)}\\s*(?:\\.(?!\\.)|\\(|\\[)`).test(body);

/** Whether the code looks if it was given something, or only hands it on. */
function isHandled(name: string, body: string): boolean {
  const parameterUse = `(?:this\\.#?)?(?<![\\w$])${escape(name)}(?![\\w$])`;
  const asks = new RegExp(
    `${parameterUse}\\s*(?:\\?\\?|\\|\\||&&|\\?\\.|\\?(?!:)|[=!]==?\\s*(?:undefined|null|void))|(?:typeof\\s+|!\\s*|\\bif\\s*\\(\\s*)${parameterUse}|(?:undefined|null)\\s*[=!]==?\\s*${parameterUse}|\\barguments\\b|${parameterUse}\\s*=(?![=>])\\s*[^;\\n]*\\?\\?`,
  );
  if (asks.test(body)) return true;

  const uses = [...body.matchAll(new RegExp(`(?<![\\w$.#])${escape(name)}(?![\\w$])`, "g"))];
  return uses.every(
    ({ index }) =>
      /[(,]\s*$/.test(body.slice(Math.max(0, index - 40), index)) &&
      /^\s*[,)]/.test(body.slice(index + name.length, index + name.length + 40)),
  );
}

const escape = (name: string): string => name.replaceAll("$", String.raw`\$`);

function findPythonMisfit({ was, is, call }: Fitting): string | null {
  const missing = findPythonMissing(is.parameters, call);
  return missing !== null && findPythonMissing(was.parameters, call) === null ? missing : null;
}

function findPythonMissing(parameters: readonly Parameter[], { given }: Call): string | null {
  const keyword = /^(\w+)\s*=(?!=)/;
  const names = new Set(given.flatMap((one) => keyword.exec(one)?.[1] ?? []));
  const placed = given.filter((one) => !keyword.test(one)).length;
  const plain = parameters.filter(({ kind }) => kind === "plain");
  const has = (wanted: Parameter["kind"]): boolean =>
    parameters.some(({ kind }) => kind === wanted);
  if (placed > plain.length && !has("rest")) return `${plain.length} values alone`;
  const unknown = [...names].find((name) => !parameters.some((one) => one.name === name));
  if (unknown !== undefined && !has("keywords")) return `another name than ${unknown}`;
  const missing = parameters.find(
    (one) =>
      !one.isOptional &&
      !names.has(one.name) &&
      (one.kind === "keyword" || plain.indexOf(one) >= placed),
  );

  return missing?.name ?? null;
}
