import { expect, test } from "vitest";
import { buildRustProgram } from "./rust-program.ts";

const source = `pub fn two() -> u8 {
    2
}
#[cfg(test)]
mod tests {
    #[test]
    fn is_two() {
        assert_eq!(super::two(), 2);
    }
}
`;
const build = (manifest: string) =>
  buildRustProgram({
    path: "src/lib.rs",
    text: source,
    uniqueName: "n0",
    manifest,
    skippedTests: [],
  });
const exampleOf = (manifest: string) =>
  build(manifest)?.edits.find(({ path }) => path === "examples/n0.rs")?.text;

test.each([
  ["its own", '[package]\nname = "two"\nedition = "2024"\n', "\nunsafe extern"],
  ["none, which is 2015", '[package]\nname = "two"\n', "\nextern"],
  [
    "its workspace's",
    '[package]\nname = "two"\nedition.workspace = true\n[workspace]\npackage.edition = "2024"\n',
    "\nunsafe extern",
  ],
  [
    "its own, older than its workspace's",
    '[workspace.package]\nedition = "2024"\n[package]\nname = "two"\nedition = "2021"\n',
    "\nextern",
  ],
])("a package has the edition that it names: %s", (_, manifest, externKeyword) => {
  expect(exampleOf(manifest)).toContain(`${externKeyword} "C" {`);
});

test("the library is imported by the name that its manifest gives it", () => {
  expect(exampleOf('[package]\nname = "two-more"\n')).toContain("extern crate two_more as _;");
  expect(exampleOf('[package]\nname = "a"\n[lib]\nname = "two"\n')).toContain("crate two as _;");
});

test.each([
  ["no TOML", "[package\n"],
  ["no name", "[workspace]\n"],
])("there is no program for a manifest with %s", (_, manifest) => {
  expect(build(manifest)).toBe(null);
});
