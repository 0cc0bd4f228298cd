// crash-state: schema of what is known about an attempt that a crash left open; input of the
// recovery table.

import * as v from "valibot";

/**
 * The crash state of an attempt; core/recovery.ts has a row for each. `stage`: how far it came.
 * `layer`: the folder its agent worked in; `intact` is what the recorded turn left. `done`: its
 * effect is found, for example its commit. `proof`: its proof holds. `often`: it has crashed the
 * runner too many times.
 */
export const CrashState = v.strictObject({
  kind: v.picklist(["agent", "check", "run", "tasks", "flow"]),
  stage: v.picklist(["started", "turned", "applied"]),
  layer: v.picklist(["absent", "dirty", "intact"]),
  done: v.boolean(),
  proof: v.boolean(),
  often: v.boolean(),
});
export type CrashState = v.InferOutput<typeof CrashState>;
