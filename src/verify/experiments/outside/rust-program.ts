// rust-program: tests of a Rust package called by an example program in a release build: without cfg(test), without debug assertions and
// overflow checks, on the main thread. Pure.

import type { Given, PlainProgram } from "./plain-program.ts";

export function rustWithoutRunner({ path, text, nonce, manifest, known }: Given): PlainProgram | null {
  const isBeside = /^tests\/[^/]+\.rs$/.test(path);
  if (!isBeside || manifest === null || /^\s*mod \w+;|\bshould_panic\b|\bdebug_assert|#\[\s*(?:\w+::)+test|CARGO_BIN_EXE/m.test(text))
    return null;
  const tests = [...text.matchAll(/#\[test\]\s*(?:#\[(?!ignore)[^\]]*\]\s*)*fn (\w+)\(\)/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !known.includes(name));
  if (tests.length === 0 || /^\s*fn main\(/m.test(text)) return null;
  const calls = tests.map((name) => `    failed |= std::panic::catch_unwind(${name}).is_err_and(is_assertion);`).join("\n");
  const main = `
fn is_assertion(said: Box<dyn std::any::Any + Send>) -> bool {
    let text = said.downcast_ref::<String>().cloned().or_else(|| said.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default();
    text.starts_with("assertion ")
}
fn main() {
    let mut failed = false;
${calls}
    std::process::exit(if failed { 0 } else { 1 });
}
`;
  return {
    edits: [{ path: `examples/${nonce}.rs`, text: `${text.replaceAll("#[test]", "")}${main}` }],
    command: `cargo run -q --offline --release --example ${nonce}`,
  };
}
