// addresses: says which IP addresses are public. Everything else is this machine, its network,
// invalid, or set apart for groups, protocols and documentation.

import { BlockList, isIPv4, isIPv6 } from "node:net";

const nonPublic = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  nonPublic.addSubnet(net, prefix, "ipv4");
}
// Of IPv6 only the allocated range (2000::/3) is public; except parts that embed an IPv4 address,
// are unassigned, or are for protocols and documentation.
const publicIpv6 = new BlockList();
publicIpv6.addSubnet("2000::", 3, "ipv6");
for (const [net, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  nonPublic.addSubnet(net, prefix, "ipv6");
}
const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !nonPublic.check(address, "ipv4");
  return (
    isIPv6(address) &&
    !address.includes("%") &&
    publicIpv6.check(address, "ipv6") &&
    !nonPublic.check(address, "ipv6")
  );
}

export function isLoopback(host: string): boolean {
  const unbracketed = host.replace(/^\[(.*)\]$/, "$1");
  if (unbracketed === "localhost") return true;
  if (isIPv4(unbracketed)) return loopback.check(unbracketed, "ipv4");

  return isIPv6(unbracketed) && loopback.check(unbracketed, "ipv6");
}
