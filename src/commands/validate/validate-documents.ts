// validate-documents: validates formats that are read as a whole, each with the reader that a run uses, so that both find the same.

import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import type * as v from "valibot";
import { Flow } from "../../contracts/flow.ts";
import { CompletionFile, MetricsFile, PostMortem, TriageFile } from "../../contracts/roadmap-reports.ts";
import { Script } from "../../contracts/script.ts";
import { positionAt } from "../../documents/json-place.ts";
import type { Violation } from "../../documents/line-rules.ts";
import { judgePage, type PageFormat, pageFormats } from "../../views/page-rules.ts";
import { judgeSnapshot } from "../../portfolio/views/portfolio-rules.ts";
import { parseRoadmapState } from "../../playbooks/roadmap/views/parse-roadmap-state.ts";
import { parseStagedState } from "../../playbooks/staged/views/parse-staged-state.ts";
import { decodeDocument } from "../../documents/document-text.ts";
import { lintPlan } from "../../playbooks/roadmap/documents/plan-lint.ts";
import { parsePlan } from "../../playbooks/roadmap/documents/plan.ts";
import { parsePlanningConfig } from "../../playbooks/roadmap/documents/planning-config.ts";
import { parseRoadmap } from "../../playbooks/roadmap/documents/roadmap.ts";
import { lintFlow } from "../../flows/lint.ts";
import { loadFlow } from "../../flows/load.ts";
import type { Finding } from "../../kit/finding.ts";
import { type Hazard, findHazards } from "../../kit/json-hazards.ts";
import { isRefused, readLocated } from "../../kit/located.ts";
import { registryFor } from "../../runner/draft/called-flows.ts";
import { findUnknownLimits } from "../../flows/unknown-limits.ts";
import { readConfigFile } from "../../project/config/config-file.ts";
import { stateBytesMax } from "../../contracts/roadmap-places.ts";
import type { Format, LogFormat } from "../../playbooks/contract/formats.ts";
import { bytesOf } from "./validate-open.ts";

export type DocumentFormat = Exclude<Format, LogFormat | "journal" | "unknown">;
/** `path` is the file's real path; `shown` is what the user called it. */
export type Document = { readonly fd: number; readonly path: string; readonly shown: string; readonly size: number };

const judges: Readonly<Record<DocumentFormat, (document: Document) => readonly Violation[] | Promise<readonly Violation[]>>> = {
  flow: judgeFlow,
  config: async ({ path }) => (await configFindings(path)).map(findingViolation),
  script: (document) => bySchema(document, Script),
  roadmap: (document) => asText(document, (text) => parseRoadmap(document.shown, text).findings),
  plan: (document) =>
    asText(document, (text) => {
      // The plan's phase is not known here, so only its own requirements count.
      const { plan, findings } = parsePlan(document.shown, text);
      return [...findings, ...lintPlan(document.shown, plan, { requirements: [] })].toSorted((a, b) => a.line - b.line);
    }),
  "planning config": (document) =>
    asText(document, (text) => {
      const config = parsePlanningConfig(document.shown, text);
      return "findings" in config ? config.findings : [];
    }).concat(findHalfPairs(document)),
  "roadmap state": judgeState,
  metrics: (document) => bySchema(document, MetricsFile),
  "post-mortem": (document) => bySchema(document, PostMortem),
  triage: (document) => bySchema(document, TriageFile),
  "completion report": (document) => bySchema(document, CompletionFile),
  "portfolio snapshot": judgePortfolioSnapshot,
  ...(Object.fromEntries(pageFormats.map((format) => [format, (document: Document) => judgePageDocument(format, document)])) as PageJudges),
  "staged state": (document) => asText(document, (text) => parseStagedState(text, document.shown).findings),
};

type PageJudges = Readonly<Record<PageFormat, (document: Document) => readonly Violation[]>>;

function judgePageDocument(format: PageFormat, { fd, shown }: Document): readonly Violation[] {
  const read = decodeDocument(shown, bytesOf(fd, textBytesMax));
  return "findings" in read ? read.findings.map(findingViolation) : judgePage(format, read.text);
}

export async function judgeDocument(format: DocumentFormat, document: Document): Promise<readonly Violation[]> {
  return judges[format](document);
}

/** Parts of a JSON text that readers disagree about; empty if it isn't JSON. */
const textHazards = (text: string): readonly Hazard[] => (isJson(text) ? findHazards(text) : []);

const hazardViolations = (text: string, hazards: readonly Hazard[]): readonly Violation[] =>
  hazards.map(({ offset, message }) => ({ line: positionAt(text, offset).line, rule: "json", message, severity: "error" }));

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // its reader reports the position
  }
}

export const findingViolation = ({ line, rule, message, path, severity }: Finding): Violation => ({
  line,
  rule,
  message: path === "" || message.includes(path) ? message : `${path}: ${message}`,
  severity,
});

/** One more than a reader accepts, so that the reader itself reports that it is too much. */
const textBytesMax = 4_194_305;

function asText(document: Document, judge: (text: string) => readonly Finding[]): readonly Violation[] {
  const read = decodeDocument(document.shown, bytesOf(document.fd, textBytesMax));
  return ("findings" in read ? read.findings : judge(read.text)).map(findingViolation);
}

const locatedBytesMax = 1_048_577;

/** Unknown fields are reported, but do not refuse the file: another tool may keep more. */
function bySchema(document: Document, schema: v.GenericSchema): readonly Violation[] {
  const name = document.shown.endsWith(".json") ? document.shown : `${document.shown}.json`;
  const isYaml = schema === Script && !/^\s*[[{]/.test(bytesOf(document.fd, 64).toString("utf8"));
  const read = readLocated(isYaml ? document.shown : name, bytesOf(document.fd, locatedBytesMax), schema);
  if (!isRefused(read)) return findHalfPairs(document);
  const isOurs = schema === Script;
  return read.findings.map((finding) =>
    findingViolation(finding.rule === "unknown_key" && !isOurs ? { ...finding, severity: "warning" } : finding),
  );
}

/** These readers report keys themselves. */
function findHalfPairs({ fd }: Document): readonly Violation[] {
  const text = bytesOf(fd, locatedBytesMax).toString("utf8");
  return hazardViolations(
    text,
    textHazards(text).filter(({ kind }) => kind === "half"),
  );
}

async function judgeFlow({ fd, path, shown }: Document): Promise<readonly Violation[]> {
  const place = /^(.*)\/\.autopilot\/flows\/([^/]+)\/flow\.yaml$/.exec(path);
  if (place === null) {
    // Elsewhere it has no prompts beside it, so only its shape can be judged.
    const read = readLocated(shown, bytesOf(fd, locatedBytesMax), Flow);
    return isRefused(read) ? read.findings.map(findingViolation) : [];
  }
  const loaded = await loadFlow(place[1] ?? "", place[2] ?? "");
  if (loaded.kind === "invalid") return loaded.findings.map(findingViolation);
  if (loaded.kind === "missing") return [];
  return lintFlow({ ...loaded, registry: await registryFor(place[1] ?? "", loaded.flow) }).map(findingViolation);
}

async function configFindings(path: string): Promise<readonly Finding[]> {
  const read = readConfigFile(path);
  if ("findings" in read) return read.findings;
  const unknown = await findUnknownLimits(dirname(dirname(path)), read.config.limits ?? {});
  return unknown.map(({ name, message }) => ({
    file: path,
    ...(read.positions?.keyPlaceOf(["limits", name]) ?? { line: 1, column: 1 }),
    path: `limits.${name}`,
    rule: "unknown_key",
    message,
    severity: "error",
  }));
}

/** What the reader of another tool's state repairs silently is still a fault of the file; aliases are only reported. */
const tolerated: ReadonlySet<string> = new Set(["unknown_key", "phase_key", "score_place", "time_zone"]);

function judgeState({ fd, shown, size }: Document): readonly Violation[] {
  if (size > stateBytesMax)
    return [{ line: 1, rule: "too_large", message: `has ${size} bytes, expected at most ${stateBytesMax}`, severity: "error" }];
  const text = textOf(bytesOf(fd, stateBytesMax));
  if (typeof text !== "string") return [text];
  const hazards = textHazards(text);
  if (hazards.some(({ kind }) => kind === "deep")) return hazardViolations(text, hazards);
  const { findings } = parseRoadmapState(text, shown);
  const violations = findings.map((finding) => findingViolation(tolerated.has(finding.rule) ? finding : { ...finding, severity: "error" }));
  return [...hazardViolations(text, hazards), ...violations].toSorted((a, b) => a.line - b.line);
}

function textOf(bytes: Buffer): string | Violation {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const before = new TextDecoder("utf-8").decode(bytes);
    const line = before.slice(0, before.indexOf("\ufffd")).split("\n").length;
    return { line, rule: "not_utf8", message: "found bytes that are not UTF-8, expected a text file", severity: "error" };
  }
}

function judgePortfolioSnapshot({ fd, path, shown }: Document): readonly Violation[] {
  const read = decodeDocument(shown, bytesOf(fd, textBytesMax));
  if ("findings" in read) return read.findings.map(findingViolation);
  const name = basename(path).replace(/\.md$/, "");
  const folder = basename(dirname(path));
  const isIn = (kind: string, prefix: string): boolean => folder === kind || name.startsWith(prefix);
  if (isIn("tasks", "task-") || /^task_id\s*:/m.test(read.text))
    return judgeSnapshot({ kind: "task", file: shown, text: read.text, named: idFromName(name, "task-") }, sha256);
  if (isIn("projects", "proj-") || /^project_id\s*:/m.test(read.text))
    return judgeSnapshot({ kind: "project", file: shown, text: read.text, named: idFromName(name, "proj-") }, sha256);
  return judgeSnapshot({ kind: "portfolio", file: shown, text: read.text, named: null }, sha256);
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A file whose name is not an id may be a copy. */
const idFromName = (name: string, prefix: string): string | null => (name.startsWith(prefix) ? name : null);
