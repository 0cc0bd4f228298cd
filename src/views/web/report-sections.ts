// report-sections: renders the longer sections of a run's report file: phases, the change with its
// lines, claims, decisions.

import type { Backtest } from "../../insight/forecast.ts";
import type { BudgetView } from "../budget-view.ts";
import type { FileDiff } from "../facts/hunks.ts";
import type { RunCard } from "../facts/run-card.ts";
import type { SpendingPoint } from "../facts/run-index.ts";
import type { Waterfall } from "../facts/waterfall.ts";
import type { ReportView } from "../report.ts";
import { formatAmount } from "../wording.ts";
import { diffTable } from "./diff-table.ts";
import { type Child, el, type Element, foreignText } from "./element.ts";
import { claimQuote, definitionList, section, tableHead } from "./components.ts";
import { verifiedClaims } from "./proof-table.ts";
import { stateLabel } from "./icons.ts";
import { formatNumber, plural, shortNumber } from "./format-numbers.ts";

export type ReportFileInput = {
  /** When the report was made, ISO 8601 in UTC. */
  readonly at: string;
  /** The program's name and version. */
  readonly product: string;
  readonly card: RunCard;
  readonly goal_rest: string;
  readonly branch: string;
  readonly base: string;
  readonly tip: string;
  readonly scope: readonly string[];
  readonly agents: readonly (readonly [role: string, agent: string])[];
  readonly isolation: {
    readonly level: string;
    readonly mechanism: string;
    readonly not_enforced: readonly string[];
  };
  readonly waterfall: Waterfall;
  readonly points: readonly SpendingPoint[];
  readonly budget: BudgetView;
  readonly report: Pick<
    ReportView,
    | "summary"
    | "ending"
    | "criteria"
    | "evidence"
    | "gates"
    | "claims"
    | "looked_up"
    | "phases"
    | "decisions"
    | "blockers"
    | "gaps"
    | "look_at"
    | "cost"
    | "recommendations"
    | "changes"
    | "afterwards"
    | "forked_from"
  >;
  readonly files: readonly {
    readonly path: string;
    readonly insertions: number | null;
    readonly deletions: number | null;
    readonly diff: FileDiff | null;
  }[];
  /** Files beyond those whose lines are shown. */
  readonly more: number;
  /** Earlier runs of its flow, each with what had been forecast for it. */
  readonly forecasts?: readonly Backtest[];
  readonly journal: { readonly events: number; readonly head: string };
};

/** The first commits and the newest decisions that are shown; the page says that there are more. */
const commitsMax = 50;
const decisionsMax = 100;

type ShownPhase = ReportFileInput["report"]["phases"][number];
type ShownFile = ReportFileInput["files"][number];
type ShownDecision = ReportFileInput["report"]["decisions"][number];

const phaseShapes: Readonly<Record<string, "ok" | "bad" | "you" | "run" | "skipped" | "waits">> = {
  completed: "ok",
  failed: "bad",
  needs_human_verification: "you",
  in_progress: "run",
  skipped: "skipped",
};

export function phasesSection({ report }: ReportFileInput): Element {
  const head = tableHead("Phase", "State", "Score", "Tokens", "Took");
  const body = el("tbody", report.phases.map(phaseRow));
  const table = el("table.grid.lists", head, body);
  return section("Phases", "", el("div.panel.clip", table));
}

function phaseRow({ id, name, status, score, tokens, duration_minutes }: ShownPhase): Element {
  const label = stateLabel(phaseShapes[status] ?? "waits", status.replaceAll("_", " "));

  return el(
    "tr",
    el("th", { scope: "row" }, foreignText(`${id}  ${name}`)),
    el("td", label),
    el("td.n", { "data-label": "score" }, score === null ? "–" : formatNumber(score)),
    el("td.n", { "data-label": "tokens" }, shortNumber(tokens)),
    el("td.n", formatAmount("minutes", duration_minutes)),
  );
}

export function changeSection({ files, more, base, tip, report }: ReportFileInput): Element {
  const isOpen = files.length <= 3;
  const moreText = `${plural(more, "more file")}: autopilot diff --stat`;

  return section(
    "Change",
    `${base.slice(0, 10)} to ${tip.slice(0, 10)}`,
    commitsPanel(report.changes),
    el(
      "div.panel.clip",
      files.length === 0 ? el("div.pad.second", "Nothing changed.") : null,
      files.map((file) => fileDetails(file, isOpen)),
      more > 0 ? el("div.pad.dim", moreText) : null,
    ),
  );
}

function commitsPanel({ commits }: ReportFileInput["report"]["changes"]): Element | null {
  if (commits.length === 0) return null;

  const rows = commits
    .slice(0, commitsMax)
    .map(({ sha, subject }) => [el("span.mono", sha.slice(0, 10)), foreignText(subject)] as const);
  const hiddenCount = commits.length - commitsMax;
  const hiddenText = `${formatNumber(hiddenCount)} more commits`;

  return el(
    "div.panel.pad",
    { style: { "margin-bottom": "12px" } },
    definitionList(rows),
    hiddenCount > 0 ? el("p.tiny.dim.gap-top", hiddenText) : null,
  );
}

function fileDetails({ path, insertions, deletions, diff }: ShownFile, isOpen: boolean): Element {
  const counts =
    insertions === null
      ? el("span.dim", "binary")
      : [
          el("span.c-ok", `+${formatNumber(insertions)}`),
          " ",
          el("span.c-bad", `−${formatNumber(deletions ?? 0)}`),
        ];
  const lines =
    diff === null
      ? el("p.pad.second", "Its lines are not in this file: autopilot diff shows them.")
      : diffTable(path, diff);

  return el(
    "details.file",
    { open: isOpen },
    el("summary", el("span.mono", foreignText(path)), "  ", counts),
    lines,
  );
}

export function claimsSection({ report }: ReportFileInput): Child {
  return [lookedUpSection(report), saidSection(report)];
}

function lookedUpSection({ looked_up: lookedUp }: ReportFileInput["report"]): Element | null {
  if (lookedUp.claims.length === 0) return null;

  return section(
    "What agents said, looked up",
    "a claim counts for nothing by itself",
    verifiedClaims(lookedUp),
  );
}

function saidSection({ claims }: ReportFileInput["report"]): Element | null {
  if (claims.length === 0) return null;

  const items = claims.map(({ agent, attempt, said }) =>
    el("div.item", el("div.tiny.dim", `${agent}, ${attempt}`), claimQuote(said)),
  );
  return section("What agents say", "their word, no proof", el("div.panel", items));
}

export function decisionsSection({ report }: ReportFileInput): Child {
  const { decisions } = report;
  if (decisions.length === 0) return null;

  const cutText = decisions.length > decisionsMax ? `; the last ${decisionsMax}` : "";
  const rows = decisions.slice(-decisionsMax).map(decisionRow);
  const table = el("table.grid.lists", tableHead("Time", "By", "What"), el("tbody", rows));

  return section(
    "Decisions",
    `what was held back, chosen or traded${cutText}`,
    el("div.panel.clip", table),
  );
}

function decisionRow({ at, actor, decision }: ShownDecision): Element {
  return el(
    "tr",
    el("td.mono.dim.no-wrap", at.slice(0, 16).replace("T", " ")),
    el("td.tiny", foreignText(actor)),
    el("td", foreignText(decision)),
  );
}
