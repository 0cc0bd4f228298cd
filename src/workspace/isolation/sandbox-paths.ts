// sandbox-paths: the paths of the machine that a sandbox shows or hides, as data: programs and what
// they need. Anything else is absent.

import { join } from "node:path";

/** Paths of the machine with programs and what they need, read-only. */
export const machinePaths: readonly string[] = [
  "/usr",
  "/usr/local",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/opt",
  "/snap",
  "/nix/store",
  "/nix/var/nix/profiles",
  "/gnu/store",
  "/var/guix/profiles",
  join("/home", "linuxbrew", ".linuxbrew"),
  "/etc",
  "/var/lib/ca-certificates",
  "/var/cache/fontconfig",
  "/run/current-system",
  "/run/wrappers",
  "/run/opengl-driver",
  "/sys/devices/system/cpu",
];

/** Files of /etc that may be links to somewhere else. */
export const linkedEtcFiles: readonly string[] = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/localtime",
  "/etc/ssl/certs",
  "/etc/os-release",
];

/** Parts of the machine's paths with keys, passwords and tokens: hidden. */
export const machineSecrets: readonly string[] = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/security/opasswd",
  "/etc/ssh/ssh_host_rsa_key",
  "/etc/ssh/ssh_host_dsa_key",
  "/etc/ssh/ssh_host_ecdsa_key",
  "/etc/ssh/ssh_host_ed25519_key",
  "/etc/ssl/private",
  "/etc/pki/tls/private",
  "/etc/letsencrypt",
  "/etc/krb5.keytab",
  "/etc/kubernetes",
  "/etc/rancher",
  "/etc/cni",
  "/etc/containers/auth.json",
  "/etc/docker",
  "/etc/wireguard",
  "/etc/openvpn",
  "/etc/ipsec.d",
  "/etc/ipsec.secrets",
  "/etc/ppp",
  "/etc/NetworkManager/system-connections",
  "/etc/wpa_supplicant",
  "/etc/netplan",
  "/etc/cloud",
  "/etc/mysql/debian.cnf",
  "/etc/apt/auth.conf",
  "/etc/apt/auth.conf.d",
  "/etc/vault.d",
  "/etc/consul.d",
  "/etc/autopilot",
];

/** Toolchains below HOME, read-only. */
const homeToolchains: readonly string[] = [
  ".nvm",
  ".fnm",
  ".local/share/fnm",
  ".volta",
  ".nodenv",
  ".npm-global",
  ".npm-packages",
  ".yarn/bin",
  ".config/yarn/global",
  ".bun",
  ".deno",
  ".pyenv",
  ".rye",
  ".pixi",
  "miniconda3",
  "miniforge3",
  "mambaforge",
  "anaconda3",
  ".local/bin",
  ".local/lib",
  ".local/share/uv",
  ".local/share/pipx",
  ".local/share/pnpm",
  ".local/share/mise",
  ".local/share/claude",
  ".local/share/cursor-agent",
  ".claude/local",
  ".opencode/bin",
  ".rustup",
  ".cargo",
  "go/bin",
  "go/pkg",
  ".goenv",
  ".rbenv",
  ".rvm",
  ".gem",
  ".sdkman",
  ".jenv",
  ".jdks",
  ".asdf",
  ".proto",
  ".dotnet",
  ".ghcup",
  ".cabal/bin",
  ".opam",
  ".elan",
  ".juliaup",
  ".swiftly",
  ".phpenv",
  ".nix-profile",
  ".local/state/nix/profiles",
];

/** Parts of these toolchains with keys and tokens: hidden. */
export const homeSecrets: readonly string[] = [
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".dotnet/corefx",
  ".local/share/uv/credentials",
  ".npm-global/etc/npmrc",
  ".npm-packages/etc/npmrc",
];

/**
 * Toolchains that look for themselves in HOME: in the sandbox they are given their real locations.
 */
export const toolchainVariables: readonly (readonly [string, string])[] = [
  ["RUSTUP_HOME", ".rustup"],
  ["PYENV_ROOT", ".pyenv"],
  ["RBENV_ROOT", ".rbenv"],
  ["NODENV_ROOT", ".nodenv"],
  ["VOLTA_HOME", ".volta"],
  ["ASDF_DATA_DIR", ".asdf"],
  ["MISE_DATA_DIR", ".local/share/mise"],
];

/** Where toolchains lie: in the user's home, or where the user's variables say. */
export function listToolchainPaths(userHome: string): readonly string[] {
  const named = toolchainVariables.flatMap(([name]) => process.env[name] ?? []);
  return [...homeToolchains.map((path) => join(userHome, path)), ...named];
}

/**
 * Settings that tools look for in each folder above theirs, and end with an error if one is there
 * and can't be read. A list.
 */
export const parentSettings: readonly string[] = [
  "Cargo.toml",
  ".cargo/config.toml",
  ".cargo/config",
  ".editorconfig",
  ...["", ".cjs", ".js", ".json", ".yaml", ".yml"].map((ending) => `.eslintrc${ending}`),
];

/**
 * Signs that a folder is the root of an installed tool: its programs are in bin/ and need the rest.
 */
export const toolRootMarkers: readonly string[] = [
  "lib",
  "lib64",
  "libexec",
  "include",
  "conda-meta",
  "pyvenv.cfg",
  "VERSION",
];
