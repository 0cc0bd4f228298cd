import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadScript } from "./load-script.ts";

const load = (text: string): ReturnType<typeof loadScript> => {
  const folder = mkdtempSync(join(tmpdir(), "script-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "0123abcd"), text);

  return loadScript(join(folder, "0123abcd"));
};

test("the script that a run stored is played as it is", async () => {
  const script = { turns: [{ do: [{ say: "hello" }], repeat: 0 }] };
  expect(await load(JSON.stringify(script))).toEqual({ script });
});

test.each([
  ["that is no JSON", "turns: []\n"],
  ["with an action that is none", '{"turns":[{"do":[{"wirte":"a"}]}]}'],
])("a file %s is a problem, named with the file", async (_, text) => {
  expect(await load(text)).toEqual({ problem: expect.stringContaining("0123abcd: ") as string });
});

test("so is one that is not there", async () => {
  expect(await loadScript("/no/such/script")).toEqual({
    problem: expect.stringContaining("/no/such/script") as string,
  });
});
