import { describe, expect, test } from "vitest";
import { addStatements, endAtOnce } from "./added-statements.ts";

const added =
  / \{ const char \*volatile n0 = "n0-\d+"; \(void\)n0; \}| let _ = ::std::hint::black_box\("n0-\d+"\);/g;
const marked = (path: string, text: string): string =>
  addStatements(path, text, "n0").replaceAll(added, "@");

describe("statements that do nothing are added to the functions of tests", () => {
  test.each([
    [
      "a function",
      "int main(void) {\n  assert(f() == 1);\n}\n",
      "int main(void) {@\n  assert(f() == 1);\n}\n",
    ],
    [
      "one whose bracket is on a line of its own, and not its conditions",
      "static int g(int a)\n{\n  if (a) { assert(a); }\n}\n",
      "static int g(int a)\n{@\n  if (a) { assert(a); }\n}\n",
    ],
    [
      "the body of a test macro",
      "TEST(Rle, Empty) { CHECK(f()); }\n",
      "TEST(Rle, Empty) {@ CHECK(f()); }\n",
    ],
    [
      "a method, and what lies in a namespace",
      'extern "C" {\nint f();\n}\nnamespace a {\nstruct T {\n  int g() const { return 1; }\n};\nvoid h() { REQUIRE(f()); }\n}\n',
      'extern "C" {\nint f();\n}\nnamespace a {\nstruct T {\n  int g() const {@ return 1; }\n};\nvoid h() {@ REQUIRE(f()); }\n}\n',
    ],
  ])("C: %s", (_what, text, wanted) => expect(marked("tests/test_a.cpp", text)).toBe(wanted));

  test.each([
    ["an initialiser", "struct P p = { 1 };\nint t[] = { f(1) };\nint ok = assert(1);\n"],
    ["a compound literal", "struct P p = (struct P) { 1 };\nint a = assert(1);\n"],
    ["a struct with an attribute", "struct __attribute__((packed)) { int assert(); } p;\n"],
    ["a macro", "#define IS(a) \\\n  void is(int a) { \\\n    assert(a); \\\n  }\n"],
    ["what the compiler computes", "constexpr int f() { assert(1); return 1; }\n"],
    ["declarations of parameters behind their list", "int f(a) int a; { assert(a); }\n"],
    ["what asserts nothing", "int main(void) { return 0; }\n"],
    ["another language", "void f() { assert(1); }\n", "tests/a.test.js"],
    ["what tests read", "int main(void) { assert(1); }\n", "tests/fixtures/a.c"],
  ])("not to %s", (_what, text, path = "tests/test_a.cpp") =>
    expect(addStatements(path, text, "n0")).toBe(text),
  );

  test("Rust: all functions of a file of tests, but no constant ones and no declarations", () => {
    const text =
      "use a::f;\nconst fn two() -> u8 { 2 }\ntrait T { fn a(&self); fn b(&self) -> [u8; 2] { [1, 2] } }\nmacro_rules! m { ($n:ident) => { fn $n() {} fn k() {} } }\nfn g<F>(f: F) where F: Fn(u8) -> u8 { f(1); }\n#[test]\nfn h() { assert_eq!(f(1), two()); }\n";
    expect(marked("tests/a.rs", text)).toBe(
      text
        .replace("2] { [", "2] {@ [")
        .replace("u8 { f(1)", "u8 {@ f(1)")
        .replace("h() {", "h() {@"),
    );
  });

  test("Rust: in a source file the module of its tests alone", () => {
    const text =
      "pub fn f() -> u8 { 1 }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn g() { assert_eq!(f(), 1); }\n}\nfn h() { }\n";
    expect(marked("src/lib.rs", text)).toBe(text.replace("g() {", "g() {@"));
    expect(addStatements("tests/common/mod.rs", "pub fn f() {}\n", "n0")).toBe("pub fn f() {}\n");
  });
});

test("a program that ends at once is known for C and C++", () => {
  expect(endAtOnce("a.c", "int main(void);", "n0")).toContain("extern void _exit(int);");
  expect(endAtOnce("a.cc", "int main();", "n0")).toContain('extern "C" void _exit(int);');
  expect(endAtOnce("a.rs", "fn main() {}", "n0")).toBeNull();
});
