import { describe, expect, test } from "vitest";
import { flowOf } from "./flows.ts";
import { essenceOf, live } from "./live.ts";
import { stories } from "./stories.ts";

describe("every story ends as it should", () => {
  test.each(stories.map((story) => [story.name, story] as const))("%s", async (_name, story) => {
    const lived = await live(story, flowOf(story.flow));
    expect(
      story.endsWell(lived.run, lived.journal),
      JSON.stringify({ why: lived.why, essence: essenceOf(lived) }),
    ).toBe(true);
  });
});
