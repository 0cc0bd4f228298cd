// handed: extracts claims from an agent's return: fields that assert something, and the sentences in its texts.

import { listedThings } from "./listed-in.ts";
import { reportedClaims } from "./agent-report.ts";
import { claimText, type ReportedClaim } from "./said-claim.ts";

const textsMax = 300;
const depthMax = 6;

export function handedClaims(value: unknown, prompt = ""): readonly ReportedClaim[] {
  if (!isRecord(value)) return [];
  const reported = textsIn(value, 0).slice(0, textsMax).join("\n\n");
  return [...fieldClaims(value), ...foundClaims(value, prompt), ...reportedClaims(reported, prompt)];
}

const foundMax = 100;
const isListed = new RegExp(`^(?:${listedThings})$`, "i");

/** Findings in the return, `{ id, file, line }` at any depth, and counts of them. Text repeated from the prompt is not a claim. */
function foundClaims(value: Readonly<Record<string, unknown>>, prompt: string): readonly ReportedClaim[] {
  const claims: ReportedClaim[] = [];
  for (const [field, count] of Object.entries(value)) {
    const noun = field.replace(/_(?:count|found|total)$/i, "").replaceAll("_", " ");
    if (!isListed.test(noun) || typeof count !== "number" || !Number.isInteger(count)) continue;
    claims.push({ kind: "count", text: claimText(`${field}: ${count}`), what: "listed", n: count, noun });
  }
  for (const item of recordsIn(value, 0).slice(0, foundMax)) {
    const { id, file, line } = item;
    const name = typeof id === "string" ? id.trim() : "";
    if (/^[A-Za-z]+[-_ #]?\d{1,6}$/.test(name) && !prompt.includes(name))
      claims.push({ kind: "named", text: claimText(`id: ${name}`), id: name });
    if (typeof file === "string" && file.trim() !== "" && typeof line === "number" && Number.isInteger(line))
      claims.push({
        kind: "file_line",
        text: claimText(`${file.trim()}:${line}`),
        path: file.trim(),
        line,
        name: null,
        isOfRemoval: false,
      });
  }
  return claims;
}

/** The objects in lists of the return. */
function recordsIn(value: unknown, depth: number): readonly Readonly<Record<string, unknown>>[] {
  if (depth > depthMax || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => (isRecord(item) ? [item, ...recordsIn(item, depth + 1)] : []));
  return Object.values(value).flatMap((item) => recordsIn(item, depth + 1));
}

function fieldClaims(value: Readonly<Record<string, unknown>>): readonly ReportedClaim[] {
  const claims: ReportedClaim[] = [];
  const each = (field: string, make: (item: string) => ReportedClaim): void => {
    for (const item of stringsIn(value[field])) if (item.trim() !== "") claims.push(make(item.trim()));
  };
  each("files_changed", (path) => ({ kind: "file_changed", text: claimText(`files_changed: ${path}`), path }));
  each("artifacts", (path) => ({ kind: "file_changed", text: claimText(`artifacts: ${path}`), path }));
  each("commit_shas", (sha) => ({ kind: "commit", text: claimText(`commit_shas: ${sha}`), sha: sha.toLowerCase() }));
  each("criteria_done", (of) => ({ kind: "done", text: claimText(`criteria_done: ${of}`), of: claimText(of) }));
  if (value["pass"] === true) claims.push({ kind: "done", text: "pass: true", of: "all" });
  for (const field of ["tasks_completed", "tasks_failed"]) {
    const counted = value[field];
    if (typeof counted === "string") claims.push({ kind: "count", text: claimText(`${field}: ${counted}`), what: "other", n: 0 });
  }
  for (const [field, score] of Object.entries(value)) {
    if (typeof score === "number" && /confidence|score|coverage|alignment|rating/i.test(field))
      claims.push({ kind: "score", text: claimText(`${field}: ${score}`) });
  }
  for (const item of [value, ...listIn(value["evidence"])]) if (isRecord(item)) claims.push(...evidenceClaims(item));
  return claims;
}

function evidenceClaims(item: Readonly<Record<string, unknown>>): readonly ReportedClaim[] {
  return stringsIn(item["commands_run"]).flatMap((reported): ReportedClaim[] => {
    const [command = "", result = ""] = reported.split(/\s*(?:→|->|=>|: (?=(?:pass|fail|ok|exit)))\s*/, 2);
    if (command.trim() === "") return [];
    const passed = /\b(?:pass\w*|ok|success\w*|exit 0|0)\b/i.test(result)
      ? true
      : /\b(?:fail\w*|error|exit [1-9]\d*)\b/i.test(result)
        ? false
        : null;
    return [{ kind: "command", text: claimText(`commands_run: ${reported}`), command: command.trim(), passed }];
  });
}

/** Every prose text of the return, at any depth. Lists of paths, hashes and commands are read as fields. */
function textsIn(value: unknown, depth: number): readonly string[] {
  if (typeof value === "string") return [value];
  if (depth > depthMax || typeof value !== "object" || value === null) return [];
  const isField = (key: string): boolean => ["files_changed", "artifacts", "commit_shas", "criteria_done", "commands_run"].includes(key);
  return Object.entries(value).flatMap(([key, item]) => (isField(key) ? [] : textsIn(item, depth + 1)));
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const stringsIn = (value: unknown): readonly string[] => listIn(value).filter((item) => typeof item === "string");
