import { expect, test } from "vitest";
import { safeJson } from "./safe-json.ts";
import { visible } from "./visible.ts";

test("every character that visible() would escape is escaped, and the value stays what it was", () => {
  const all = Array.from({ length: 0x11_0000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff);
  const odd = all.map((code) => String.fromCodePoint(code)).filter((one) => visible(one) !== one);
  expect(odd.length).toBeGreaterThan(150);
  for (const indent of [undefined, 2]) {
    const value = { [odd.join("")]: [odd.join(""), "plain ü 文 👩‍💻"] };
    const text = safeJson(value, indent);
    expect(JSON.parse(text)).toEqual(value);
    const printed = text.split("\n").join("");
    expect(visible(printed)).toBe(printed);
  }
});
