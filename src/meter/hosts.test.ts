// Which places an agent may reach: the empty list first.

import { describe, expect, test } from "vitest";
import { isLoopback, isPublicAddress } from "./addresses.ts";
import { resolveAddress, createHostJudge, parseAuthority } from "./hosts.ts";

describe("the list", () => {
  test("an empty one allows nothing", () => {
    for (const host of ["example.com", "localhost", "127.0.0.1", "::1", ""]) {
      for (const port of [80, 443, 8080]) expect(createHostJudge([])({ host, port })).toBe("no");
    }
  });

  test.each([
    "",
    "*",
    "*.",
    "*.com",
    "*.*.com",
    "exa mple.com",
    "example.com/",
    "http://example.com",
    "*.1.2.3.4",
    "example.com:0",
    "ex\0ample.com",
    "a@b.com",
  ])("an entry that is none (%j) allows nothing", (entry) => {
    for (const host of ["example.com", "a.com", "1.2.3.4", "b.com", "com"]) {
      expect(createHostJudge([entry])({ host, port: 443 })).toBe("no");
    }
  });

  test.each([
    [["example.com"], "example.com", 443, "by name"],
    [["example.com"], "example.com", 80, "by name"],
    [["example.com"], "example.com", 22, "no"],
    [["example.com"], "a.example.com", 443, "no"],
    [["example.com"], "notexample.com", 443, "no"],
    [["*.example.com"], "a.example.com", 443, "by name"],
    [["*.example.com"], "a.b.example.com", 443, "by name"],
    [["*.example.com"], "example.com", 443, "no"],
    [["*.example.com"], "evilexample.com", 443, "no"],
    [["*.example.com:8443"], "a.example.com", 8443, "by name"],
    [["*.example.com:8443"], "a.example.com", 443, "no"],
    [["EXAMPLE.com."], "example.com", 443, "by name"],
    [["example.com:22"], "example.com", 22, "exact"],
    [["example.com:22"], "example.com", 443, "no"],
    [["127.0.0.1:3000"], "127.0.0.1", 3000, "exact"],
    [["[::1]:3000"], "::1", 3000, "exact"],
    [["::1"], "::1", 443, "by name"],
  ] as const)("%j: %s:%i is %s", (list, host, port, verdict) => {
    expect(createHostJudge(list)({ host, port })).toBe(verdict);
  });
});

describe("a name as a client writes it", () => {
  test.each([
    ["example.com:443", { host: "example.com", port: 443 }],
    ["EXAMPLE.Com.:443", { host: "example.com", port: 443 }],
    ["xn--bcher-kva.example:443", { host: "xn--bcher-kva.example", port: 443 }],
    ["[::1]:443", { host: "::1", port: 443 }],
    ["1.2.3.4:443", { host: "1.2.3.4", port: 443 }],
  ])("%s is understood", (text, target) => {
    expect(parseAuthority(text, null)).toEqual(target);
  });

  test.each([
    "example.com",
    "example.com:",
    "example.com:0",
    "example.com:65536",
    "example.com:443:443",
    "evil.com\0.example.com:443",
    "evil.com%00.example.com:443",
    "example.com\r\n:443",
    " example.com:443",
    "user@example.com:443",
    "example.com:443@evil.com:443",
    "example.com/:443",
    "example.com\\.evil.com:443",
    "example.com#.evil.com:443",
    "exämple.com:443",
    "example。com:443",
    "example..com:443",
    ".example.com:443",
    "-example.com:443",
    "127.1:443",
    "0x7f.0.0.1:443",
    "0x7f000001:443",
    "2130706433:443",
    "017700000001:443",
    "127.0.0.1..:443",
    "[::1%lo]:443",
    "[::1:443",
    "::1:443",
    `${"a".repeat(64)}.com:443`,
    `${"a.".repeat(127)}com:443`,
  ])("%j is not", (text) => {
    expect(parseAuthority(text, null)).toBeNull();
  });
});

describe("the address behind a name", () => {
  const leadsTo =
    (...addresses: readonly string[]) =>
    async () =>
      addresses;

  const target = { host: "example.com", port: 443 };
  test.each([
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2001:0:1::1",
    "not an address",
  ])("%s is not in the open", async (address) => {
    expect(isPublicAddress(address)).toBe(false);
    expect(
      await resolveAddress(target, createHostJudge(["example.com"]), leadsTo(address)),
    ).toHaveProperty("refused");

    expect(
      await resolveAddress(target, createHostJudge(["example.com"]), leadsTo("8.8.8.8", address)),
    ).toHaveProperty("refused");
  });

  test.each(["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"])(
    "%s is, and is what is dialled",
    async (address) => {
      expect(
        await resolveAddress(target, createHostJudge(["example.com"]), leadsTo(address)),
      ).toEqual({ address });
    },
  );

  test("this machine is reached only where host and port are listed", async () => {
    const local = { host: "localhost", port: 3000 };
    expect(
      await resolveAddress(local, createHostJudge(["localhost:3000"]), leadsTo("127.0.0.1")),
    ).toEqual({ address: "127.0.0.1" });

    expect(
      await resolveAddress(
        { ...local, port: 80 },
        createHostJudge(["localhost"]),
        leadsTo("127.0.0.1"),
      ),
    ).toHaveProperty("refused");

    expect(
      await resolveAddress(
        { host: "a.b.c", port: 3000 },
        createHostJudge(["*.b.c:3000"]),
        leadsTo("127.0.0.1"),
      ),
    ).toHaveProperty("refused");
  });

  test("a name without an address, or whose search fails, is refused", async () => {
    expect(
      await resolveAddress(target, createHostJudge(["example.com"]), leadsTo()),
    ).toHaveProperty("refused");

    expect(
      await resolveAddress(target, createHostJudge(["example.com"]), () =>
        Promise.reject(new Error("no")),
      ),
    ).toHaveProperty("refused");
  });

  test("what this machine calls itself", () => {
    expect(["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"].map(isLoopback)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);

    expect(["localhost.evil.com", "128.0.0.1", "127.1", "0.0.0.0", ""].map(isLoopback)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
