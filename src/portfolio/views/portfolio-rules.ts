// portfolio-rules: whether the files of a portfolio are in their published format: each line of its two logs, and the data at the head of a snapshot.

import {
  PortfolioCheckpoint,
  PortfolioEvent,
  PortfolioProjectSnapshot,
  PortfolioSnapshot,
  PortfolioTaskSnapshot,
  portfolioTransitions,
} from "../../contracts/portfolio.ts";
import { pathText, shown } from "../../kit/finding.ts";
import { isRefused, readLocated } from "../../kit/located.ts";
import { digestKey, isUntouched } from "./front-matter.ts";
import { openRecordRules } from "../../documents/record-rules.ts";
import type { LineRules, Tree, Violation, Violations } from "../../documents/line-rules.ts";

const names = { json: "PF-json", field: "PF-field", enum: "PF-enum" } as const;

export const openPortfolioEventRules = (violations: Violations): LineRules =>
  openRecordRules(violations, { record: PortfolioEvent, names, extraRule: judgeStep });

export const openPortfolioCheckpointRules = (violations: Violations): LineRules =>
  openRecordRules(violations, { record: PortfolioCheckpoint, names, extraRule: judgeScope });

type Report = (rule: string, message: string, severity?: Violation["severity"]) => void;

const steps: ReadonlyMap<unknown, readonly string[]> = new Map(Object.entries(portfolioTransitions));

/** The format lists no steps between statuses, so one that we would not take is a warning. */
function judgeStep({ from_status: from, to_status: to }: Tree, report: Report): void {
  if (typeof from !== "string" || typeof to !== "string" || from === to) return;
  const may = steps.get(from);
  if (may === undefined || !steps.has(to) || may.includes(to)) return;
  report("PF-step", `goes from ${from} to ${to}, expected ${may.length === 0 ? `${from} to be the end` : may.join(" or ")}`, "warning");
}

function judgeScope({ scope, scope_id: id }: Tree, report: Report): void {
  if ((scope === "portfolio") === (id === "portfolio")) return;
  report("PF-field", `scope is ${shown(scope)} and scope_id is ${shown(id)}, expected them to speak of one thing`);
}

export type SnapshotKind = "portfolio" | "project" | "task";

const snapshots = { portfolio: PortfolioSnapshot, project: PortfolioProjectSnapshot, task: PortfolioTaskSnapshot } as const;

export type Snapshot = {
  readonly kind: SnapshotKind;
  readonly file: string;
  readonly text: string;
  /** The id in the file's name; null for the portfolio's own page. */
  readonly named: string | null;
};

/** Judges a snapshot by the data at its head. */
export const judgeSnapshot = (snapshot: Snapshot, digest: (text: string) => string): readonly Violation[] => [
  ...judgeHead(snapshot),
  ...judgeDigest(snapshot.text, digest),
];

/** A page may go without a digest, another tool's say; one that has it must fit. */
function judgeDigest(text: string, digest: (text: string) => string): readonly Violation[] {
  const line = text.split("\n").findIndex((row) => row.startsWith(`${digestKey}:`));
  const message = `${digestKey} doesn't fit the page: it was changed by hand or cut short; autopilot portfolio rebuild draws it again`;
  return line < 0 || isUntouched(text, digest) ? [] : [{ line: line + 1, rule: "PF-digest", message, severity: "error" }];
}

function judgeHead({ kind, file, text, named }: Snapshot): readonly Violation[] {
  const head = headOf(text);
  if (head === null)
    return [
      {
        line: 1,
        rule: "PF-head",
        message: "has no data between two lines of --- at its head, so nothing in it can be checked",
        severity: "warning",
      },
    ];
  if (typeof head === "string") return [{ line: 1, rule: "PF-head", message: head, severity: "error" }];
  const read = readLocated(file, head.text, snapshots[kind]);
  if (isRefused(read))
    return read.findings.map(({ line, path, rule, message }) => ({
      line: line + 1,
      rule: ["syntax", "not_utf8", "not_text", "too_large", "too_deep", "duplicate_key", "reserved_key"].includes(rule)
        ? "PF-head"
        : "PF-field",
      message: path === "" ? message : `${path}: ${message}`,
      severity: "error",
    }));
  const key = kind === "portfolio" ? null : (`${kind}_id` as const);
  const id = key === null ? null : (read.value as Tree)[key];
  if (key === null || named === null || id === named) return [];
  return [
    {
      line: read.positions.placeOf([key]).line + 1,
      rule: "PF-id",
      message: `${pathText([key])} is ${shown(id)}, expected ${shown(named)}, the name of its file`,
      severity: "error",
    },
  ];
}

/** The YAML between two lines of dashes at the beginning; null if there is none, a sentence where it does not end. */
function headOf(text: string): { readonly text: string } | string | null {
  const begins = /^\uFEFF?---[ \t]*\r?\n/.exec(text);
  if (begins === null) return null;
  const rest = text.slice(begins[0].length);
  const ends = /^---[ \t]*$/m.exec(rest.replaceAll("\r", " "));
  return ends === null ? "the data at its head does not end, expected a line of ---" : { text: rest.slice(0, ends.index) };
}
