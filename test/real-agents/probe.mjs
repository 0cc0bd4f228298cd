// Drives installed agents by hand, one turn against the scripted model server, and prints what they say. For looking, not for judging:
//   node test/real-agents/probe.mjs NAME... [--prompt TEXT] [--frames FILE] [--no-mode] [--mcp FILE] [--keep]
import { spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { recipes } from "./recipes.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    prompt: { type: "string" },
    frames: { type: "string" },
    "no-mode": { type: "boolean" },
    mcp: { type: "string" },
    keep: { type: "boolean" },
    seconds: { type: "string" },
  },
});
const cache =
  process.env.AUTOPILOT_AGENTS_CACHE ?? join(homedir(), ".cache", "autopilot", "agents");
const table = JSON.parse(readFileSync(join(cache, "agents.json"), "utf8"));
const prompt =
  values.prompt ??
  "Please do this. [[write made.txt|written by the agent]] [[bash cat made.txt > copied.txt]] [[say All is done.]]";
const key = "sk-ant-local-scripted-0001";

for (const name of positionals.length > 0
  ? positionals
  : Object.keys(table).filter((name) => name in recipes))
  await probe(name, table[name], recipes[name]);

async function probe(name, { argv, path }, recipe) {
  const place = mkdtempSync(join(tmpdir(), "probe-"));
  const [home, work, tmp] = ["home", "work", "tmp"].map((part) => join(place, part));
  for (const folder of [home, work, tmp]) mkdirSync(folder);
  const server = spawn(process.execPath, [join(import.meta.dirname, "../model-server/start.mjs")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const calls = [];
  const url = await new Promise((tell) => {
    createInterface({ input: server.stdout }).on("line", (line) => {
      const told = JSON.parse(line);
      if (told.url !== undefined) tell(told.url);
      else calls.push(told);
    });
  });
  const filled = (text) =>
    text
      .replaceAll("{{url}}", url)
      .replaceAll("{{key}}", key)
      .replaceAll("{{model}}", recipe.model)
      .replaceAll("{{home}}", home);
  for (const [file, text] of Object.entries(recipe.files ?? {})) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), filled(text));
  }
  const env = {
    PATH: [...path, "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
    HOME: home,
    TMPDIR: tmp,
    LANG: "C.UTF-8",
    ...Object.fromEntries(Object.entries(recipe.env).map(([word, text]) => [word, filled(text)])),
  };
  const [program, ...words] = [...argv, ...(recipe.words ?? []).map(filled)];
  const began = performance.now();
  const child = spawn(program, words, {
    cwd: work,
    env,
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  const exited = new Promise((tell) =>
    child.once("exit", (code, signal) => tell({ code, signal, atMs: at() })),
  );
  const at = () => Math.round(performance.now() - began);
  const waiting = new Map();
  const kinds = {};
  const usages = [];
  const metas = [];
  let said = "";
  let number = 0;
  const send = (frame) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`);
  const request = (method, params) =>
    Promise.race([
      new Promise((tell) => {
        const id = ++number;
        waiting.set(id, tell);
        send({ id, method, params });
      }),
      new Promise((tell) =>
        setTimeout(
          () => tell({ error: { message: `no answer to ${method}` } }),
          Number(values.seconds ?? 60) * 1000,
        ).unref(),
      ),
      exited.then((how) => ({ error: { message: `exit ${JSON.stringify(how)}` } })),
    ]);
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (values.frames !== undefined) appendFileSync(values.frames, `${line}\n`);
    let frame;
    try {
      frame = JSON.parse(line);
    } catch {
      console.log(`  garbage: ${line.slice(0, 200)}`);
      return;
    }
    if (frame.method === undefined) return waiting.get(frame.id)?.(frame);
    if (frame.method === "session/update") {
      const { update } = frame.params;
      kinds[update.sessionUpdate] = (kinds[update.sessionUpdate] ?? 0) + 1;
      if (update.sessionUpdate === "agent_message_chunk") said += update.content.text ?? "";
      if (update.sessionUpdate === "usage_update") usages.push(update);
      if (update._meta !== undefined && /usage|quota/i.test(JSON.stringify(update._meta)))
        metas.push(update._meta);
      return;
    }
    if (frame.method === "session/request_permission") {
      console.log(
        `  asked: ${JSON.stringify(frame.params.options.map(({ optionId, kind }) => [optionId, kind]))}`,
      );
      const option = frame.params.options.find(({ kind }) => kind === "allow_once");
      return send({
        id: frame.id,
        result: { outcome: { outcome: "selected", optionId: option.optionId } },
      });
    }
    if (frame.id !== undefined)
      send({ id: frame.id, error: { code: -32601, message: "not here" } });
  });
  const show = (what, value) => console.log(`  ${what}: ${JSON.stringify(value)}`);
  console.log(`== ${name}`);
  const started = await request("initialize", {
    protocolVersion: 1,
    clientInfo: { name: "probe", version: "1" },
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  show("initialize", {
    atMs: at(),
    ...started.error,
    info: started.result?.agentInfo,
    caps: started.result?.agentCapabilities,
  });
  const mcpServers =
    values.mcp === undefined
      ? []
      : [{ name: "autopilot", command: process.execPath, args: [values.mcp], env: [] }];
  const opened = await request("session/new", { cwd: work, mcpServers });
  const sessionId = opened.result?.sessionId;
  show("session/new", {
    atMs: at(),
    error: opened.error,
    mode: opened.result?.modes?.currentModeId,
    modes: opened.result?.modes?.availableModes?.map(({ id }) => id),
    options: opened.result?.configOptions?.map(({ id, category, currentValue, options }) => [
      id,
      category,
      currentValue,
      options?.map?.((one) => one.value).slice(0, 8),
    ]),
  });
  if (sessionId !== undefined) {
    if (recipe.mode !== undefined && !values["no-mode"])
      show(
        "set_mode",
        (await request("session/set_mode", { sessionId, modeId: recipe.mode })).error ?? "ok",
      );
    if (recipe.option !== undefined && !values["no-mode"])
      show(
        "set_config_option",
        (await request("session/set_config_option", { sessionId, ...recipe.option })).error ?? "ok",
      );
    const answered = await request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: prompt }],
    });
    show("prompt", {
      atMs: at(),
      ...(answered.error === undefined ? answered.result : { error: answered.error }),
    });
  }
  const seen = (file) =>
    existsSync(join(work, file)) ? readFileSync(join(work, file), "utf8").trim() : null;
  show("made", {
    made: seen("made.txt"),
    copied: seen("copied.txt"),
    said,
    others: readdirSync(work),
  });
  show("updates", kinds);
  show("usage_update", usages.at(-1));
  show("meta", metas.at(-1));
  show(
    "calls",
    calls.map(({ api, path, model, status, isSideCall, usage, key: seenKey, headers }) => [
      api,
      path,
      model,
      status,
      isSideCall ? "side" : "main",
      usage?.inputTokens,
      usage?.cacheReadTokens,
      usage?.cacheWriteTokens,
      usage?.outputTokens,
      seenKey,
      headers["user-agent"],
    ]),
  );
  show("tools", calls.find(({ isSideCall }) => !isSideCall)?.tools);
  const endedAt = at();
  child.stdin.end();
  const ended = await Promise.race([
    exited,
    new Promise((tell) => setTimeout(() => tell(null), 5000)),
  ]);
  show(
    "exit on end of stdin",
    ended === null ? "no, needs TERM" : { ...ended, afterMs: ended.atMs - endedAt },
  );
  if (ended === null) {
    process.kill(-child.pid, "SIGTERM");
    show(
      "exit on TERM",
      await Promise.race([exited, new Promise((tell) => setTimeout(() => tell("no"), 5000))]),
    );
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It is gone already.
    }
  }
  if (errors !== "") show("stderr", errors.slice(0, 600));
  show(
    "home",
    readdirSync(home, { recursive: true })
      .filter((file) => file.split("/").length < 4)
      .slice(0, 60),
  );
  server.stdin.end();
  if (!values.keep) rmSync(place, { recursive: true, force: true });
  else show("kept", place);
}
