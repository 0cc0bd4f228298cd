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
  const checks = evidence.toSorted((a, b) => rank(a.status) - rank(b.status));
  const head = tableHead("Check", "Command", "Before", "Now", "Took");
  const rows = checks.map((check) => checkRow(check, onCopy));
  return el("div.panel.clip", el("table.grid.lists", head, el("tbody", rows)));
}

function checkRow(check: ReportedCheck, onCopy: ((text: string) => void) | undefined): Element {
  const icon = stateIcon(statusShape(check.status));
  const title = el("span.row.top", icon, el("span", foreignText(check.title)));
  const why =
    check.why === undefined ? null : el("div.tiny.second.gap-top", foreignText(check.why));
  const exitText = check.exit_code === null ? "" : `, exit ${check.exit_code}`;

  return el(
    "tr",
    { key: check.id },
    el("th", { scope: "row" }, title),
    el("td", commandBox(check.command, onCopy), why, outputExcerpt(check)),
    el("td.dim.tiny", { "data-label": "before" }, statusText(check.before)),
    el("td.no-wrap", { "data-label": "now" }, statusText(check.status), exitText),
    el("td.n.dim", formatDuration(check.duration_ms)),
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
export function criteriaList(criteria: ReportView["criteria"], goalRest = ""): Element {
  const style = { "white-space": "pre-wrap" };
  const goal = goalRest === "" ? null : el("li.item.second", { style }, foreignText(goalRest));
  return el("ul.panel", goal, criteria.map(criterionItem));
}

function criterionItem({ id, text, check, proved }: ReportView["criteria"][number]): Element {
  const checkLine =
    check === null
      ? el("div.tiny.dim", "It has no check, so nothing can prove it.")
      : el("div.tiny.dim.mono", foreignText(check));

  return el(
    "li.item.row.top",
    { key: id },
    stateIcon(proved ? "ok" : unprovedShape(check)),
    el("div.grow", foreignText(text), checkLine),
    el("span.tiny.second", proved ? "proved" : "not proved"),
  );
}

/** How many claims are shown; the counts above them have all. */
const claimsMax = 40;

const verdictShapes = { true: "ok", false: "bad", unverifiable: "unproved" } as const;
const verdictLabels = {
  true: "so it is",
  false: "not so",
  unverifiable: "cannot be looked up",
} as const;
const verdictRanks = { false: 0, unverifiable: 1, true: 2 } as const;

/** Agents' claims as the runner checked them; those that turned out false come first. */
export function verifiedClaims({ claims, ...counts }: ReportView["looked_up"]): Element {
  const falseFirst = claims.toSorted((a, b) => verdictRanks[a.verdict] - verdictRanks[b.verdict]);
  const summary = `${counts.true} found true, ${counts.false} found false, ${counts.unverifiable} that nothing can decide. A claim counts for nothing by itself.`;

  return el(
    "div.panel",
    el("div.tiny.dim.pad", summary),
    falseFirst.slice(0, claimsMax).map(claimPair),
  );
}

function claimPair(claim: ReportView["looked_up"]["claims"][number]): Element {
  const { attempt, text, agent, verdict, why } = claim;

  return el(
    "div.pair",
    { key: `${attempt} ${text}` },
    el("div", el("div.tiny.dim", `${agent} says`), claimQuote(text)),
    el(
      "div",
      stateLabel(verdictShapes[verdict], verdictLabels[verdict]),
      el("div.second", foreignText(why)),
    ),
  );
}
