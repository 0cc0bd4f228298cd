import { expect, test } from "vitest";
import { runView } from "../views/run-view.test-support.ts";
import { toRequestEvent } from "./record-requests.ts";

test("a person's pause stays a person's when the machine asks for one as well", () => {
  const own = {
    event: "control_requested",
    control: "pause",
    now: true,
    request: "r",
    actor: "operator:kim",
    detail: "handed back",
  } as const;

  expect(toRequestEvent(runView({ status: "running" }), own)).toMatchObject({
    detail: "handed back",
    now: true,
  });

  const asked = runView({ status: "running", asked: "pause", asker: { actor: "operator:kim" } });
  expect(toRequestEvent(asked, own)).toMatchObject({ now: true, reason_code: "operator_paused" });
  expect(toRequestEvent(asked, own)).not.toHaveProperty("detail");
  expect(toRequestEvent(asked, { ...own, control: "stop" })).toMatchObject({
    detail: "handed back",
  });
});
