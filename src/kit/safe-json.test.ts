import { expect, test } from "vitest";
import { safeJson } from "./safe-json.ts";
import { visible } from "./visible.ts";

test("every character that visible() would escape is escaped, and the value stays what it was", () => {
  // Block by block: most blocks hold nothing to escape and are asked about once.
  const blocks = Array.from({ length: 0x1100 }, (_, block) => block).filter(
    (block) => block < 0xd8 || block > 0xdf,
  );
  const escaped = blocks
    .map((block) =>
      Array.from({ length: 0x100 }, (_, low) => String.fromCodePoint(block * 0x100 + low)),
    )
    .filter((characters) => visible(characters.join("")) !== characters.join(""))
    .flatMap((characters) => characters.filter((character) => visible(character) !== character));
  expect(escaped.length).toBeGreaterThan(150);

  for (const indent of [undefined, 2]) {
    const value = { [escaped.join("")]: [escaped.join(""), "plain ü 文 👩‍💻"] };
    const text = safeJson(value, indent);
    expect(JSON.parse(text)).toEqual(value);
    const printed = text.split("\n").join("");
    expect(visible(printed)).toBe(printed);
  }
});
