import { describe, expect, it } from "vitest";
import { Check } from "./evidence.ts";
import { isSecretFromAgent, nameForAgent, titleSecretCheck } from "./secret-checks.ts";

const command = "npm run hidden-acceptance";
const checkOfKind = (kind: Check["kind"]): Check => ({
  id: `${kind}:1`,
  kind,
  title: titleSecretCheck(1),
  command,
  source: "objective",
});

describe("checks that are kept from the agent", () => {
  it("are the hold-outs alone", () => {
    const secret = Check.entries.kind.options.filter((kind) => isSecretFromAgent({ kind }));
    expect(secret).toEqual(["holdout"]);
  });

  it("are named by a title that says nothing of their command", () => {
    expect(nameForAgent(checkOfKind("holdout"))).toBe("holdout 1");
  });

  it("leave every other check its command", () => {
    expect(nameForAgent(checkOfKind("criterion"))).toBe(command);
  });
});
