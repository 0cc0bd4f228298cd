// portfolio-rules: judges whether the files of a portfolio have their published format: the lines
// of its two logs, and the front matter and digest of its pages.

import {
  PortfolioCheckpoint,
  PortfolioEvent,
  PortfolioProjectSnapshot,
  PortfolioSnapshot,
  PortfolioTaskSnapshot,
  portfolioTransitions,
} from "../../contracts/portfolio/portfolio.ts";
import { type Finding, pathText, shown } from "../../kit/finding.ts";
import { isRefused, type Parsed, readLocated } from "../../kit/located.ts";
import { digestKey, isUntouched } from "./front-matter.ts";
import { openRecordRules } from "../../documents/record-rules.ts";
import type { LineRules, Tree, Violation, Violations } from "../../documents/line-rules.ts";

const ruleNames = { json: "PF-json", field: "PF-field", enum: "PF-enum" } as const;

export const openPortfolioEventRules = (violations: Violations): LineRules =>
  openRecordRules(violations, {
    record: PortfolioEvent,
    names: ruleNames,
    extraRule: judgeTransition,
  });

export const openPortfolioCheckpointRules = (violations: Violations): LineRules =>
  openRecordRules(violations, {
    record: PortfolioCheckpoint,
    names: ruleNames,
    extraRule: judgeScope,
  });

type Report = (rule: string, message: string, severity?: Violation["severity"]) => void;

const allowedSteps: ReadonlyMap<unknown, readonly string[]> = new Map(
  Object.entries(portfolioTransitions),
);

/**
 * The format doesn't say which status may follow which, so a transition that autopilot wouldn't
 * make is only a warning.
 */
function judgeTransition({ from_status: from, to_status: to }: Tree, report: Report): void {
  if (typeof from !== "string" || typeof to !== "string" || from === to) return;

  const allowedNext = allowedSteps.get(from);
  if (allowedNext === undefined || !allowedSteps.has(to) || allowedNext.includes(to)) return;

  const expected = allowedNext.length === 0 ? `${from} to be the end` : allowedNext.join(" or ");
  report("PF-step", `goes from ${from} to ${to}, expected ${expected}`, "warning");
}

function judgeScope({ scope, scope_id: id }: Tree, report: Report): void {
  if ((scope === "portfolio") === (id === "portfolio")) return;
  report(
    "PF-field",
    `scope is ${shown(scope)} and scope_id is ${shown(id)}, expected them to speak of one thing`,
  );
}

export type SnapshotKind = "portfolio" | "project" | "task";

const snapshots = {
  portfolio: PortfolioSnapshot,
  project: PortfolioProjectSnapshot,
  task: PortfolioTaskSnapshot,
} as const;

export type SnapshotFile = {
  readonly kind: SnapshotKind;
  readonly file: string;
  readonly text: string;
  /** The id in the file's name; null for the portfolio's own page. */
  readonly idInName: string | null;
};

/** Judges a snapshot by the data at its head. */
export const judgeSnapshot = (
  snapshot: SnapshotFile,
  digest: (text: string) => string,
): readonly Violation[] => [...judgeHead(snapshot), ...judgeDigest(snapshot.text, digest)];

/** Another tool's page may have no digest; a digest that is there must fit the page. */
function judgeDigest(text: string, digest: (text: string) => string): readonly Violation[] {
  const line = text.split("\n").findIndex((row) => row.startsWith(`${digestKey}:`));
  if (line < 0 || isUntouched(text, digest)) return [];

  const message = `${digestKey} doesn't fit the page: it was changed by hand or cut short; autopilot portfolio rebuild draws it again`;
  return [{ line: line + 1, rule: "PF-digest", message, severity: "error" }];
}

function judgeHead(snapshot: SnapshotFile): readonly Violation[] {
  const head = findFrontMatter(snapshot.text);
  if (head === null) {
    const message =
      "has no data between two lines of --- at its head, so nothing in it can be checked";
    return [{ line: 1, rule: "PF-head", message, severity: "warning" }];
  }

  if (typeof head === "string") {
    return [{ line: 1, rule: "PF-head", message: head, severity: "error" }];
  }

  const located = readLocated(snapshot.file, head.text, snapshots[snapshot.kind]);
  if (isRefused(located)) return located.findings.map(toHeadViolation);
  return judgeId(snapshot, located);
}

/** The rules of a text that can't be read at all; others are about one of its fields. */
const unreadableRules: ReadonlySet<string> = new Set([
  "syntax",
  "not_utf8",
  "not_text",
  "too_large",
  "too_deep",
  "duplicate_key",
  "reserved_key",
]);

const toHeadViolation = ({ line, path, rule, message }: Finding): Violation => ({
  line: line + 1, // the line of dashes comes first
  rule: unreadableRules.has(rule) ? "PF-head" : "PF-field",
  message: path === "" ? message : `${path}: ${message}`,
  severity: "error",
});

/** A project's or task's page is named after its id. */
function judgeId(
  { kind, idInName }: SnapshotFile,
  { value, positions }: Parsed,
): readonly Violation[] {
  if (kind === "portfolio" || idInName === null) return [];

  const key = `${kind}_id`;
  const id = (value as Tree)[key];
  if (id === idInName) return [];

  const line = positions.placeOf([key]).line + 1;
  const found = `${pathText([key])} is ${shown(id)}`;
  const message = `${found}, expected ${shown(idInName)}, the name of its file`;
  return [{ line, rule: "PF-id", message, severity: "error" }];
}

/**
 * The YAML between two lines of dashes at the beginning; null if there is none, a sentence if it
 * doesn't end.
 */
function findFrontMatter(text: string): { readonly text: string } | string | null {
  const start = /^\uFEFF?---[ \t]*\r?\n/.exec(text);
  if (start === null) return null;

  const afterStart = text.slice(start[0].length);
  const end = /^---[ \t]*$/m.exec(afterStart.replaceAll("\r", " ")); // as many characters, so that positions stay
  if (end === null) return "the data at its head does not end, expected a line of ---";
  return { text: afterStart.slice(0, end.index) };
}
