import { kindOf } from "../contracts/flow.ts";
import { unreachable } from "../kit/never.ts";
import { agentDeed } from "./agent-deed.ts";
import { checkDeed } from "./check-deed.ts";
import { type Deed, settingOf } from "./deed.ts";
import { flowDeed } from "./flow-deed.ts";
import { runDeed } from "./run-deed.ts";
import { tasksDeed } from "./tasks-deed.ts";

/** Does the attempt's deed from the stage the journal knows, and writes how it ended. */
export async function perform(deed: Deed): Promise<void> {
  const kind = kindOf(settingOf(deed).step);
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
    case "human":
      throw new Error("a human step has no deed");
    default:
      return unreachable(kind);
  }
}
