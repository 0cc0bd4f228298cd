import { unreachable } from "../kit/never.ts";
import { agentDeed } from "./agent-deed.ts";
import { checkDeed } from "./check-deed.ts";
import { type Deed, openOf } from "./deed.ts";
import { flowDeed } from "./flow-deed.ts";
import { runDeed } from "./run-deed.ts";
import { tasksDeed } from "./tasks-deed.ts";

/** Does the attempt's deed from the stage the journal knows, and writes how it ended. */
export function perform(deed: Deed): Promise<void> {
  const { kind } = openOf(deed);
  switch (kind) {
    case "agent":
      return agentDeed(deed);
    case "check":
      return checkDeed(deed);
    case "run":
      return runDeed(deed);
    case "tasks":
      return tasksDeed(deed);
    case "flow":
      return flowDeed(deed);
    default:
      return unreachable(kind);
  }
}
