// What tools print when a check asks for the network and has none.

import { expect, test } from "vitest";
import { findUnreachableHosts, describeUnreachableHosts } from "./unreachable-hosts.ts";

test.each([
  [
    "npm",
    "npm error network request to https://registry.npmjs.org/tape failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org",
    "registry.npmjs.org",
  ],
  [
    "yarn",
    'error An unexpected error occurred: "https://registry.yarnpkg.com/x: getaddrinfo ENOTFOUND registry.yarnpkg.com".',
    "registry.yarnpkg.com",
  ],
  [
    "cargo",
    "  [6] Couldn't resolve host name (Could not resolve host: index.crates.io)",
    "index.crates.io",
  ],
  [
    "git",
    "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com",
    "github.com",
  ],
  [
    "go",
    'go: example.com/a@v1.0.0: Get "https://proxy.golang.org/a": dial tcp: lookup proxy.golang.org: no such host',
    "proxy.golang.org",
  ],
  [
    "pip",
    "WARNING: Retrying after connection broken by HTTPSConnectionPool(host='pypi.org', port=443): [Errno -3] Temporary failure in name resolution",
    "pypi.org",
  ],
])("%s", (_tool, line, host) => {
  expect(findUnreachableHosts([line, line])).toEqual([host]);
  expect(describeUnreachableHosts([host])).toContain(`asked ${host} over the network`);
});

test.each([
  "AssertionError: expected 3",
  "connect ECONNREFUSED 127.0.0.1:3000",
  "see https://example.com/help",
  "1 failing",
])("an ordinary failure is one: %s", (line) => expect(findUnreachableHosts([line])).toEqual([]));
