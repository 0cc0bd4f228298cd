// What a script's result takes from the prompt.

import { expect, test } from "vitest";
import { filled } from "./filled.ts";

test("a name in double braces is what the prompt says behind it; one that it does not say stays", () => {
  const prompt = "# Goal\ndo it\n\ntask_id: task-a-b\nevent_nonce: 12ab\n";
  expect(filled({ returns: { task_id: "{{task_id}}", list: ["{{event_nonce}}", "{{other}}"], n: 1 } }, prompt).returns).toEqual({
    task_id: "task-a-b",
    list: ["12ab", "{{other}}"],
    n: 1,
  });
  expect(filled({ do: [{ say: "{{task_id}}" }, { submit: { task_id: "{{task_id}}" } }] }, prompt)).toEqual({
    do: [{ say: "{{task_id}}" }, { submit: { task_id: "task-a-b" } }],
  });
  expect(filled({ do: [] }, prompt)).toEqual({ do: [] });
});
