// fetch-answers: fetches answers of a code host's API, one by one or page by page, and checks their
// shape.

import * as v from "valibot";
import { WorkspaceFailed } from "../workspace/failure.ts";
import { callTool, type ToolContext } from "./call-tool.ts";

/** An address that can be printed: nothing in it controls a terminal. */
export const ShownUrl = v.pipe(
  v.string(),
  v.regex(/^https?:\/\/[!-~]{1,2000}$/, "expected an address"),
);

const pageSize = 100;
/** No list is read further than this many pages. */
const pagesMax = 50;

/** One answer of a known shape. What the host adds is passed over; what is missing is reported. */
export async function fetchOne<Value>(
  tool: ToolContext,
  schema: v.GenericSchema<unknown, Value>,
  path: string,
  body?: object,
): Promise<Value> {
  const request = body === undefined ? { path } : { path, body };
  return validate(schema, await callTool(tool, request), path);
}

/** `listField`: the field of the answer that has the list, if the answer isn't the list itself. */
type ListOptions = { readonly listField?: string };

/**
 * A whole list. One that is too long to be read whole is a failure: the newest comment or a red
 * check may be in the rest.
 */
export async function fetchAll<Value>(
  tool: ToolContext,
  schema: v.GenericSchema<unknown, Value>,
  path: string,
  options: ListOptions = {},
): Promise<readonly Value[]> {
  const countMax = pageSize * pagesMax;
  const { values, isWhole } = await fetchUpTo(tool, schema, path, { ...options, countMax });
  if (isWhole) return values;
  throw new WorkspaceFailed(
    "forge_unreachable",
    `The list at ${withoutQuery(path)} has ${countMax} entries or more, too many to be read.`,
    "look at the pull request yourself",
  );
}

/**
 * At most `countMax` of a list, without those that `keep` refuses, and whether that is all of it.
 */
export async function fetchUpTo<Value>(
  tool: ToolContext,
  schema: v.GenericSchema<unknown, Value>,
  path: string,
  {
    listField,
    countMax,
    keep = () => true,
  }: ListOptions & { readonly countMax: number; readonly keep?: (value: Value) => boolean },
): Promise<{ readonly values: readonly Value[]; readonly isWhole: boolean }> {
  const values: Value[] = [];
  const separator = path.includes("?") ? "&" : "?";

  for (let page = 1; page <= pagesMax && values.length <= countMax; page += 1) {
    const answer = await callTool(tool, {
      path: `${path}${separator}per_page=${pageSize}&page=${page}`,
    });
    const list =
      listField === undefined
        ? answer
        : (answer as Readonly<Record<string, unknown>> | null)?.[listField];
    const items = validate(v.array(schema), list, path);
    values.push(...items.filter(keep));

    if (items.length < pageSize) {
      return { values: values.slice(0, countMax), isWhole: values.length <= countMax };
    }
  }

  return { values: values.slice(0, countMax), isWhole: false };
}

function validate<Value>(
  schema: v.GenericSchema<unknown, Value>,
  answer: unknown,
  path: string,
): Value {
  const result = v.safeParse(schema, answer);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new WorkspaceFailed(
    "forge_unreachable",
    `The answer to ${withoutQuery(path)} is not what was expected: ${v.getDotPath(issue) ?? "it"}: ${issue.message}`,
  );
}

const withoutQuery = (path: string): string => path.split("?", 1)[0] ?? path;

/** The log of a failed check; empty if the host gives none: the check is reported without it. */
export async function fetchLog(tool: ToolContext, path: string): Promise<string> {
  try {
    const text = await callTool(tool, { path, isText: true });
    return typeof text === "string" ? text : "";
  } catch (error) {
    if (error instanceof WorkspaceFailed) return "";
    throw error;
  }
}
