// From source, programs that are shipped beside the command are found in dist. One that is not
// found would make levels of isolation that need it look as if this machine had none.

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { findToolServer, findScriptedAgent } from "../../src/runner/shipped-programs.ts";
import { findEgressProgram } from "../../src/workspace/isolation/egress.ts";

test("every program that is shipped beside the command is found from source", () => {
  for (const path of [findEgressProgram(), findScriptedAgent(), findToolServer()]) {
    expect(existsSync(path)).toBe(true);
  }
});
