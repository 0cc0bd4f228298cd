// rust-program: builds an example program that calls the tests of a Rust package in a release
// build: without cfg(test), debug assertions and overflow checks, on the main thread. Pure.

import { parse } from "smol-toml";
import { type TestProgramInput, type PlainProgram, repeatMs } from "./plain-program.ts";

/**
 * Null if a test of this file may need its runner or its debug build, if the file is neither in
 * `tests/` nor in `src/` of the package at the top, or if nothing is left to call.
 */
export function buildRustProgram(given: TestProgramInput): PlainProgram | null {
  const manifest = given.manifest === null ? null : readManifest(given.manifest);
  if (manifest === null || runnerNeedPattern.test(given.text)) return null;
  return buildFromTestFile(given) ?? buildFromSourceFile(given, manifest);
}

/**
 * `debug_assert!(…)` is not in a release build, `#[tokio::test]` starts a runtime of its own, and
 * `env!("CARGO_BIN_EXE_name")` exists only under `cargo test`.
 */
const runnerNeedPattern = /\bdebug_assert|#\[\s*(?:\w+::)+test|CARGO_BIN_EXE/;

type Manifest = {
  /** The name by which the library is imported; null if the file names none. */
  readonly crate: string | null;
  readonly edition: number;
};

/** A `Cargo.toml` that names no edition means this one. */
const editionDefault = 2015;

/** Null for a text that is no TOML. */
function readManifest(text: string): Manifest | null {
  let manifest: CargoToml;
  try {
    manifest = parse(text);
  } catch {
    return null;
  }

  const { package: own, lib, workspace } = manifest;
  const name = lib?.name ?? own?.name;
  // `edition.workspace = true` takes the workspace's.
  const edition = typeof own?.edition === "object" ? workspace?.package?.edition : own?.edition;
  return {
    crate: typeof name === "string" ? name.replaceAll("-", "_") : null,
    edition: typeof edition === "string" ? Number(edition) : editionDefault,
  };
}

type CargoToml = {
  readonly package?: { readonly name?: unknown; readonly edition?: unknown };
  readonly lib?: { readonly name?: unknown };
  readonly workspace?: { readonly package?: { readonly edition?: unknown } };
};

/** A file in `tests/`, as an example. Null if it is no such file, or can't be one program. */
function buildFromTestFile({
  path,
  text,
  uniqueName,
  skippedTests,
}: TestProgramInput): PlainProgram | null {
  const tests = findTestNames(text, skippedTests);
  const isAlone = !/^\s*mod \w+;|\bshould_panic\b|^\s*fn main\(/m.test(text);
  if (!/^tests\/[^/]+\.rs$/.test(path) || tests.length === 0 || !isAlone) return null;
  const main = `
${createFailSource(tests)}
fn main() {
    std::process::exit(if does_any_fail() { 0 } else { 1 });
}
`;

  return {
    edits: [
      { path: `examples/${uniqueName}.rs`, text: `${text.replaceAll("#[test]", "")}${main}` },
    ],
    command: runExample(uniqueName),
  };
}

/** `#[cfg(test)] mod tests {`, with the attributes between. */
const testModule = /#\[cfg\(test\)\]\s*((?:#\[[^\]]*\]\s*)*)(?:pub(?:\([^)]*\))? )?mod (\w+) \{/;

/**
 * Tests inside a source: their module becomes a part of the library, and an example calls it by a
 * name that is made for it. Null if the file is no source of the package or has no test module.
 */
function buildFromSourceFile(given: TestProgramInput, manifest: Manifest): PlainProgram | null {
  const { path, text, uniqueName } = given;
  const [moduleStart = "", attributes = "", module = ""] = testModule.exec(text) ?? [];
  const tests = findTestNames(text, given.skippedTests);
  if (!/^src\/.+\.rs$/.test(path) || moduleStart === "" || tests.length === 0) return null;

  const exposedModule = `${attributes}#[allow(dead_code, unused)]
pub mod ${module} {
${manifest.edition >= unsafeEdition ? "#[unsafe(no_mangle)]" : "#[no_mangle]"}
pub extern "C" fn ${uniqueName}() -> i32 {
    if does_any_fail() { 0 } else { 1 }
}
${createFailSource(tests)}`;
  const source = text.replace(moduleStart, () => exposedModule).replaceAll("#[test]", "");
  const exposed: ExposedTests = { path, source, module, uniqueName };

  return path === "src/main.rs" ? callFromMain(exposed) : callFromExample(exposed, manifest);
}

/** From this edition on, `no_mangle` and `extern` must say that they are unsafe. */
const unsafeEdition = 2024;

/** A source whose test module has a public function that runs the tests: `uniqueName`. */
type ExposedTests = {
  readonly path: string;
  readonly source: string;
  readonly module: string;
  readonly uniqueName: string;
};

/** The package's own program runs the tests instead of what it does. */
function callFromMain({ path, source, module, uniqueName }: ExposedTests): PlainProgram {
  const withoutMain = source.replace(
    /^(\s*(?:async )?)fn main\(/m,
    (_, before: string) => `#[allow(dead_code)]\n${before}fn ${uniqueName}_main(`,
  );
  const ownMain = `
fn main() {
    std::process::exit(${module}::${uniqueName}())
}
`;
  return {
    edits: [{ path, text: `${withoutMain}${ownMain}` }],
    command: "cargo run -q --offline --release",
  };
}

/** An example calls into the library; null if the library's name is not known. */
function callFromExample(
  { path, source, uniqueName }: ExposedTests,
  { crate, edition }: Manifest,
): PlainProgram | null {
  if (crate === null) return null;
  const example = `extern crate ${crate} as _;
${edition >= unsafeEdition ? "unsafe extern" : "extern"} "C" {
    fn ${uniqueName}() -> i32;
}
fn main() {
    std::process::exit(unsafe { ${uniqueName}() })
}
`;

  return {
    edits: [
      { path, text: source },
      { path: `examples/${uniqueName}.rs`, text: example },
    ],
    command: runExample(uniqueName),
  };
}

const runExample = (name: string): string => `cargo run -q --offline --release --example ${name}`;

/** The names of tests that are run and not expected to fail, without the skipped ones. */
const findTestNames = (text: string, skippedTests: readonly string[]): readonly string[] =>
  [...text.matchAll(/#\[test\]\s*((?:#\[[^\]]*\]\s*)*)fn (\w+)\(\)/g)].flatMap(
    ([, attributes = "", name = ""]) =>
      skippedTests.includes(name) || /\b(?:ignore|should_panic)\b/.test(attributes) ? [] : [name],
  );

/**
 * `does_any_fail` in Rust. It calls the tests once, and if that was quick, again and again: code
 * that counts its calls fails later. A test that fails already the second time can't be repeated
 * (it leaves something behind), so only its first call counts.
 */
const createFailSource = (tests: readonly string[]): string => `
fn failed_once() -> Vec<bool> {
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
${isAssertionSource}`;

/** Whether a panic was that of an assertion: other panics show nothing. */
const isAssertionSource = `fn is_assertion(panic: Box<dyn std::any::Any + Send>) -> bool {
    let text = panic
        .downcast_ref::<String>().cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()))
        .unwrap_or_default();
    text.starts_with("assertion ")
}
`;
