// answers: fetches and validates answers of a code host, page by page, and cuts logs and comments to a length that fits a prompt.

import * as v from "valibot";
import { evidenceCharsMax } from "../contracts/forge/pull-request.ts";
import { WorkspaceFailed } from "../workspace/failure.ts";
import { callTool, type ToolContext } from "./call-tool.ts";

/** An address that can be printed: nothing in it controls a terminal. */
export const ShownUrl = v.pipe(v.string(), v.regex(/^https?:\/\/[!-~]{1,2000}$/, "expected an address"));

const pageSize = 100;
const pagesMax = 10;

/** One answer of a known shape. What the host adds is passed over; what is missing is reported. */
export async function fetchOne<Value>(
  tool: ToolContext,
  schema: v.GenericSchema<unknown, Value>,
  path: string,
  body?: object,
): Promise<Value> {
  return validate(schema, await callTool(tool, { path, ...(body === undefined ? {} : { body }) }), path);
}

/** A whole list, up to a limit. `at`: the field of the answer that has the list. */
export const fetchAll = async <Value>(
  tool: ToolContext,
  schema: v.GenericSchema<unknown, Value>,
  path: string,
  { at }: { readonly at?: string } = {},
): Promise<readonly Value[]> =>
  (await fetchUpTo(tool, schema, path, { countMax: pageSize * pagesMax, ...(at === undefined ? {} : { at }) })).found;

/** At most `countMax` of a list, without those that `keep` refuses, and whether that is all of it. */
export async function fetchUpTo<Value>(
  tool: ToolContext,
  schema: v.GenericSchema<unknown, Value>,
  path: string,
  { at, countMax, keep = () => true }: { readonly at?: string; readonly countMax: number; readonly keep?: (value: Value) => boolean },
): Promise<{ readonly found: readonly Value[]; readonly isWhole: boolean }> {
  const values: Value[] = [];
  for (let page = 1; page <= pagesMax && values.length <= countMax; page += 1) {
    const answer = await callTool(tool, { path: `${path}${path.includes("?") ? "&" : "?"}per_page=${pageSize}&page=${page}` });
    const rows = at === undefined ? answer : (answer as Readonly<Record<string, unknown>> | null)?.[at];
    const items = validate(v.array(schema), rows, path);
    values.push(...items.filter(keep));
    if (items.length < pageSize) return { found: values.slice(0, countMax), isWhole: values.length <= countMax };
  }
  return { found: values.slice(0, countMax), isWhole: false };
}

function validate<Value>(schema: v.GenericSchema<unknown, Value>, answer: unknown, path: string): Value {
  const result = v.safeParse(schema, answer);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new WorkspaceFailed(
    "forge_unreachable",
    `The answer to ${path.split("?", 1)[0]} is not what was expected: ${v.getDotPath(issue) ?? "it"}: ${issue.message}`,
  );
}

/** The log of a failed check; empty if the host gives none. */
export async function fetchLog(tool: ToolContext, path: string): Promise<string> {
  try {
    const text = await callTool(tool, { path, isText: true });
    return typeof text === "string" ? text : "";
  } catch (error) {
    if (error instanceof WorkspaceFailed) return "";
    throw error;
  }
}

const timestamps = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z /gm;
const escapes = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;

/** The end of a log, where a failure is reported, without colours and timestamps. */
export function excerptOf(log: string): string {
  const text = log.replaceAll(escapes, "").replaceAll(timestamps, "").trim();
  return text.length <= evidenceCharsMax ? text : text.slice(-evidenceCharsMax);
}

export const cutText = (text: string): string => text.slice(0, evidenceCharsMax);
