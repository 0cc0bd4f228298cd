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
import { formatNumber, plural, shortNumber } from "./page-figures.ts";

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

export function phasesSection({ report }: ReportFileInput): Element {
  const shapes: Readonly<Record<string, "ok" | "bad" | "you" | "run" | "skipped" | "waits">> = {
    completed: "ok",
    failed: "bad",
    needs_human_verification: "you",
    in_progress: "run",
    skipped: "skipped",
  };

  return section(
    "Phases",
    "",
    el(
      "div.panel.clip",
      el(
        "table.grid.lists",
        tableHead("Phase", "State", "Score", "Tokens", "Took"),
        el(
          "tbody",
          report.phases.map(({ id, name, status: word, score, tokens, duration_minutes }) =>
            el(
              "tr",
              el("th", { scope: "row" }, foreignText(`${id}  ${name}`)),
              el("td", stateLabel(shapes[word] ?? "waits", word.replaceAll("_", " "))),
              el("td.n", { "data-label": "score" }, score === null ? "–" : formatNumber(score)),
              el("td.n", { "data-label": "tokens" }, shortNumber(tokens)),
              el("td.n", formatAmount("minutes", duration_minutes)),
            ),
          ),
        ),
      ),
    ),
  );
}

export function changeSection({ files, more, base, tip, report }: ReportFileInput): Element {
  return section(
    "Change",
    `${base.slice(0, 10)} to ${tip.slice(0, 10)}`,
    report.changes.commits.length === 0
      ? null
      : el(
          "div.panel.pad",
          { style: { "margin-bottom": "12px" } },
          definitionList(
            report.changes.commits
              .slice(0, commitsMax)
              .map(({ sha, subject }) => [el("span.mono", sha.slice(0, 10)), foreignText(subject)]),
          ),
          report.changes.commits.length > commitsMax
            ? el(
                "p.tiny.dim.gap-top",
                `${formatNumber(report.changes.commits.length - commitsMax)} more commits`,
              )
            : null,
        ),
    el(
      "div.panel.clip",
      files.length === 0 ? el("div.pad.second", "Nothing changed.") : null,
      files.map(({ path, insertions, deletions, diff }) =>
        el(
          "details.file",
          { open: files.length <= 3 },
          el(
            "summary",
            el("span.mono", foreignText(path)),
            "  ",
            insertions === null
              ? el("span.dim", "binary")
              : [
                  el("span.c-ok", `+${formatNumber(insertions)}`),
                  " ",
                  el("span.c-bad", `−${formatNumber(deletions ?? 0)}`),
                ],
          ),
          diff === null
            ? el("p.pad.second", "Its lines are not in this file: autopilot diff shows them.")
            : diffTable(path, diff),
        ),
      ),
      more > 0 ? el("div.pad.dim", `${plural(more, "more file")}: autopilot diff --stat`) : null,
    ),
  );
}

export function claimsSection({ report }: ReportFileInput): Child {
  return [
    report.looked_up.claims.length === 0
      ? null
      : section(
          "What agents said, looked up",
          "a claim counts for nothing by itself",
          verifiedClaims(report.looked_up),
        ),
    report.claims.length === 0
      ? null
      : section(
          "What agents say",
          "their word, no proof",
          el(
            "div.panel",
            report.claims.map(({ agent, attempt, said: text }) =>
              el("div.item", el("div.tiny.dim", `${agent}, ${attempt}`), claimQuote(text)),
            ),
          ),
        ),
  ];
}

export function decisionsSection({ report }: ReportFileInput): Child {
  if (report.decisions.length === 0) return null;
  return section(
    "Decisions",
    `what was held back, chosen or traded${report.decisions.length > decisionsMax ? `; the last ${decisionsMax}` : ""}`,
    el(
      "div.panel.clip",
      el(
        "table.grid.lists",
        tableHead("Time", "By", "What"),
        el(
          "tbody",
          report.decisions
            .slice(-decisionsMax)
            .map(({ at, actor, decision }) =>
              el(
                "tr",
                el("td.mono.dim.no-wrap", at.slice(0, 16).replace("T", " ")),
                el("td.tiny", foreignText(actor)),
                el("td", foreignText(decision)),
              ),
            ),
        ),
      ),
    ),
  );
}
