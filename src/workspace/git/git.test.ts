import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { endLeftBehind, hasSetsid, leaveBehind } from "../../../test/support/left-behind.ts";
import { scratch, scratchFolder } from "../../../test/support/scratch-repository.ts";
import { git } from "./git.ts";

test.skipIf(!hasSetsid)(
  "a call does not outlive its limit though a process left behind holds its output open (needs setsid)",
  async () => {
    const pidFile = join(scratchFolder(), "pid");
    const call = git({
      args: ["-c", `alias.hold=!{ ${leaveBehind(`cp "$0" ${pidFile}; exec sleep 600`)}; }`, "hold"],
      cwd: scratch(),
      isOwn: true,
      timeoutMs: 2_500, // time enough to leave the process behind
    });

    await expect(call).rejects.toMatchObject({ message: "git hold did not end in time." });
    expect(endLeftBehind(readFileSync(pidFile, "utf8"))).toBe(true);
  },
);
