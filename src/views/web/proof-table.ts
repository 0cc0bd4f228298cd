// proof-table: renders what the runner proved, the criteria, and what checking the agents' claims
// found.

import type { ReportedCheck, ReportView } from "../report.ts";
import { formatDuration } from "../wording.ts";
import { type Child, el, type Element, foreignText } from "./element.ts";
import { claimQuote, commandBox, tableHead } from "./components.ts";
import { stateIcon, stateLabel } from "./icons.ts";
import type { Shape } from "../facts/shape.ts";

const checkShapes: Partial<Record<ReportedCheck["status"], Shape>> = {
  passed: "ok",
  failed: "bad",
  flaky: "gap",
};
const statusShape = (checkStatus: ReportedCheck["status"]): Shape =>
  checkShapes[checkStatus] ?? "unproved";
const statusText = (checkStatus: string): string => checkStatus.replaceAll("_", " ");
/** Failed checks come first, passed ones last. */
const ranks: Partial<Record<ReportedCheck["status"], number>> = { failed: 0, passed: 2 };
const rank = (checkStatus: ReportedCheck["status"]): number => ranks[checkStatus] ?? 1;

const unprovedShape = (check: string | null): Shape => (check === null ? "unproved" : "waits");

export function proofTable(
  evidence: readonly ReportedCheck[],
  onCopy?: (text: string) => void,
): Element {
  const rows = evidence.toSorted((a, b) => rank(a.status) - rank(b.status));
  return el(
    "div.panel.clip",
    el(
      "table.grid.lists",
      tableHead("Check", "Command", "Before", "Now", "Took"),
      el(
        "tbody",
        rows.map((row) =>
          el(
            "tr",
            { key: row.id },
            el(
              "th",
              { scope: "row" },
              el(
                "span.row.top",
                stateIcon(statusShape(row.status)),
                el("span", foreignText(row.title)),
              ),
            ),
            el(
              "td",
              commandBox(row.command, onCopy),
              row.why === undefined ? null : el("div.tiny.second.gap-top", foreignText(row.why)),
              outputExcerpt(row),
            ),
            el("td.dim.tiny", { "data-label": "before" }, statusText(row.before)),
            el(
              "td.no-wrap",
              { "data-label": "now" },
              statusText(row.status),
              row.exit_code === null ? "" : `, exit ${row.exit_code}`,
            ),
            el("td.n.dim", formatDuration(row.duration_ms)),
          ),
        ),
      ),
    ),
  );
}

function outputExcerpt({ excerpt, status }: ReportedCheck): Child {
  if (excerpt === undefined || excerpt === "") return null;
  return el(
    "details",
    { open: status === "failed" },
    el("summary", "What it printed last"),
    el("pre", { tabindex: "0" }, foreignText(excerpt)),
  );
}

/** `goalRest`: the goal without its first line. */
export const criteriaList = (criteria: ReportView["criteria"], goalRest = ""): Element =>
  el(
    "ul.panel",
    goalRest === ""
      ? null
      : el("li.item.second", { style: { "white-space": "pre-wrap" } }, foreignText(goalRest)),
    criteria.map(({ id, text, check, proved }) =>
      el(
        "li.item.row.top",
        { key: id },
        stateIcon(proved ? "ok" : unprovedShape(check)),
        el(
          "div.grow",
          foreignText(text),
          check === null
            ? el("div.tiny.dim", "It has no check, so nothing can prove it.")
            : el("div.tiny.dim.mono", foreignText(check)),
        ),
        el("span.tiny.second", proved ? "proved" : "not proved"),
      ),
    ),
  );

/** How many claims are shown; the counts above them have all. */
const claimsMax = 40;

/** Agents' claims as the runner checked them; those that turned out false come first. */
export function verifiedClaims({ claims, ...counts }: ReportView["looked_up"]): Element {
  const verdictShapes = { true: "ok", false: "bad", unverifiable: "unproved" } as const;
  const verdictLabels = {
    true: "so it is",
    false: "not so",
    unverifiable: "cannot be looked up",
  } as const;

  const verdictRanks = { false: 0, unverifiable: 1, true: 2 } as const;
  return el(
    "div.panel",
    el(
      "div.tiny.dim.pad",
      `${counts.true} found true, ${counts.false} found false, ${counts.unverifiable} that nothing can decide. A claim counts for nothing by itself.`,
    ),
    claims
      .toSorted((a, b) => verdictRanks[a.verdict] - verdictRanks[b.verdict])
      .slice(0, claimsMax)
      .map((item) =>
        el(
          "div.pair",
          { key: `${item.attempt} ${item.text}` },
          el("div", el("div.tiny.dim", `${item.agent} says`), claimQuote(item.text)),
          el(
            "div",
            stateLabel(verdictShapes[item.verdict], verdictLabels[item.verdict]),
            el("div.second", foreignText(item.why)),
          ),
        ),
      ),
  );
}
