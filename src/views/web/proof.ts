// proof: what the runner proved, and beside it, never mixed with it, what agents said.

import type { Proved, ReportView } from "../report.ts";
import { duration } from "../wording.ts";
import { type Child, el, type Element, foreignText } from "./element.ts";
import { claim, command } from "./pieces.ts";
import { mark, status } from "./shapes.ts";
import type { Shape } from "../facts/shape.ts";

const shapes: Partial<Record<Proved["status"], Shape>> = { passed: "ok", failed: "bad", flaky: "gap" };
const statusShape = (checkStatus: Proved["status"]): Shape => shapes[checkStatus] ?? "unproved";
const wordOf = (checkStatus: string): string => checkStatus.replaceAll("_", " ");
/** Failed checks come first, passed ones last. */
const ranks: Partial<Record<Proved["status"], number>> = { failed: 0, passed: 2 };
const rank = (checkStatus: Proved["status"]): number => ranks[checkStatus] ?? 1;

const openShape = (check: string | null): Shape => (check === null ? "unproved" : "waits");

export function proofTable(evidence: readonly Proved[], onCopy?: (text: string) => void): Element {
  const rows = evidence.toSorted((a, b) => rank(a.status) - rank(b.status));
  return el(
    "div.panel.clip",
    el(
      "table.grid.lists",
      el("thead", el("tr", ...["Check", "Command", "Before", "Now", "Took"].map((name) => el("th", { scope: "col" }, name)))),
      el(
        "tbody",
        rows.map((row) =>
          el(
            "tr",
            { key: row.id },
            el("th", { scope: "row" }, el("span.row.top", mark(statusShape(row.status)), el("span", foreignText(row.title)))),
            el(
              "td",
              command(row.command, onCopy),
              row.why === undefined ? null : el("div.tiny.second.gap-top", foreignText(row.why)),
              excerpt(row),
            ),
            el("td.dim.tiny", { "data-label": "before" }, wordOf(row.before)),
            el("td.no-wrap", { "data-label": "now" }, wordOf(row.status), row.exit_code === null ? "" : `, exit ${row.exit_code}`),
            el("td.n.dim", duration(row.duration_ms)),
          ),
        ),
      ),
    ),
  );
}

function excerpt({ excerpt: text, status: word }: Proved): Child {
  if (text === undefined || text === "") return null;
  return el("details", { open: word === "failed" }, el("summary", "What it printed last"), el("pre", { tabindex: "0" }, foreignText(text)));
}

/** `more`: what the goal says besides its first line. */
export const criteriaList = (criteria: ReportView["criteria"], more = ""): Element =>
  el(
    "ul.panel",
    more === "" ? null : el("li.item.second", { style: { "white-space": "pre-wrap" } }, foreignText(more)),
    criteria.map(({ id, text, check, proved }) =>
      el(
        "li.item.row.top",
        { key: id },
        mark(proved ? "ok" : openShape(check)),
        el(
          "div.grow",
          foreignText(text),
          check === null ? el("div.tiny.dim", "It has no check, so nothing can prove it.") : el("div.tiny.dim.mono", foreignText(check)),
        ),
        el("span.tiny.second", proved ? "proved" : "not proved"),
      ),
    ),
  );

/** Claims that turned out false come first. */
export function lookedUp({ claims, ...counts }: ReportView["looked_up"]): Element {
  const shapes = { true: "ok", false: "bad", unverifiable: "unproved" } as const;
  const verdictLabels = { true: "so it is", false: "not so", unverifiable: "cannot be looked up" } as const;
  const order = { false: 0, unverifiable: 1, true: 2 } as const;
  return el(
    "div.panel",
    el(
      "div.tiny.dim.pad",
      `${counts.true} found true, ${counts.false} found false, ${counts.unverifiable} that nothing can decide. A claim counts for nothing by itself.`,
    ),
    claims
      .toSorted((a, b) => order[a.verdict] - order[b.verdict])
      .slice(0, 40)
      .map((item) =>
        el(
          "div.pair",
          { key: `${item.attempt} ${item.text}` },
          el("div", el("div.tiny.dim", `${item.agent} says`), claim(item.text)),
          el("div", status(shapes[item.verdict], verdictLabels[item.verdict]), el("div.second", foreignText(item.why))),
        ),
      ),
  );
}
