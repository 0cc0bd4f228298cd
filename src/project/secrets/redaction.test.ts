import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { buildRequest } from "../../runner/send-to-run.ts";
import { commandContext } from "../../../test/support/command-context.ts";
import { redactBlob } from "./redacted-journal.ts";
import { openLiveEvents } from "./redacted-live-events.ts";
import { isSecretName, findSecretParts, judgeSecret } from "./redaction-names.ts";
import type { AgentProfile } from "../../agents/profiles/profile.ts";
import { agentProfiles } from "../../agents/profiles/shipped-profiles.ts";
import { openRedaction, redactResponse } from "./redaction.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "logins-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const opened = (env: Record<string, string>, names: readonly string[] = []) =>
  openRedaction({ env, names, agentEnv: {}, home });
const token = "Zx81kQ-vv02_Lm4";

test("a variable's name says whether it holds a secret", () => {
  const secret = [
    "API_KEY",
    "OPENAIKEY",
    "GH_TOKEN",
    "npm_config__authToken",
    "DB_PASSWORD",
    "DB_PASS",
    "MY_SECRET",
    "AWS_CREDENTIALS",
    "AUTH",
    "HTTP_COOKIE",
  ];

  const other = [
    "PATH",
    "HOME",
    "GIT_AUTHOR_NAME",
    "PWD",
    "OLDPWD",
    "SSH_AUTH_SOCK",
    "KEYBOARD",
    "PASSAGE",
    "GIT_ASKPASS",
    "LANG",
    "SHLVL",
    "AUTHOR",
  ];

  expect(secret.filter(isSecretName)).toEqual(secret);
  expect(other.filter(isSecretName)).toEqual([]);
});

test("switches, numbers and names of files are no secrets; what is short or a plain word is a weak one", () => {
  const worth = (value: string) => judgeSecret(value, (path) => path === "/etc/key.pem", 8);
  expect(
    ["true", "4096", "10.5", "", "none", "/etc/key.pem", "/etc/key.pem:/etc/key.pem"].map(worth),
  ).toEqual(Array(7).fill("none"));

  expect(["abc12", "postgres", "read-only"].map(worth)).toEqual(Array(3).fill("weak"));
  expect(
    [token, "correct horse battery staple", "/not/there/k3y", "1234567890123456"].map(worth),
  ).toEqual(Array(4).fill("secret"));

  expect(findSecretParts("DATABASE_URL", "postgres://app:p%40ss-w0rd@db/x")).toEqual([
    "p%40ss-w0rd",
    "p@ss-w0rd",
  ]);
});

test.each([
  ["OTEL_EXPORTER_OTLP_HEADERS", `authorization=Bearer ${token}`],
  ["OTEL_EXPORTER_OTLP_HEADERS", `x-tenant=acme,authorization=Bearer%20${token}`],
  ["OTEL_EXPORTER_OTLP_HEADERS", `x-honeycomb-team=${token},x-other=1`],
  ["EXTRA_HEADERS", `{"Authorization": "Basic ${Buffer.from(`me:${token}`).toString("base64")}"}`],
  ["CONNECTION", `host=db port=5432 password=${token} dbname=x`],
  ["CONNECTION", `Server=db,1433;User Id=sa;Pwd=${token};Encrypt=true`],
  ["REPLICAS", `postgres://a:one-Pa55word@h1/x,postgres://b:${token}@h2/x`],
  ["CALLBACK", `https://x.invalid/hook?api_key=${token}&v=1`],
  ["REMOTE", `https://${token}${token}@git.invalid/x.git`],
  ["SETTINGS", `{"db": {"password": "${token}"}}`],
])("a secret that is a part of %s=%s is one by itself", (name, value) => {
  const { redactor, weakSecrets } = opened({ [name]: value });
  const secret = name === "REMOTE" ? `${token}${token}` : token;
  expect(redactor.text(`the agent says ${secret} aloud`)).toBe(
    `the agent says [redacted:${name}] aloud`,
  );

  expect(redactor.text("acme and 5432, 1433, true, https://x.invalid/hook, dbname")).toBe(
    "acme and 5432, 1433, true, https://x.invalid/hook, dbname",
  );

  expect(weakSecrets()).toEqual([]);
});

test("weak secrets are told by name, and only those", () => {
  const { weakSecrets, redactor, learn } = opened({
    DB_PASSWORD: "hunter2",
    API_TOKEN: token,
    DEBUG_KEY: "true",
    PLAIN_TOKEN: "production",
  });
  expect(weakSecrets()).toEqual(["DB_PASSWORD", "PLAIN_TOKEN"]);
  learn("METER_KEY", "key-of-the-meter-1");
  expect(redactor.text(`hunter2 ${token} production key-of-the-meter-1`)).toBe(
    "hunter2 [redacted:API_TOKEN] production [redacted:METER_KEY]",
  );
});

test("a plain word is no secret for standing where a password stands, and is told of", () => {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, ".netrc"), "machine ftp.example.com login me password anonymous\n");
  const { redactor, weakSecrets } = opened({
    DATABASE_URL: "postgres://postgres:postgres@localhost/app",
    OTHER_URL: "redis://:s3cr3t-pw@db",
  });
  expect(redactor.text("postgres anonymous s3cr3t-pw")).toBe(
    "postgres anonymous [redacted:OTHER_URL]",
  );

  expect(weakSecrets()).toEqual(["DATABASE_URL", "netrc"]);
});

test("what the user names, passwords in addresses and key files in a variable are secrets too", () => {
  const { redactor } = opened(
    {
      HOUSE: "lane-77-b",
      DATABASE_URL: "postgres://app:s3cr3t-pw@db/x",
      GCP_CREDENTIALS: '{"type":"service_account","private_key":"abcdef-123456-xyz"}',
    },
    ["HOUSE"],
  );
  expect(redactor.text("lane-77-b s3cr3t-pw abcdef-123456-xyz service_account")).toBe(
    "[redacted:HOUSE] [redacted:DATABASE_URL] [redacted:GCP_CREDENTIALS] service_account",
  );
});

test("login files of other programs are read as far as they are files of their size", () => {
  const files: Record<string, string> = {
    ".netrc": "machine example.com login me password net-rc-secret-1\n",
    ".npmrc": "//registry.example/:_authToken=npm-secret-22\nfund=false\n",
    ".git-credentials": "https://me:git%2Dsecret-333@example.com\n",
    ".config/gh/hosts.yml":
      "github.com:\n    user: me-myself-and-i\n    oauth_token: gh-secret-4444\n",
    ".aws/credentials":
      "[default]\naws_access_key_id = public-enough\naws_secret_access_key = aws+secret/55555\n",
    ".codex/auth.json": JSON.stringify({
      tokens: { access_token: "codex-secret-6", account: "my-account-name" },
    }),
    ".gemini/oauth_creds.json": "{ broken",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }

  mkdirSync(join(home, ".pypirc"));
  const { redactor } = opened({});
  const said =
    "net-rc-secret-1 npm-secret-22 git-secret-333 gh-secret-4444 aws+secret/55555 codex-secret-6 me-myself-and-i my-account-name";
  expect(redactor.text(said)).toBe(
    "[redacted:netrc] [redacted:npmrc] [redacted:git-credentials] [redacted:config_gh_hosts_yml] [redacted:aws_credentials] [redacted:codex_auth_json] me-myself-and-i my-account-name",
  );
});

test.each(
  Object.values(agentProfiles)
    .flatMap(({ ownLogin }: AgentProfile) => ownLogin?.files ?? [])
    .map(({ path }) => path),
)("the login that an agent keeps in %s is a secret", (path) => {
  const token = "agent-login-secret-77";
  const text = path.endsWith(".json") ? JSON.stringify({ token }) : `api_key = "${token}"\n`;
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
  expect(opened({}).redactor.text(token)).toMatch(/^\[redacted:[\w-]+\]$/);
});

test.each([
  [".pypirc", "password = left-half-1#right-half-2\n", "left-half-1#right-half-2"],
  [".pypirc", `password = it's-"quoted"-4321\n`, `it's-"quoted"-4321`],
  [".npmrc", "//registry.example/:_authToken=npm-secret-22;old\n", "npm-secret-22"],
  [".npmrc", "//registry.example/:_password=ab:cd-9876=xy-5\n", "ab:cd-9876=xy-5"],
  [".cargo/credentials.toml", `token = "cargo # secret 33" # of "work"\n`, "cargo # secret 33"],
  [".cargo/credentials.toml", String.raw`token = "cargo-\"secret\"-33"`, `cargo-"secret"-33`],
  [".config/gh/hosts.yml", "oauth_token: gh-secret-4444 # of work\n", "gh-secret-4444"],
])("a value in %s is redacted whole, whichever characters are in it: %s", (path, text, secret) => {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
  expect(opened({}).redactor.text(`<${secret}>`)).toMatch(/^<\[redacted:\w+\]>$/);
});

test("a blob of JSON stays JSON, and its hashes stay; one without a secret is the very same", () => {
  const sha = "a".repeat(20) + "b".repeat(20);
  const { redactor } = opened({ CACHE_KEY: sha, API_TOKEN: token });
  const blob = `${JSON.stringify({ commit: sha, output_excerpt: `"${token}"\n${sha}` })}\n`;
  expect(JSON.parse(String(redactBlob(redactor, blob)))).toEqual({
    commit: sha,
    output_excerpt: '"[redacted:API_TOKEN]"\n[redacted:CACHE_KEY]',
  });

  expect(redactBlob(redactor, "nothing here")).toBe("nothing here");
});

test("a secret said in pieces is not shown by the piece that ends it, nor by the one that has most of it", () => {
  const hear = openLiveEvents(opened({ API_TOKEN: token }).redactor);
  const shown = ["it is Zx81", "kQ-vv0", "2_Lm4 ok", "and on"].map((text) =>
    hear({ signal: "said", attempt: "1@1/a#1", text })(),
  );
  expect(shown.map((signal) => ("text" in signal ? signal.text : ""))).toEqual([
    "it is Zx81",
    "[redacted:API_TOKEN]",
    "[redacted:API_TOKEN] ok",
    "and on",
  ]);
});

test("a request for a run's owner and an answer for the terminal are without secrets", () => {
  const env = { API_TOKEN: token, HOME: home };
  const context = commandContext({ cwd: home, env });

  const request = buildRequest(context, home, {
    event: "block_answered",
    block: "block:1@1/ask#1",
    answer: `use ${token}`,
  });
  expect(request).toMatchObject({ answer: "use [redacted:API_TOKEN]", block: "block:1@1/ask#1" });

  const answer = {
    result: "FAIL",
    reason_code: "usage",
    run_id: null,
    state: null,
    message: `--${token} is not known`,
    warnings: [],
    remediation: [token],
  } as const;

  expect(
    redactResponse({ ...answer, warnings: [], remediation: [...answer.remediation] }, env),
  ).toMatchObject({
    message: "--[redacted:API_TOKEN] is not known",
    remediation: ["[redacted:API_TOKEN]"],
  });
});
