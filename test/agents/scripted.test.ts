import { agentContract } from "./agent-contract.ts";
import { setTable } from "./table.ts";

agentContract("the scripted agent over the Agent Client Protocol", () => setTable());
