// rust-program: builds an example program that calls the tests of a Rust package in a release
// build: without cfg(test), debug assertions and overflow checks, on the main thread. Pure.

import { type TestProgramInput, type PlainProgram, repeatMs } from "./plain-program.ts";

export const buildRustProgram = (given: TestProgramInput): PlainProgram | null =>
  given.manifest === null || /\bdebug_assert|#\[\s*(?:\w+::)+test|CARGO_BIN_EXE/.test(given.text)
    ? null
    : (fromTestsFolder(given) ?? fromSourceFile(given));

/** Whether a panic was that of an assertion: other panics show nothing. */
const isAssertionSource = `fn is_assertion(said: Box<dyn std::any::Any + Send>) -> bool {
    let text = said.downcast_ref::<String>().cloned().or_else(|| said.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default();
    text.starts_with("assertion ")
}
`;
const createFailSource = (
  tests: readonly string[],
): string => `${isAssertionSource}fn failed_once() -> Vec<bool> {
    vec![
${tests.map((name) => `        std::panic::catch_unwind(|| { let _ = ${name}(); }).is_err_and(is_assertion),`).join("\n")}
    ]
}
fn does_any_fail() -> bool {
    let began = std::time::Instant::now();
    if failed_once().contains(&true) { return true; }
    if began.elapsed().as_millis() > ${repeatMs / 2} { return false; }
    let unrepeatable = failed_once();
    while began.elapsed().as_millis() < ${repeatMs} {
        if failed_once().iter().zip(&unrepeatable).any(|(now, before)| *now && !*before) { return true; }
    }
    false
}
`;

/** The names of tests that are run and not expected to fail, without the skipped ones. */
const findTestNames = (text: string, skippedTests: readonly string[]): readonly string[] =>
  [...text.matchAll(/#\[test\]\s*((?:#\[[^\]]*\]\s*)*)fn (\w+)\(\)/g)].flatMap(
    ([, attributes = "", name = ""]) =>
      skippedTests.includes(name) || /\b(?:ignore|should_panic)\b/.test(attributes) ? [] : [name],
  );

/** A file in `tests/`, as an example. */
function fromTestsFolder({
  path,
  text,
  nonce,
  skippedTests,
}: TestProgramInput): PlainProgram | null {
  const tests = findTestNames(text, skippedTests);
  if (
    !/^tests\/[^/]+\.rs$/.test(path) ||
    tests.length === 0 ||
    /^\s*mod \w+;|\bshould_panic\b|^\s*fn main\(/m.test(text)
  ) {
    return null;
  }

  const main = `\n${createFailSource(tests)}fn main() {
    std::process::exit(if does_any_fail() { 0 } else { 1 });
}
`;

  return {
    edits: [{ path: `examples/${nonce}.rs`, text: `${text.replaceAll("#[test]", "")}${main}` }],
    command: `cargo run -q --offline --release --example ${nonce}`,
  };
}

const testModule = /#\[cfg\(test\)\]\s*((?:#\[[^\]]*\]\s*)*)(?:pub(?:\([^)]*\))? )?mod (\w+) \{/;

/**
 * Tests inside a source: their module becomes a part of the library, and an example calls it by a
 * name that is made for it.
 */
function fromSourceFile({
  path,
  text,
  nonce,
  manifest,
  skippedTests,
}: TestProgramInput): PlainProgram | null {
  const [head = "", attributes = "", module = ""] = testModule.exec(text) ?? [];
  const tests = findTestNames(text, skippedTests);
  if (!/^src\/.+\.rs$/.test(path) || head === "" || tests.length === 0) return null;
  const edition = Number(/^edition\s*=\s*"(\d+)"/m.exec(manifest ?? "")?.[1] ?? 2015);
  // The edition of a Cargo.toml that names none is 2015.
  const [open, linked] =
    edition >= 2024 ? ["#[unsafe(no_mangle)]", "unsafe extern"] : ["#[no_mangle]", "extern"];
  const called = `${open}\npub extern "C" fn ${nonce}() -> i32 {\n${createFailSource(tests)}    if does_any_fail() { 0 } else { 1 }\n}\n`;
  const own = text
    .replace(head, () => `${attributes}#[allow(dead_code, unused)]\npub mod ${module} {\n${called}`)
    .replaceAll("#[test]", "");

  if (path === "src/main.rs") {
    return {
      edits: [
        {
          path,
          text: `${own.replace(/^(\s*(?:async )?)fn main\(/m, (_, before: string) => `#[allow(dead_code)]\n${before}fn ${nonce}_main(`)}\nfn main() {\n    std::process::exit(${module}::${nonce}())\n}\n`,
        },
      ],
      command: "cargo run -q --offline --release",
    };
  }

  const named =
    /^\[lib\][^[]*?^name\s*=\s*"([^"]+)"/ms.exec(manifest ?? "") ??
    /^\[package\][^[]*?^name\s*=\s*"([^"]+)"/ms.exec(manifest ?? "");
  const crate = named?.[1]?.replaceAll("-", "_");
  if (crate === undefined) return null;
  const main = `extern crate ${crate} as _;\n${linked} "C" {\n    fn ${nonce}() -> i32;\n}\nfn main() {\n    std::process::exit(unsafe { ${nonce}() })\n}\n`;

  return {
    edits: [
      { path, text: own },
      { path: `examples/${nonce}.rs`, text: main },
    ],
    command: `cargo run -q --offline --release --example ${nonce}`,
  };
}
