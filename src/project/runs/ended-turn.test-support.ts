// ended-turn: the outcome of a turn, for tests.

import type { EndedTurn } from "../../ports/turn-receipts.ts";

export const endedTurn = (
  attempt: string,
  report: EndedTurn["report"] = { said: "done", claim: undefined },
): EndedTurn => ({
  event: {
    event: "turn_ended",
    attempt,
    actor: "agent:fake",
    reason_code: "ok",
    agent: "fake",
    stop: "end_turn",
    says: {},
    said: report.said.slice(0, 10),
    promised: true,
    announced_more: false,
    confidence: null,
    usage: { tokens: 1, calls: 1, minutes: 0, source: "metered" },
  },
  report,
});
