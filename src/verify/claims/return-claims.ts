// return-claims: extracts claims from the JSON object that an agent returns: fields that assert
// something, and the sentences in its texts.

import { listedNouns } from "./listed-items.ts";
import { extractTextClaims } from "./text-claims.ts";
import { toClaimText, type ReportedClaim } from "./reported-claim.ts";

const textsMax = 300;
const depthMax = 6;

export function extractReturnClaims(value: unknown, prompt = ""): readonly ReportedClaim[] {
  if (!isRecord(value)) return [];
  const prose = listProseTexts(value, 0).slice(0, textsMax).join("\n\n");
  return [
    ...extractFieldClaims(value),
    ...extractFindingClaims(value, prompt),
    ...extractTextClaims(prose, prompt),
  ];
}

const findingsMax = 100;
const countedNoun = new RegExp(`^(?:${listedNouns})$`, "i");

/**
 * Findings in lists of the return, `{ id, file, line }`, and counts of them. An id that the prompt
 * names is not a claim.
 */
function extractFindingClaims(
  value: Readonly<Record<string, unknown>>,
  prompt: string,
): readonly ReportedClaim[] {
  const claims: ReportedClaim[] = [];
  for (const [field, count] of Object.entries(value)) {
    const noun = field.replace(/_(?:count|found|total)$/i, "").replaceAll("_", " ");
    if (!countedNoun.test(noun) || typeof count !== "number" || !Number.isInteger(count)) continue;
    claims.push({
      kind: "count",
      text: toClaimText(`${field}: ${count}`),
      counted: "listed",
      claimedCount: count,
      noun,
    });
  }

  for (const item of listNestedRecords(value, 0).slice(0, findingsMax)) {
    const { id, file, line } = item;
    const name = typeof id === "string" ? id.trim() : "";

    if (/^[A-Za-z]+[-_ #]?\d{1,6}$/.test(name) && !prompt.includes(name)) {
      claims.push({ kind: "named", text: toClaimText(`id: ${name}`), id: name });
    }

    if (
      typeof file === "string" &&
      file.trim() !== "" &&
      typeof line === "number" &&
      Number.isInteger(line)
    ) {
      claims.push({
        kind: "file_line",
        text: toClaimText(`${file.trim()}:${line}`),
        path: file.trim(),
        line,
        name: null,
        isOfRemoval: false,
      });
    }
  }

  return claims;
}

/** The objects in lists of the return, down to a depth. */
function listNestedRecords(
  value: unknown,
  depth: number,
): readonly Readonly<Record<string, unknown>>[] {
  if (depth > depthMax || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item) =>
      isRecord(item) ? [item, ...listNestedRecords(item, depth + 1)] : [],
    );
  }

  return Object.values(value).flatMap((item) => listNestedRecords(item, depth + 1));
}

function extractFieldClaims(value: Readonly<Record<string, unknown>>): readonly ReportedClaim[] {
  const claims: ReportedClaim[] = [];
  const addFrom = (field: string, toClaim: (item: string) => ReportedClaim): void => {
    for (const item of stringItems(value[field])) {
      if (item.trim() !== "") claims.push(toClaim(item.trim()));
    }
  };
  addFrom("files_changed", (path) => ({
    kind: "file_changed",
    text: toClaimText(`files_changed: ${path}`),
    path,
  }));

  addFrom("artifacts", (path) => ({
    kind: "file_changed",
    text: toClaimText(`artifacts: ${path}`),
    path,
  }));

  addFrom("commit_shas", (sha) => ({
    kind: "commit",
    text: toClaimText(`commit_shas: ${sha}`),
    sha: sha.toLowerCase(),
  }));

  addFrom("criteria_done", (of) => ({
    kind: "done",
    text: toClaimText(`criteria_done: ${of}`),
    subject: toClaimText(of),
  }));

  if (value["pass"] === true) claims.push({ kind: "done", text: "pass: true", subject: "all" });
  for (const field of ["tasks_completed", "tasks_failed"]) {
    const taskCount = value[field];
    if (typeof taskCount === "string") {
      claims.push({
        kind: "count",
        text: toClaimText(`${field}: ${taskCount}`),
        counted: "other",
        claimedCount: 0,
      });
    }
  }

  for (const [field, score] of Object.entries(value)) {
    if (typeof score === "number" && /confidence|score|coverage|alignment|rating/i.test(field)) {
      claims.push({ kind: "score", text: toClaimText(`${field}: ${score}`) });
    }
  }

  for (const item of [value, ...asList(value["evidence"])]) {
    if (isRecord(item)) claims.push(...extractEvidenceClaims(item));
  }

  return claims;
}

/** Whether a command's result is reported as a pass; null if it says neither. */
function saysPassed(result: string): boolean | null {
  if (/\b(?:pass\w*|ok|success\w*|exit 0|0)\b/i.test(result)) return true;
  return /\b(?:fail\w*|error|exit [1-9]\d*)\b/i.test(result) ? false : null;
}

function extractEvidenceClaims(item: Readonly<Record<string, unknown>>): readonly ReportedClaim[] {
  return stringItems(item["commands_run"]).flatMap((entry): ReportedClaim[] => {
    const [command = "", result = ""] = entry.split(
      /\s*(?:→|->|=>|: (?=(?:pass|fail|ok|exit)))\s*/,
      2,
    ); // `npm test -> passed`
    if (command.trim() === "") return [];
    return [
      {
        kind: "command",
        text: toClaimText(`commands_run: ${entry}`),
        command: command.trim(),
        passed: saysPassed(result),
      },
    ];
  });
}

/**
 * The prose texts of the return, down to a depth. Lists of paths, hashes and commands are no prose:
 * they are read as fields.
 */
function listProseTexts(value: unknown, depth: number): readonly string[] {
  if (typeof value === "string") return [value];
  if (depth > depthMax || typeof value !== "object" || value === null) return [];
  const isField = (key: string): boolean =>
    ["files_changed", "artifacts", "commit_shas", "criteria_done", "commands_run"].includes(key);

  return Object.entries(value).flatMap(([key, item]) =>
    isField(key) ? [] : listProseTexts(item, depth + 1),
  );
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const stringItems = (value: unknown): readonly string[] =>
  asList(value).filter((item) => typeof item === "string");
