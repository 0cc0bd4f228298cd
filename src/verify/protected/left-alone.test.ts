import { describe, expect, test } from "vitest";
import { isToStay } from "./left-alone.ts";

describe("is to stay", () => {
  test.each([
    [
      "vendor/lib/a.rs",
      "Do it in src/: vendor/lib is a mirror that scripts/vendor.sh writes, so it stays as it is.",
    ],
    ["src/api.ts", "Make it quicker. Don't touch src/api.ts."],
    ["docs/a.md", "Split src/a.ts, leave docs/ alone"],
    ["src/public/index.ts", "Do this without changing src/public/index.ts, please"],
    ["db/schema.sql", "db/schema.sql must not be changed"],
    ["config/b.json", "Keep config/a.json and config/b.json as they are"],
  ])("%s: %s", (path, goal) => expect(isToStay(path, goal)).toBe(true));
});

describe("may change", () => {
  test.each([
    [
      "src/resolve.rs",
      "Do it in src/: vendor/lib is a mirror that scripts/vendor.sh writes, so it stays as it is.",
    ],
    [
      "scripts/vendor.sh",
      "vendor/lib is a mirror that scripts/vendor.sh writes, so it stays as it is.",
    ],
    ["src/a.ts", "Don't touch src/api.ts and change src/a.ts instead"],
    ["src/a.ts", "Don't change the API, but rewrite src/a.ts"],
    ["src/a.ts", "Keep the order of src/a.ts"],
    ["src/lexer.rs", "Split lib.rs into lexer.rs and parser.rs, the public API stays the same."],
    ["src/a.ts", "The names in src/b.ts stay as they are, src/a.ts gets new ones"],
  ])("%s: %s", (path, goal) => expect(isToStay(path, goal)).toBe(false));
});
