// Which blobs a journal refers to: one that is missing is noticed only if it is listed.

import { expect, test } from "vitest";
import type { Entry } from "../../contracts/event.ts";
import { listBlobHashes } from "./verify-records.ts";

const entry = (fields: object): Entry => fields as Entry;

test("a draft refers to its prompts, those of the flows it calls, its documents, and every agent's script", () => {
  const drafted = entry({
    event: "run_drafted",
    prompts: { "do.md": "prompt" },
    called: [{ prompts: { "fix.md": "called" } }],
    documents: [{ path: "ROADMAP.md", hash: "document" }],
    cast: {
      executor: {
        agent: "scripted",
        script: "first",
        instead: [{ agent: "scripted", script: "second" }, { agent: "claude" }],
      },
    },
  });
  expect(listBlobHashes(drafted)).toEqual(["prompt", "called", "first", "second", "document"]);
});

test("a changed policy refers to its scripts and documents, a switch to the script of the agent that goes on", () => {
  const cast = { executor: { agent: "scripted", script: "other" } };
  expect(
    listBlobHashes(
      entry({ event: "policy_changed", cast, documents: [{ path: "SPEC.md", hash: "spec" }] }),
    ),
  ).toEqual(["other", "spec"]);

  expect(
    listBlobHashes(
      entry({ event: "agent_switched", player: { agent: "scripted", script: "next" } }),
    ),
  ).toEqual(["next"]);
});
