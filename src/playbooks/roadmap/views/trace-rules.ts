// trace-rules: validates TRACE.jsonl: every line must be a span; extra fields are allowed.

import { TraceSpan } from "../../../contracts/roadmap-reports.ts";
import type { LineRules, Violations } from "../../../documents/line-rules.ts";
import { openRecordRules } from "../../../documents/record-rules.ts";

export const openTraceRules = (violations: Violations): LineRules =>
  openRecordRules(violations, {
    record: TraceSpan,
    names: { json: "TR-json", field: "TR-field", enum: "TR-enum" },
  });
