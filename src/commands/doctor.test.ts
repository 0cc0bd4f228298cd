// doctor's answer follows from what is missing: a cross on the screen is never exit 0.

import { expect, test } from "vitest";
import { reasons } from "../contracts/reason.ts";
import { doctorCode } from "./doctor.ts";

test("something needed that is missing ends doctor with 1", () => {
  const codes = [["node_modules"], ["agents"], ["isolation bwrap"], ["git", "agents"]].map(doctorCode);
  expect(codes).toEqual(["tools_missing", "agent_unavailable", "tools_missing", "workspace_unusable"]);
  expect(codes.map((code) => reasons[code].result)).toEqual(["FAIL", "FAIL", "FAIL", "FAIL"]);
  expect(doctorCode([])).toBe("ok");
});
