import * as fc from "fast-check";
import { expect, test } from "vitest";
import { visible } from "./visible.ts";
import { anyCharacter } from "../../test/support/any-character.ts";

test("a clipboard escape becomes letters", () => {
  expect(visible("\u001b]52;c;ZXZpbA==\u0007")).toBe("\\x1b]52;c;ZXZpbA==\\x07");
  expect(visible("\u009d52;c;eA==\u009c")).toBe("\\x9d52;c;eA==\\x9c");
});

test("one line stays one line, and reads in one direction", () => {
  expect(visible("ok\n✓ verified\r")).toBe("ok\\n✓ verified\\r");
  expect(visible("a\u202eb\u2066c\u2028")).toBe("a\\u{202e}b\\u{2066}c\\u{2028}");
});

test("ordinary writing is left alone", () => {
  for (const text of ["plain\ttext", "Größe ✓ 漢字 👩‍💻", "C:\\temp\\new", "می‌خواهم"]) {
    expect(visible(text)).toBe(text);
  }
});

test("whatever comes in, nothing that steers a terminal comes out, and doing it twice changes nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const once = visible(text);
      expect(
        /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u.test(once),
      ).toBe(false);

      expect(visible(once)).toBe(once);
    }),
  );
});
