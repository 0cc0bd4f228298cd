import { expect, test } from "vitest";
import { loadScript, parseScript } from "./load-script.ts";

const yaml = `turns:
  - when: { step: execute, phase: 1 }
    do:
      - write: { path: a.ts, text: "x" }
      - hang: true
    repeat: 0
`;

test("YAML and JSON are read alike, whatever the file is called", async () => {
  const read = await parseScript("0123abcd", yaml);
  expect(read).toMatchObject({
    script: { turns: [{ repeat: 0, do: [{ write: { path: "a.ts" } }, { hang: true }] }] },
  });

  expect("script" in read && (await parseScript("0123abcd", JSON.stringify(read.script)))).toEqual(
    read,
  );

  expect(
    "script" in read && (await parseScript("0123abcd", JSON.stringify(read.script, null, 2))),
  ).toEqual(read);
});

test.each([
  ["an action that is none", "turns:\n  - do:\n      - wirte: { path: a, text: b }\n", 3],
  ["an unknown key", "turns:\n  - wen: {}\n", 2],
  ["a negative repeat", "turns:\n  - repeat: -1\n", 2],
  ["no turns", "turn: []\n", 1],
  ["an action that is none, in JSON", '{"turns":[{"do":[{"wirte":"a"}]}]}', 1],
  ["a key that is there twice", '{"turns":[],"turns":[{"do":[]}]}', 1],
])("%s is found, with its line", async (_, text, line) => {
  const read = await parseScript("script.yaml", text);
  expect("findings" in read && read.findings[0]).toMatchObject({ file: "script.yaml", line });
});

test("a file that is not there is a finding", async () => {
  const read = await loadScript("/no/such/script.yaml");
  expect("findings" in read && read.findings[0]).toMatchObject({ rule: "unreadable" });
});
