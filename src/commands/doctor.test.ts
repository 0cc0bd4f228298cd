// doctor's answer follows from what is missing: a cross on the screen is never exit 0.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reasons } from "../contracts/reason.ts";
import { checkCodeCache, doctorCode } from "./doctor.ts";

test("something needed that is missing ends doctor with 1", () => {
  const codes = [["node_modules"], ["agents"], ["isolation bwrap"], ["git", "agents"]].map(
    doctorCode,
  );
  expect(codes).toEqual([
    "tools_missing",
    "agent_unavailable",
    "tools_missing",
    "workspace_unusable",
  ]);

  expect(codes.map((code) => reasons[code].result)).toEqual(["FAIL", "FAIL", "FAIL", "FAIL"]);
  expect(doctorCode([])).toBe("ok");
});

test("a code cache that is not the user's alone is told of, and is no fault", () => {
  const cache = mkdtempSync(join(tmpdir(), "autopilot-doctor-"));
  try {
    expect(checkCodeCache({ env: { XDG_CACHE_HOME: cache } })).toEqual([]);
    chmodSync(cache, 0o777);
    expect(checkCodeCache({ env: { XDG_CACHE_HOME: cache } })).toMatchObject([
      {
        name: "code cache",
        ok: true,
        found: `not used, so starts are slower: others may write to ${cache}`,
      },
    ]);

    expect(checkCodeCache({ env: { XDG_CACHE_HOME: cache, AUTOPILOT_CODE_CACHE: "off" } })).toEqual(
      [],
    );
  } finally {
    rmSync(cache, { recursive: true });
  }
});
