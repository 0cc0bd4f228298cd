// run-lines: renders a run as a row of a list: a run at work in full or in brief, and a run that
// ended.

import type { RunCard } from "../../../../views/facts/run-card.ts";
import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import { limitMeter, segmentTrack, timeElement } from "../../../../views/web/components.ts";
import { stateIcon } from "../../../../views/web/icons.ts";
import {
  formatElapsed,
  formatMoney,
  formatShare,
  shortNumber,
} from "../../../../views/web/format-numbers.ts";
import { pageLink, serverNow, state } from "../store.ts";

/** A run far down a long list, until the rest of its row is drawn. */
export const briefRunLine = (run: RunCard): Element =>
  el(
    "a.item.run-line",
    { href: pageLink("run", run.key), "data-row": "", key: run.key },
    el("span.title", el("b.cut", foreignText(run.goal)), el("span.hidden-text", `, ${run.word}`)),
    el("span.now-line", el("span.project", foreignText(run.project))),
  );

export function runLine(run: RunCard): Element {
  const isParked = run.shape === "parked" && run.parkedUntil !== null;
  return el(
    "a.item.run-line",
    { href: pageLink("run", run.key), "data-row": "", key: run.key },
    el(
      "span.title",
      stateIcon(run.shape),
      el("b.cut", foreignText(run.goal)),
      run.foreign ? el("span.tiny.dim.no-wrap", "from elsewhere") : null,
      el("span.hidden-text", `, ${run.word}`),
    ),
    el(
      "span.gauge",
      segmentTrack(run.segments, run.progressText),
      el("span.num", run.progressText),
    ),
    el("span.gauge.budget", budgetGauge(run)),
    el(
      "span.tiny.dim.right.no-wrap.num",
      isParked
        ? `until ${run.parkedUntil.slice(11, 16)}`
        : formatElapsed(run.started_at, serverNow()),
    ),
    el(
      "span.now-line",
      el("span.project", foreignText(run.project)),
      run.hasOwner && run.shape === "run" ? el("span.pulse") : null,
      el("span.cut", activity(run)),
    ),
  );
}

function budgetGauge({ fullestLimit }: RunCard): Child {
  if (fullestLimit === null) return null;
  return [
    limitMeter(
      fullestLimit.ratio,
      fullestLimit.soft,
      `${formatShare(fullestLimit.ratio)} of ${fullestLimit.of}`,
    ),
    el("span.num", `${formatShare(fullestLimit.ratio)} ${fullestLimit.of}`),
  ];
}

/** What the run does now, or why it doesn't go on. */
function activity(run: RunCard): Child {
  const liveLine = state.overview?.liveLines[run.key] ?? "";
  if (liveLine !== "") return foreignText(liveLine);
  if (run.shape === "run") return el("span.dim", foreignText(run.currentPlace));

  return el("span.dim", run.shape === "paused" ? foreignText(run.meaning) : run.word);
}

export function endedLine(run: RunCard): Element {
  const proof =
    run.criteriaCount === 0
      ? run.progressText
      : `${run.provedCount} of ${run.criteriaCount} proved`;
  return el(
    "a.item.ended",
    { href: pageLink("run", run.key), "data-row": "", key: run.key },
    stateIcon(run.shape),
    el("span.cut", foreignText(run.goal), " ", el("span.dim.tiny", foreignText(run.project))),
    el("span.tiny.second.no-wrap", `${run.word}${proof === "" ? "" : `, ${proof}`}`),
    el(
      "span.tiny.dim.num.right",
      run.usd > 0 ? formatMoney(run.usd) : `${shortNumber(run.tokens)} tokens`,
    ),
    el("span.tiny.dim.num.right", timeElement(run.ended_at ?? run.updated_at)),
  );
}
