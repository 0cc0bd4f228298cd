// isolation-in-force: schema of a run's isolation: its level, what it enforces and what it does
// not.

import * as v from "valibot";

/**
 * `mechanism`: how the level is implemented here. `enforced` and `not_enforced` are phrases for
 * people, such as `writes`.
 */
export const IsolationInForce = v.strictObject({
  level: v.string(),
  mechanism: v.string(),
  enforced: v.array(v.string()),
  not_enforced: v.array(v.string()),
});
export type IsolationInForce = v.InferOutput<typeof IsolationInForce>;
