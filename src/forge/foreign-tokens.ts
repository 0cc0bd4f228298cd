// foreign-tokens: finds tokens of the environment that belong to another host than the one that is
// asked. gh and glab send some of them to any host, and a repository names that host. Pure.

type Env = Readonly<Record<string, string | undefined>>;

/** `https://Git.example.org:8443/x` → `git.example.org`; null for an empty text. */
const parseHost = (text: string | undefined): string | null => {
  const host = (text ?? "")
    .trim()
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, "")
    .replace(/[/:].*$/s, "");
  return host === "" ? null : host;
};

/** The names of the variables that the program for this host must not see. */
export function foreignTokens(host: string, env: Env): readonly string[] {
  const enterprise = parseHost(env["GH_HOST"]);
  const gitlab =
    parseHost(env["GITLAB_HOST"]) ??
    parseHost(env["GITLAB_URI"]) ??
    parseHost(env["GL_HOST"]) ??
    "gitlab.com";
  return [
    ...(host === "github.com" || (host.endsWith(".ghe.com") && host === enterprise)
      ? []
      : ["GH_TOKEN", "GITHUB_TOKEN"]),
    ...(host === enterprise && host !== "github.com"
      ? []
      : ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"]),
    ...(host === gitlab ? [] : ["GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "OAUTH_TOKEN"]),
  ];
}
