import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refuseInside } from "./inside-repository.ts";
import { answered, reply } from "./reply.ts";

test("a run begun in a folder of the repository is refused with where checks run and what to do", async () => {
  const root = mkdtempSync(join(tmpdir(), "inside-"));
  try {
    mkdirSync(join(root, "packages/api"), { recursive: true });
    symlinkSync(root, join(root, "link"));
    const begun = (cwd: string) => answered(() => Promise.resolve((refuseInside({ cwd }, { root }), reply("ok", { message: "begun" }))));
    expect(await begun(root)).toMatchObject({ message: "begun" });
    expect(await begun(join(root, "link"))).toMatchObject({ message: "begun" });
    expect(await begun(join(root, "packages/api"))).toMatchObject({
      result: "FAIL",
      reason_code: "workspace_unusable",
      message: expect.stringContaining("You are in packages/api/, but checks and criteria run in the root") as string,
      remediation: ['autopilot -C ../.. go "GOAL" --scope "packages/api/**" --done-criteria "TEXT :: cd packages/api && COMMAND"'],
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
