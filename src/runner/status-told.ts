import type { RunView } from "../core/state.ts";
import { statusOf, statusPage } from "../views/status.ts";
import type { StatusTold } from "./status-shelf.ts";

/** What `status` says of a run and whoever works on it. */
export function statusTold(view: RunView, owner: { readonly pid: number } | null): StatusTold {
  const { run_id: _id, state, reason_code, ...data } = statusOf(view, owner);
  return {
    reason_code,
    state,
    page: statusPage(view, owner),
    data: { ...data, face: view.drafted.flow.face ?? null, pid: owner?.pid ?? null },
  };
}
