import { describe, expect, it } from "vitest";
import { renameShellVariables } from "./rewrite-shell.ts";

const script = `#!/bin/bash
. tests/assert.sh
. lib/strings.sh
while IFS='|' read -r input expected; do
  assert_eq "$expected" "$(slugify "$input")" "slugify '\${input}'"
done < tests/slugs.txt
for word in a b; do total=$((total + 1)); echo "the expected total is $total of $word"; done
[ "$fails" -eq 0 ]
`;
const helper =
  'fails=0\nassert_eq() {\n  local expected=$1 actual=$2\n  [ "$expected" = "$actual" ] || fails=$((fails + 1))\n}\n';

describe("a shell test whose variables get other names", () => {
  it("means the same: what it sets is named otherwise wherever it is used", () => {
    const renamed = renameShellVariables(script, [helper], "n1") ?? "";
    expect(renamed).toContain("read -r input_n1 expected_n1; do");
    expect(renamed).toContain(
      `assert_eq "$expected_n1" "$(slugify "$input_n1")" "slugify '\${input_n1}'"`,
    );

    expect(renamed).toContain(
      `for word_n1 in a b; do total_n1=$((total_n1 + 1)); echo "the expected total is $total_n1 of $word_n1"; done`,
    );

    expect(renamed).toContain('[ "$fails" -eq 0 ]'); // another file sets it
    expect(renameShellVariables(helper, [script], "n1")).toContain(
      'local expected=$1 actual_n1=$2\n  [ "$expected" = "$actual_n1" ]',
    );
  });

  it("keeps names that another file uses, or that are set for a program", () => {
    expect(
      renameShellVariables("root=lib\n. lib/load.sh\n", ["load() { ls $root; }\n"], "n1"),
    ).toBe(null);

    expect(renameShellVariables('mode=fast ./run.sh\necho "$mode"\n', [], "n1")).toBe(null);
  });

  it("is left alone if names may be used in another way", () => {
    expect(renameShellVariables("name=x\nawk '{ print $name }' f\n", [], "n1")).toBe(null);
    expect(renameShellVariables('name=x\nprintf -v name "%s" y\n', [], "n1")).toBe(null);
  });
});
