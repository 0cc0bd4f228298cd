// What a step must not see is not there, and a step that continues another goes on in its session.

import { expect, test } from "vitest";
import { eventsOf, goScripted, journal } from "../support/autopilot.ts";
import { git, scratch, write } from "../support/scratch-repository.ts";

const flow = `flow: blind
version: 1
phases:
  - id: "1"
    steps:
      - { id: claim, agent: executor, prompt: do.md, proof: [{ file: docs/claim.md, non_empty: true, fresh: true }] }
      - { id: judge_blind, agent: judge, prompt: do.md, masks: [docs/claim.md], proof: [{ file: docs/first.md, fresh: true }] }
      - { id: judge, agent: judge, prompt: do.md, continues: judge_blind, proof: [{ file: docs/second.md, fresh: true }] }
after:
  - id: land
    steps: [{ id: merge, run: land }]
`;
const look = (to: string) => ({
  run: `mkdir -p docs; { test -e docs/claim.md && echo seen || echo blind; git log --all --format= --name-only | grep -c claim; } > ${to}; true`,
});

test("a masked file is neither in the judge's folder nor in its history, and the judge who continues finds it in the same session", async () => {
  const folder = scratch();
  write(folder, {
    ".autopilot/flows/blind/flow.yaml": flow,
    ".autopilot/flows/blind/prompts/do.md": "Do {goal}.\n",
  });

  const turns = [
    { when: { step: "claim" }, do: [{ write: { path: "docs/claim.md", text: "all good\n" } }] },
    { when: { step: "judge_blind" }, do: [look("docs/first.md")] },
    { when: { step: "judge" }, do: [look("docs/second.md")] },
  ];

  const { json } = await goScripted(folder, turns, ["--flow", "blind"]);
  expect(json, json.message).toMatchObject({ state: "completed" });
  expect(git(folder, "show", "HEAD:docs/first.md")).toBe("blind\n0");
  expect(git(folder, "show", "HEAD:docs/second.md").split("\n")[0]).toBe("seen");
  expect(git(folder, "show", "HEAD:docs/claim.md")).toBe("all good");
  const sessions = journal(folder).flatMap(({ event, attempt, session }) =>
    event === "session_opened" ? [[String(attempt).split(/[/#]/)[1], session]] : [],
  );
  expect(sessions.map(([step]) => step)).toEqual(["claim", "judge_blind", "judge"]);
  expect(sessions[2]?.[1]).toBe(sessions[1]?.[1]);
  expect(sessions[1]?.[1]).not.toBe(sessions[0]?.[1]);
  expect(eventsOf(folder, "changes_applied")).toHaveLength(3);
});
