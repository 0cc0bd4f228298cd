import { describe, expect, test } from "vitest";
import {
  countBugHeadings,
  findBugIds,
  countFindings,
  countIds,
  mentionsId,
  mentionsPattern,
} from "./count-in-documents.ts";

describe("what documents hold, counted", () => {
  test("bugs by their headings, of the third level and no other", () => {
    const bugs =
      "# Bugs\n### BUG-001: one\n#### BUG-002\n## BUG-003\n### BUG-004\ntext ### BUG-005\n### BUG-\n";
    expect(findBugIds(bugs)).toEqual(["BUG-001", "BUG-004"]);
    expect(countBugHeadings(bugs)).toBe(3);
    expect(findBugIds(null)).toEqual([]);
  });

  test("an id may have words before its number, and ends with it", () => {
    expect(
      findBugIds(
        "### BUG-H-1: a\n### BUG-H-2 b\n### BUG-AUTH-LOGIN-3\n### BUG-004-a slug\n### BUG-H-\n",
      ),
    ).toEqual(["BUG-H-1", "BUG-H-2", "BUG-AUTH-LOGIN-3", "BUG-004", "BUG-H"]);

    expect(countIds("### REQ-H-1\n### REQ-H-2\n### REQ-M-1\n", "REQ")).toBe(3);
  });

  test.each([
    ["a section each", "## Finding 1\nx\n## Finding two\ny\n## Risks\n", 2],
    ["numbered sections", "# E\n## 1. One\n## 2. Two\n## 10. Ten\n", 3],
    [
      "headings under the one that gathers them",
      "## Open Exploration Findings\n### F-1\n- detail\n### F-2\n## Next\n### no finding\n",
      2,
    ],
    [
      "items under it, where it has no headings",
      "## Open Exploration Findings\n- one\n- two\n  - not one\n3. three\n",
      3,
    ],
    ["none", "# E\n### Finding of the third level\n", 0],
  ])("findings: %s", (_what, text, count) => expect(countFindings(text)).toBe(count));

  test("requirements by the ids of headings, else by those that begin a line; each once", () => {
    expect(countIds("### REQ-001: a\nsee REQ-009\n### More on REQ-001\n### REQ-002\n", "REQ")).toBe(
      2,
    );

    expect(countIds("# R\n- **REQ-1** a\n| REQ-2 | b |\nREQ-2 again\nas REQ-3 says\n", "REQ")).toBe(
      2,
    );

    expect(countIds(null, "UC")).toBe(0);
  });

  test("an id is a word of its own, and a pattern a number of its own", () => {
    expect(mentionsId("BUG-10 and F-1.", "BUG-1")).toBe(false);
    expect(mentionsId("BUG-10 and F-1.", "F-1")).toBe(true);
    expect(mentionsId("anything", " ")).toBe(false);
    expect(mentionsPattern("### Pattern 1: x\npattern #3", 3)).toBe(true);
    expect(mentionsPattern("### Pattern 12", 1)).toBe(false);
  });
});
