// status-summary: summarises a run for `status`: reason code, state, page and data.

import type { RunView } from "../core/state.ts";
import { statusDetails, statusPage } from "../views/status-page.ts";
import { buildStatusView } from "../views/status.ts";
import type { StatusSummary } from "./status-cache.ts";

export function summarizeStatus(
  view: RunView,
  owner: { readonly pid: number } | null,
): StatusSummary {
  const page = statusPage(view, owner);
  const { run_id: _id, state, reason_code, ...data } = buildStatusView(view, owner);
  return {
    reason_code,
    state,
    page,
    whole: [...page, ...statusDetails(view, owner)],
    data: { ...data, playbook: view.drafted.flow.playbook ?? null, pid: owner?.pid ?? null },
  };
}
