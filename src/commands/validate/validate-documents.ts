// validate-documents: validates formats that are read as a whole, each with the reader that a run
// uses, so that both find the same; where that reader repairs faults silently, they are reported
// here.

import { basename, dirname } from "node:path";
import type * as v from "valibot";
import { Flow } from "../../contracts/flow.ts";
import {
  CompletionFile,
  MetricsFile,
  PostMortem,
  TriageFile,
} from "../../contracts/roadmap-reports.ts";
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
import { buildLintRegistry } from "../../runner/draft/called-flows.ts";
import { findUnknownLimits } from "../../flows/unknown-limits.ts";
import { readConfigFile } from "../../project/config/config-file.ts";
import { stateBytesMax } from "../../contracts/roadmap-places.ts";
import type { Format, LogFormat } from "../../playbooks/contract/formats.ts";
import { readBytes } from "./validate-open.ts";
import { sha256 } from "../../project/sha256.ts";

export type DocumentFormat = Exclude<Format, LogFormat | "journal" | "unknown">;
/** `path` is the file's real path; `shown` is what the user called it. */
export type OpenedDocument = {
  readonly fd: number;
  readonly path: string;
  readonly shownPath: string;
  readonly size: number;
};

/** The reader of each format. */
const judges: Readonly<
  Record<
    DocumentFormat,
    (document: OpenedDocument) => readonly Violation[] | Promise<readonly Violation[]>
  >
> = {
  flow: judgeFlow,
  config: async ({ path }) => (await findConfigFaults(path)).map(toViolation),
  script: (document) => judgeBySchema(document, Script),
  roadmap: (document) =>
    judgeText(document, (text) => parseRoadmap(document.shownPath, text).findings),
  plan: (document) =>
    judgeText(document, (text) => {
      // The plan's phase is not known here, so only its own requirements count.
      const { plan, findings } = parsePlan(document.shownPath, text);
      return [...findings, ...lintPlan(document.shownPath, plan, { requirements: [] })].toSorted(
        (a, b) => a.line - b.line,
      );
    }),
  "planning config": (document) =>
    judgeText(document, (text) => {
      const config = parsePlanningConfig(document.shownPath, text);
      return "findings" in config ? config.findings : [];
    }).concat(findLoneSurrogates(document)),
  "roadmap state": judgeState,
  metrics: (document) => judgeBySchema(document, MetricsFile),
  "post-mortem": (document) => judgeBySchema(document, PostMortem),
  triage: (document) => judgeBySchema(document, TriageFile),
  "completion report": (document) => judgeBySchema(document, CompletionFile),
  "portfolio snapshot": judgePortfolioSnapshot,
  ...(Object.fromEntries(
    pageFormats.map((format) => [
      format,
      (document: OpenedDocument) => judgePageDocument(format, document),
    ]),
  ) as PageJudges),
  "staged state": (document) =>
    judgeText(document, (text) => parseStagedState(text, document.shownPath).findings),
};

type PageJudges = Readonly<Record<PageFormat, (document: OpenedDocument) => readonly Violation[]>>;

function judgePageDocument(
  format: PageFormat,
  { fd, shownPath }: OpenedDocument,
): readonly Violation[] {
  const decoded = decodeDocument(shownPath, readBytes(fd, textBytesMax));
  return "findings" in decoded
    ? decoded.findings.map(toViolation)
    : judgePage(format, decoded.text);
}

export async function judgeDocument(
  format: DocumentFormat,
  document: OpenedDocument,
): Promise<readonly Violation[]> {
  return judges[format](document);
}

/**
 * Parts of a JSON text that readers disagree about, such as a key that stands twice; empty if it
 * isn't JSON.
 */
const findTextHazards = (text: string): readonly Hazard[] =>
  isJson(text) ? findHazards(text) : [];

const toHazardViolations = (text: string, hazards: readonly Hazard[]): readonly Violation[] =>
  hazards.map(({ offset, message }) => ({
    line: positionAt(text, offset).line,
    rule: "json",
    message,
    severity: "error",
  }));

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // its reader reports the position
  }
}

export const toViolation = ({ line, rule, message, path, severity }: Finding): Violation => ({
  line,
  rule,
  message: path === "" || message.includes(path) ? message : `${path}: ${message}`,
  severity,
});

/**
 * One byte more than a reader accepts, so that the reader itself reports that the file is too
 * large.
 */
const textBytesMax = 4_194_305;

function judgeText(
  document: OpenedDocument,
  judge: (text: string) => readonly Finding[],
): readonly Violation[] {
  const decoded = decodeDocument(document.shownPath, readBytes(document.fd, textBytesMax));
  return ("findings" in decoded ? decoded.findings : judge(decoded.text)).map(toViolation);
}

/** The same for files that are read by their schema. */
const locatedBytesMax = 1_048_577;

/**
 * Unknown fields are reported as warnings, since another tool may keep more; those of a script,
 * which only we read, as errors.
 */
function judgeBySchema(document: OpenedDocument, schema: v.GenericSchema): readonly Violation[] {
  const isScript = schema === Script; // only a script may be YAML; the reader tells by the file's name
  const jsonName = document.shownPath.endsWith(".json")
    ? document.shownPath
    : `${document.shownPath}.json`;
  const isYaml = isScript && !/^\s*[[{]/.test(readBytes(document.fd, 64).toString("utf8"));

  const located = readLocated(
    isYaml ? document.shownPath : jsonName,
    readBytes(document.fd, locatedBytesMax),
    schema,
  );
  if (!isRefused(located)) return findLoneSurrogates(document);
  return located.findings.map((finding) =>
    toViolation(
      finding.rule === "unknown_key" && !isScript ? { ...finding, severity: "warning" } : finding,
    ),
  );
}

/**
 * Half a surrogate pair in a string, which readers replace differently. Other hazards are reported
 * by the formats' own readers.
 */
function findLoneSurrogates({ fd }: OpenedDocument): readonly Violation[] {
  const text = readBytes(fd, locatedBytesMax).toString("utf8");
  return toHazardViolations(
    text,
    findTextHazards(text).filter(({ kind }) => kind === "half"),
  );
}

async function judgeFlow({ fd, path, shownPath }: OpenedDocument): Promise<readonly Violation[]> {
  const match = /^(.*)\/\.autopilot\/flows\/([^/]+)\/flow\.yaml$/.exec(path); // ROOT/.autopilot/flows/NAME/flow.yaml
  if (match === null) {
    // Elsewhere it has no prompts beside it, so only its shape can be judged.
    const located = readLocated(shownPath, readBytes(fd, locatedBytesMax), Flow);
    return isRefused(located) ? located.findings.map(toViolation) : [];
  }

  const [, root = "", name = ""] = match;
  const loaded = await loadFlow(root, name);
  if (loaded.kind === "invalid") return loaded.findings.map(toViolation);
  if (loaded.kind === "missing") return [];

  return lintFlow({ ...loaded, registry: await buildLintRegistry(root, loaded.flow) }).map(
    toViolation,
  );
}

async function findConfigFaults(path: string): Promise<readonly Finding[]> {
  const file = readConfigFile(path);
  if ("findings" in file) return file.findings;
  const unknownLimits = await findUnknownLimits(dirname(dirname(path)), file.config.limits ?? {});

  return unknownLimits.map(({ name, message }) => ({
    file: path,
    ...(file.positions?.keyPlaceOf(["limits", name]) ?? { line: 1, column: 1 }),
    path: `limits.${name}`,
    rule: "unknown_key",
    message,
    severity: "error",
  }));
}

/**
 * The reader of a state file repairs many faults silently; here they are errors. Those of these
 * rules stay warnings.
 */
const toleratedRules: ReadonlySet<string> = new Set([
  "unknown_key",
  "phase_key",
  "score_place",
  "time_zone",
]);

function judgeState({ fd, shownPath, size }: OpenedDocument): readonly Violation[] {
  if (size > stateBytesMax) {
    return [
      {
        line: 1,
        rule: "too_large",
        message: `has ${size} bytes, expected at most ${stateBytesMax}`,
        severity: "error",
      },
    ];
  }

  const text = decodeUtf8(readBytes(fd, stateBytesMax));
  if (typeof text !== "string") return [text];
  const hazards = findTextHazards(text);
  if (hazards.some(({ kind }) => kind === "deep")) return toHazardViolations(text, hazards);
  const { findings } = parseRoadmapState(text, shownPath);
  const violations = findings.map((finding) =>
    toViolation(toleratedRules.has(finding.rule) ? finding : { ...finding, severity: "error" }),
  );

  return [...toHazardViolations(text, hazards), ...violations].toSorted((a, b) => a.line - b.line);
}

function decodeUtf8(bytes: Buffer): string | Violation {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const decoded = new TextDecoder("utf-8").decode(bytes); // each bad sequence becomes U+FFFD
    const line = decoded.slice(0, decoded.indexOf("\ufffd")).split("\n").length;
    return {
      line,
      rule: "not_utf8",
      message: "found bytes that are not UTF-8, expected a text file",
      severity: "error",
    };
  }
}

function judgePortfolioSnapshot({ fd, path, shownPath }: OpenedDocument): readonly Violation[] {
  const decoded = decodeDocument(shownPath, readBytes(fd, textBytesMax));
  if ("findings" in decoded) return decoded.findings.map(toViolation);
  const { text } = decoded;
  const name = basename(path).replace(/\.md$/, "");
  const folder = basename(dirname(path));
  const isIn = (kind: string, prefix: string): boolean =>
    folder === kind || name.startsWith(prefix);
  if (isIn("tasks", "task-") || /^task_id\s*:/m.test(text)) {
    return judgeSnapshot(
      { kind: "task", file: shownPath, text, idInName: idFromName(name, "task-") },
      sha256,
    );
  }

  if (isIn("projects", "proj-") || /^project_id\s*:/m.test(text)) {
    return judgeSnapshot(
      { kind: "project", file: shownPath, text, idInName: idFromName(name, "proj-") },
      sha256,
    );
  }

  return judgeSnapshot({ kind: "portfolio", file: shownPath, text, idInName: null }, sha256);
}

/** The id that the file's name says; null if it says none, as that of a copy may. */
const idFromName = (name: string, prefix: string): string | null =>
  name.startsWith(prefix) ? name : null;
