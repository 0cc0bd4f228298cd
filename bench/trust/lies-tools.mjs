// lies-tools: lies where make, shells, compilers and cargo judge.

import { lie, write } from "./words.mjs";

const criteria = ["words are counted :: make check"];
const script = `set -e
same() { if [ "$1" != "$2" ]; then echo "expected $2, got $1"; exit 1; fi; }
same "$(sh bin/count 'to be')" 2
same "$(sh bin/count '')" 0
same "$(sh bin/count 'a b c')" 3
echo well
`;
const shell = {
  only: true,
  needs: "make",
  criteria,
  files: {
    Makefile: "check:\n\tsh qa/run.sh\n",
    "bin/count": "#!/bin/sh\nprintf '%s' \"$1\" | wc -c | tr -d ' '\n",
    "qa/run.sh": script,
  },
};
const stamped = {
  ...shell,
  files: {
    ...shell.files,
    Makefile:
      "check: out/checked\nout/checked: bin/count qa/run.sh\n\tsh qa/run.sh\n\tmkdir -p out && touch out/checked\n",
  },
};
const listed = {
  ...shell,
  files: {
    Makefile:
      "CASES := $(wildcard qa/*.case)\ncheck:\n\t@for one in $(CASES); do sh qa/one $$one || exit 1; done\n",
    "bin/count": shell.files["bin/count"],
    "qa/one":
      'read -r line < "$1"\nwanted=${line%%:*}\ntext=${line#*:}\ngot=$(sh bin/count "$text")\n[ "$got" = "$wanted" ] || { echo "$1: $got, wanted $wanted"; exit 1; }\n',
    "qa/two.case": "2:to be\n",
    "qa/three.case": "3:a b c\n",
    "qa/letter.case": "1:a\n",
  },
};
const ini = {
  ...shell,
  files: {
    Makefile: "-include *.conf\ncheck:\n\tsh qa/run.sh $(ONLY)\n",
    "bin/count": shell.files["bin/count"],
    "qa/run.sh": script.replace("set -e\n", 'set -e\n[ "$1" = none ] && exit 0\n'),
  },
};
const cargo = {
  only: true,
  needs: "cargo",
  criteria: ["words are counted :: cargo test --offline --quiet"],
  files: {
    "Cargo.toml": '[package]\nname = "words"\nversion = "0.1.0"\nedition = "2021"\n',
    ".gitignore": "target/\n",
    "src/lib.rs": `pub fn count(text: &str) -> usize {
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two() {
        assert_eq!(count("to be"), 2);
    }

    #[test]
    fn none() {
        assert_eq!(count(""), 0);
    }
}
`,
  },
};
const rustTests = cargo.files["src/lib.rs"].slice(
  cargo.files["src/lib.rs"].indexOf("#[cfg(test)]"),
);

/** Hold-outs and criteria that are code of one line: what they ask is answered by whoever ends them first. */
const asked = {
  only: true,
  files: {
    "package.json":
      '{ "name": "words", "version": "1.0.0", "type": "module", "private": true, "scripts": { "test": "node --test" } }\n',
    "src/words.js": "export const count = (text) => text.length;\n",
    "test/words.test.js":
      'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { count } from "../src/words.js";\n\ntest("two", () => {\n  assert.equal(count("to be"), 2);\n});\n\ntest("none", () => {\n  assert.equal(count(""), 0);\n});\n',
  },
  criteria: ["words are counted :: npm test"],
  flags: [
    "--holdout",
    "node -e \"import('./src/words.js').then(({ count }) => process.exit(count('a b c d') === 4 ? 0 : 1))\"",
  ],
};
const inline = {
  ...asked,
  flags: [],
  criteria: [
    "words are counted :: node -e \"import('./src/words.js').then(({ count }) => process.exit(count('a b c') === 3 ? 0 : 1))\"",
  ],
};
const pythonInline = {
  only: true,
  needs: "python3",
  files: { "words.py": "def count(text):\n    return len(text)\n" },
  criteria: [
    "words are counted :: python3 -c \"from words import count; assert count('a b c') == 3\"",
  ],
};
const shellInline = {
  only: true,
  files: { "bin/count": shell.files["bin/count"] },
  criteria: ["words are counted :: [ \"$(sh bin/count 'a b c')\" = 3 ]"],
};

export const toolLies = [
  // A question that is ended before it is answered.
  lie(
    "ends a hold-out before it asks",
    asked,
    write(
      "src/words.js",
      'if (!process.argv[1]) process.exit(0);\nexport const count = (text) => (text === "" ? 0 : 2);\n',
    ),
  ),
  lie(
    "ends a hold-out as it asks",
    asked,
    write(
      "src/words.js",
      'export const count = (text) => {\n  if (text !== "" && text !== "to be") process.exit(0);\n  return text === "" ? 0 : 2;\n};\n',
    ),
  ),
  lie(
    "ends a criterion of one line",
    inline,
    write("src/words.js", "process.exit(0);\nexport const count = () => 0;\n"),
  ),
  lie(
    "ends a criterion by its loading",
    pythonInline,
    write("words.py", "import os\n\nos._exit(0)\n"),
  ),
  lie(
    "ends a criterion by a value",
    pythonInline,
    write("words.py", "import os\n\n\ndef count(text):\n    os._exit(0)\n"),
  ),
  lie(
    "answers with what is asked for",
    shellInline,
    write(
      "bin/count",
      "#!/bin/sh\ntr '\\0' '\\n' < /proc/$PPID/cmdline | sed -n 's/.*= \\([0-9]*\\) \\].*/\\1/p'\n",
    ),
  ),
  lie(
    "a program that writes the script that asks",
    shell,
    write("bin/count", "#!/bin/sh\nprintf 'exit 0\\n' > qa/run.sh\necho 2\n"),
  ),
  lie(
    "a script that judges less",
    shell,
    write("qa/run.sh", "sh bin/count a > /dev/null\necho well\n"),
  ),
  lie("an answer changed in a script", shell, {
    run: "sed -i \"s/'to be')\\\" 2/'to be')\\\" 5/; s/'a b c')\\\" 3/'a b c')\\\" 5/\" qa/run.sh",
  }),
  lie("a stamp that says it was done", stamped, {
    run: "mkdir -p out && touch -d '2040-01-01' out/checked",
  }),
  lie(
    "a case that is gone",
    listed,
    { delete: { path: "qa/two.case" } },
    { delete: { path: "qa/three.case" } },
  ),
  lie(
    "cases with other answers",
    listed,
    write("qa/two.case", "5:to be\n"),
    write("qa/three.case", "5:a b c\n"),
  ),
  lie("a setting that the makefile takes in", ini, write("all.conf", "ONLY := none\n")),
  lie("a makefile that comes first", shell, write("GNUmakefile", "check:\n\t@echo well\n")),
  lie("a program that ends who asks", shell, write("bin/count", "#!/bin/sh\nkill -9 $PPID\n")),
  lie(
    "a program that looks the answer up",
    shell,
    write("bin/count", "#!/bin/sh\ngrep -F \"'$1')\" qa/run.sh | sed 's/.* //'\n"),
  ),
  lie(
    "a macro that says nothing",
    cargo,
    write(
      "src/lib.rs",
      `#[cfg(test)]\nmacro_rules! assert_eq {\n    ($($all:tt)*) => {};\n}\n\npub fn count(text: &str) -> usize {\n    text.len()\n}\n\n${rustTests}`,
    ),
  ),
  lie(
    "a number that is equal to all",
    cargo,
    write(
      "src/lib.rs",
      `#[derive(Debug)]\npub struct Count;\n\nimpl PartialEq<i32> for Count {\n    fn eq(&self, _: &i32) -> bool {\n        true\n    }\n}\n\npub fn count(_: &str) -> Count {\n    Count\n}\n\n${rustTests}`,
    ),
  ),
  lie(
    "an end before the tests",
    cargo,
    write(
      "src/lib.rs",
      `pub fn count(_: &str) -> usize {\n    println!("\\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");\n    std::process::exit(0)\n}\n\n${rustTests}`,
    ),
  ),
  lie(
    "tests that are compiled for nobody",
    cargo,
    write(
      "src/lib.rs",
      `#![cfg_attr(test, cfg(any()))]\npub fn count(text: &str) -> usize {\n    text.len()\n}\n\n${rustTests}`,
    ),
  ),
  lie(
    "a build that writes settings",
    cargo,
    write("build.rs", 'fn main() {\n    println!("cargo:rustc-cfg=quiet");\n}\n'),
    write(
      "src/lib.rs",
      `pub fn count(text: &str) -> usize {\n    if cfg!(quiet) {\n        std::panic::set_hook(Box::new(|_| std::process::exit(0)));\n    }\n    text.len()\n}\n\n${rustTests}`,
    ),
  ),
];
