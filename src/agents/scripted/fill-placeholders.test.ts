// What a script's result takes from the prompt.

import { expect, test } from "vitest";
import { composeOpeningPrompt } from "../opening-prompt.ts";
import { fillPlaceholders } from "./fill-placeholders.ts";

test("a name in double braces is what the prompt says behind it; one that it does not say stays", () => {
  const prompt = "# Goal\ndo it\n\ntask_id: task-a-b\nevent_nonce: 12ab\n";
  expect(
    fillPlaceholders(
      { returns: { task_id: "{{task_id}}", list: ["{{event_nonce}}", "{{other}}"], n: 1 } },
      prompt,
    ).returns,
  ).toEqual({
    task_id: "task-a-b",
    list: ["12ab", "{{other}}"],
    n: 1,
  });

  expect(
    fillPlaceholders(
      { do: [{ say: "{{task_id}}" }, { submit: { task_id: "{{task_id}}" } }] },
      prompt,
    ),
  ).toEqual({
    do: [{ say: "{{task_id}}" }, { submit: { task_id: "task-a-b" } }],
  });

  expect(fillPlaceholders({ do: [] }, prompt)).toEqual({ do: [] });
  const request = { prompt, returns: null, isInterrupted: true };
  const again = composeOpeningPrompt(request, { isResumed: true, holds: "unknown" }, false);
  expect(fillPlaceholders({ returns: { task_id: "{{task_id}}" } }, again).returns).toEqual({
    task_id: "task-a-b",
  });
});
