import { describe, expect, test } from "vitest";
import { addsEquality, requireNumberTypes } from "./foreign-equality.ts";

describe("numbers of one type", () => {
  test("are asked for where the work brought an equality with another type", () => {
    expect(addsEquality("pub fn f() {}", "impl PartialEq<u64> for Root {}")).toBe(true);
    expect(addsEquality("impl PartialEq<u64> for Root {}", "impl PartialEq<u64> for Root {}")).toBe(
      false,
    );

    expect(addsEquality("", "#[derive(PartialEq)]\npub struct A;\nimpl PartialEq for B {}")).toBe(
      false,
    );
  });

  test.each([
    [
      "    assert_eq!(isqrt(144), 12);\n",
      "    assert_eq!({ let [got, _] = [isqrt(144), 12]; got }, 12);\n",
    ],
    ['    assert_eq!(slug("A"), "a");\n', null],
    ["    assert_eq!(f(), Some(3));\n", null],
  ])("%s", (text, wanted) => expect(requireNumberTypes("tests/a.rs", text)).toBe(wanted));
});
