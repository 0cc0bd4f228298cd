import { expect, test } from "vitest";
import { foreignTokens } from "./foreign-tokens.ts";

const [github, enterprise, gitlab] = [
  ["GH_TOKEN", "GITHUB_TOKEN"],
  ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
  ["GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "OAUTH_TOKEN"],
];

test.each([
  ["github.com", {}, [...enterprise, ...gitlab]],
  ["gitlab.com", {}, [...github, ...enterprise]],
  ["gitlab.evil.example", {}, [...github, ...enterprise, ...gitlab]],
  ["gitlab.com", { GITLAB_HOST: "https://git.acme.io/" }, [...github, ...enterprise, ...gitlab]],
  ["git.acme.io", { GITLAB_HOST: "https://git.acme.io/" }, [...github, ...enterprise]],
  ["git.acme.io", { GL_HOST: "git.acme.io:8443" }, [...github, ...enterprise]],
  ["github.acme.io", { GH_HOST: "github.acme.io" }, [...github, ...gitlab]],
  ["github.evil.example", { GH_HOST: "github.acme.io" }, [...github, ...enterprise, ...gitlab]],
  ["acme.ghe.com", { GH_HOST: "acme.ghe.com" }, gitlab],
])("a token goes to its own host alone: %s with %o", (host, env, dropped) => {
  expect(foreignTokens(host, env)).toEqual(dropped);
});
