import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findingText } from "../kit/finding.ts";
import { loadFlow, listFlowNames, type FlowResult } from "./load.ts";

const text =
  "flow: mine\nversion: 1\nlands_nothing: true\nphases:\n  - id: a\n    steps: [{ id: do, agent: writer, prompt: do.md, proof: [{ file: a.md, exists: true }] }]\n";
let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "flows-"));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});
const folder = (): string => join(root, ".autopilot", "flows", "mine");
function write(flow = text, prompt: string | Uint8Array | null = "Do {goal}\n"): void {
  mkdirSync(join(folder(), "prompts"), { recursive: true });
  writeFileSync(join(folder(), "flow.yaml"), flow);
  if (prompt !== null) writeFileSync(join(folder(), "prompts", "do.md"), prompt);
}
const reported = (result: FlowResult): string =>
  result.kind === "invalid" ? result.findings.map(findingText).join("\n") : result.kind;

describe("a user's own flow", () => {
  test("is found by its folder's name, with its prompts", async () => {
    write();
    const result = await loadFlow(root, "mine");
    expect(result).toMatchObject({
      kind: "loaded",
      flow: { flow: "mine" },
      prompts: { "do.md": "Do {goal}\n" },
      source: join(folder(), "flow.yaml"),
    });

    const names = await listFlowNames(root);
    expect(names).toEqual(expect.arrayContaining(["mine", "objective"]));
    expect(names).toEqual(names.toSorted());
  });

  test("tells what else lies beside its prompts", async () => {
    write();
    writeFileSync(join(folder(), "prompts", "old.md"), "x");
    mkdirSync(join(folder(), "prompts", "folder.md"));
    symlinkSync("do.md", join(folder(), "prompts", "link.md"));
    expect(await loadFlow(root, "mine")).toMatchObject({ promptFiles: ["do.md", "old.md"] });
  });

  test("goes before a built-in one of the same name", async () => {
    mkdirSync(join(root, ".autopilot", "flows", "objective", "prompts"), { recursive: true });
    writeFileSync(
      join(root, ".autopilot", "flows", "objective", "flow.yaml"),
      text.replace("flow: mine", "flow: objective"),
    );

    expect(await loadFlow(root, "objective")).toMatchObject({
      kind: "loaded",
      flow: { lands_nothing: true },
    });
  });

  test("has one hash however it is laid out, and another once a word of a prompt changes", async () => {
    write();
    const first = await loadFlow(root, "mine");
    write(`# said otherwise\nversion: 1\nflow: "mine"\n${text.slice(text.indexOf("lands"))}`);
    const second = await loadFlow(root, "mine");
    write(text, "Do {goal}!\n");
    const third = await loadFlow(root, "mine");
    if (first.kind !== "loaded" || second.kind !== "loaded" || third.kind !== "loaded") {
      throw new Error("not loaded");
    }

    expect(second.hash).toBe(first.hash);
    expect(third.hash).not.toBe(first.hash);
  });
});

describe("what is refused, with its place", () => {
  test("an unknown key, on its line", async () => {
    write(text.replace("version: 1", "version: 1\nabuot: x"));
    expect(reported(await loadFlow(root, "mine"))).toMatch(
      /flow\.yaml:3:1: .*"abuot".*Did you mean about\?/,
    );
  });

  test("another name than its folder's", async () => {
    write(text.replace("flow: mine", "flow: yours"));
    expect(reported(await loadFlow(root, "mine"))).toMatch(
      /:1:7: .*found the name yours, expected mine/,
    );
  });

  test.each(["../x.md", "/etc/passwd", "a/b.md", "do.txt"])("the prompt %s", async (prompt) => {
    write(text.replace("prompt: do.md", `prompt: ${prompt}`));
    expect(reported(await loadFlow(root, "mine"))).toMatch(/:6:.*expected the name of a \.md file/);
  });

  test("a prompt that is a link", async () => {
    write(text, null);
    writeFileSync(join(root, "secret.md"), "secret");
    symlinkSync(join(root, "secret.md"), join(folder(), "prompts", "do.md"));
    expect(reported(await loadFlow(root, "mine"))).toMatch(/prompts\/do\.md: found a link/);
  });

  test("a folder of prompts that is a link", async () => {
    write(text, null);
    rmSync(join(folder(), "prompts"), { recursive: true });
    mkdirSync(join(root, "elsewhere"));
    writeFileSync(join(root, "elsewhere", "do.md"), "secret");
    symlinkSync(join(root, "elsewhere"), join(folder(), "prompts"));
    expect(reported(await loadFlow(root, "mine"))).toMatch(/found a link/);
  });

  test("a flow that is a link, or whose folder is one", async () => {
    write();
    symlinkSync(folder(), join(root, ".autopilot", "flows", "other"));
    expect(reported(await loadFlow(root, "other"))).toMatch(/found a link/);
  });

  test("a pipe, without waiting for it", async () => {
    write(text, null);
    execFileSync("mkfifo", [join(folder(), "prompts", "do.md")]);
    expect(reported(await loadFlow(root, "mine"))).toMatch(/regular file/);
  });

  test("bytes that are no text", async () => {
    write(text, Uint8Array.of(0xff, 0xfe));
    expect(reported(await loadFlow(root, "mine"))).toMatch(/no UTF-8 text/);
  });

  test("a missing prompt is left to lint, which knows the step", async () => {
    write(text, null);
    expect(await loadFlow(root, "mine")).toMatchObject({ kind: "loaded", prompts: {} });
  });
});

test.each([
  ["objectve", /Did you mean objective\?/],
  ["../../etc", /no flow called/],
  ["MyFlow", /small letters, digits, - and _/],
])("no flow %s", async (name, message) => {
  expect(await loadFlow(root, name)).toMatchObject({
    kind: "missing",
    message: expect.stringMatching(message) as string,
  });
});

test("a folder without its flow.yaml is told as that, by the file that is not there", async () => {
  mkdirSync(join(root, ".autopilot/flows/bare"), { recursive: true });
  const reported = await loadFlow(root, "bare");
  expect(reported).toMatchObject({
    kind: "invalid",
    findings: [{ file: join(root, ".autopilot/flows/bare/flow.yaml"), rule: "flow_file" }],
  });
});
