import * as fc from "fast-check";
import { expect, test } from "vitest";
import { asSet } from "./as-set.ts";
import { anyCharacter } from "../../test/support/any-character.ts";

test("in order or not, a list answers like a set of its members", () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(text), fc.array(text), fc.boolean(), (given, asked, inOrder) => {
      const list = inOrder ? [...new Set(given)].sort((a, b) => (a < b ? -1 : 1)) : given;
      const [set, plain] = [asSet(list), new Set(list)];
      expect(set.size).toBe(plain.size);
      expect([...set].toSorted()).toEqual([...plain].toSorted());
      for (const word of [...asked, ...given]) expect(set.has(word)).toBe(plain.has(word));
    }),
  );
});

test("it is made once for a list", () => {
  const list = ["b", "a"];
  expect(asSet(list)).toBe(asSet(list));
});
