import { expect, test } from "vitest";
import { parseAddress, chooseForgeTool } from "./remote-address.ts";

test.each([
  ["https://github.com/acme/shop.git", "github.com", "acme/shop"],
  ["https://me:secret@github.com/acme/shop", "github.com", "acme/shop"],
  ["git@github.com:acme/shop.git", "github.com", "acme/shop"],
  ["ssh://git@ssh.github.com:443/acme/shop.git", "github.com", "acme/shop"],
  ["git@gitlab.example.org:group/sub/shop.git", "gitlab.example.org", "group/sub/shop"],
  ["HTTPS://GitHub.com/acme/shop/", "github.com", "acme/shop"],
])("%s is a project at a host", (url, host, project) => {
  expect(parseAddress(url)).toEqual({ host, project });
});

test.each([
  ["/srv/git/shop.git"],
  ["../shop"],
  ["file:///srv/shop.git"],
  ["ext::sh -c id"],
  ["https://github.com/acme"],
  ["https://github.com/acme/../x"],
  ["https://github.com/acme/-x"],
  ["https://git hub.com/acme/shop"],
  ["-oProxyCommand=id:acme/shop"],
  [""],
])("%s is none", (url) => {
  expect(parseAddress(url)).toBeNull();
});

test("the host's name tells which program to ask, or nothing does", () => {
  expect(
    [
      "github.com",
      "github.acme.io",
      "my-github.io",
      "gitlab.com",
      "code.example.org",
      "notgithub.com",
    ].map(chooseForgeTool),
  ).toEqual(["gh", "gh", "gh", "glab", null, null]);
});
