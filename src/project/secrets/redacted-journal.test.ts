// A draft with a secret in one of its texts: whatever refers to the text refers to it as it is
// stored.

import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { redactDraft } from "./redacted-journal.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

test("the prompts of a flow that is called are found under their redacted hash", () => {
  const redactor = { text: (text: string) => text.replace("s3cret", "***") };
  const event = {
    prompts: {},
    cast: {},
    checks: [],
    called: [{ prompts: { "do.md": hash("use s3cret") } }],
  };
  const redacted = redactDraft(redactor as never, event as never, ["use s3cret"]);
  expect(redacted.blobs).toEqual(["use ***"]);
  expect(redacted.event.called?.[0]?.prompts).toEqual({ "do.md": hash("use ***") });
});
