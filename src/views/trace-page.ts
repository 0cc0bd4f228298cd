// trace-page: renders trace spans for a person: phase by phase, each with what it was about, how
// long it took and what came of it.

import type { TraceSpan } from "../contracts/roadmap-reports.ts";
import { alignColumns } from "./align-columns.ts";
import { formatDuration, formatNumber, oneLine, plural } from "./wording.ts";

const spansMax = 500;
const inputCharsMax = 70;
const outputCharsMax = 60;

const marks: Readonly<Record<TraceSpan["status"], string>> = {
  success: "✓",
  failure: "✗",
  skipped: "·",
};

export function tracePage(spans: readonly TraceSpan[]): readonly string[] {
  const shownSpans = spans.slice(-spansMax);
  const hiddenCount = spans.length - shownSpans.length;
  const phases = [...new Set(shownSpans.map(({ phase_id }) => phase_id))];

  return [
    ...(hiddenCount > 0
      ? [`… ${formatNumber(hiddenCount)} earlier ones; --json has them all`]
      : []),
    ...phases.flatMap((phase) => {
      const phaseSpans = shownSpans.filter(({ phase_id }) => phase_id === phase);
      const failed = phaseSpans.filter(({ status }) => status === "failure").length;

      const rows = phaseSpans.map(
        ({ timestamp, step, action, input_summary, output_summary, duration_ms, status }) => [
          marks[status],
          timestamp.slice(11, 19),
          step,
          action.replace("_", " "),
          formatDuration(duration_ms),
          oneLine(input_summary, inputCharsMax),
          oneLine(output_summary, outputCharsMax),
        ],
      );

      return [
        `Phase ${oneLine(phase)}: ${plural(phaseSpans.length, "span")}${failed === 0 ? "" : `, ${formatNumber(failed)} failed`}`,
        ...alignColumns(rows, { right: [4] }).map((line) => `  ${line}`),
        "",
      ];
    }),
  ];
}
