// quality-function-names: the names and effects of the quality playbook's functions, without
// loading their code.

import type { FunctionNames } from "../../contract/lazy-functions.ts";

export const qualityFunctionNames = {
  run: {
    docs_present: "none",
    docs_note: "keyed",
    phase_found: "keyed",
    phase_tally: "none",
    terminal_gate: "none",
    red_logs: "keyed",
    run_agrees: "none",
  },
  proof: ["terminal_gate", "bugs_shown"],
  phases: [],
  tasks: [],
  version: 1,
} as const satisfies FunctionNames;
