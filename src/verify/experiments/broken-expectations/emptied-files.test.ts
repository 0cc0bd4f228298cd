import { expect, test } from "vitest";
import { createEmpty } from "./emptied-files.ts";

test.each([
  ["test/a.test.js", "test('a', () => {});\n", ""],
  ["tests/test_a.py", "def test_a(): pass\n", ""],
  ["test/a.sh", "exit 1\n", ":\n"],
  ["a_test.go", "package a\n\nfunc TestA(t *testing.T) {}\n", "package a"],
  [
    "test/inv/StockTest.java",
    "package inv;\n\npublic class StockTest {\n  int n;\n}\n",
    "package inv;\npublic class StockTest {\n  public static void main(String[] args) {}\n}\n",
  ],
  ["test/a.c", "int main(void) { return 1; }\n", null],
])("%s has nothing in it", (path, text, empty) => expect(createEmpty(path, text)).toBe(empty));
