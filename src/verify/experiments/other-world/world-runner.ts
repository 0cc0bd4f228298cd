// world-runner: starts the test programs that Go and Cargo build as a person would start any
// program: without the variables that these tools add, in a folder with the package's data and
// without its sources, from a file of another name and place, and by another process. `go` and
// `cargo` are told by a variable what starts them, so the check's command stays as it is. Pure.
//
// Invariants:
//   R1. What the project's tests name stays: a variable of Cargo's by its name, and the folder as
//       it is if a test speaks of sources or starts the tool. So do the variables that the
//       project's own settings for Cargo give (`[env]`), and the repository, which git asks.
//   R2. Only test programs are started that way. What `go run` and `cargo run` start may be a part
//       of the build.
//   R3. If something is missing for it (/proc, links), or there are too many files, that part is as
//       usual.

/** Each 0 or 1: no variables of the runner, no sources, another program. */
export type RunnerValues = readonly [variables: number, sources: number, program: number];

/**
 * Shell lines that write the program, list what tests name (R1), and tell `go` and `cargo`, which
 * split the value at spaces.
 */
export const startTestPrograms = (values: RunnerValues): string => `_start=$(mktemp -d)
if [ -n "$(find . -maxdepth 4 -name node_modules -prune -o \\( -name go.mod -o -name Cargo.toml \\) -print 2>/dev/null | head -1)" ]; then
cat >"$_start/run" <<'END_OF_PROGRAM'
${createProgram(values)}END_OF_PROGRAM
chmod +x "$_start/run"
_root=$PWD; while [ ! -e "$_root/.git" ] && [ "$_root" != / ]; do _root=$(dirname "$_root"); done; [ "$_root" != / ] || _root=$PWD
ln -s "$_root" "$_start/root"
env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p' >"$_start/given"
awk '/^ *\\[/ { on = /^ *\\[env\\]/ } on && /=/ { sub(/^ */, ""); sub(/[ =.].*/, ""); print }' "$_root"/.cargo/config* .cargo/config* >>"$_start/given" 2>/dev/null
(cd "$_root" && {
  find . -path "*test*/*" -name "*.go" ! -name "*_test.go" ! -path "*/testdata/*" -exec cat {} + >"$_start/go"
  find . -name target -prune -o \\( -path "*/tests/*" -o -path "*/benches/*" \\) -name "*.rs" -exec cat {} + >"$_start/rust"
  find . -name target -prune -o -path "*/src/*" -name "*.rs" -exec awk "FNR == 1 { on = 0 } /cfg.test/ { on = 1 } on" {} + >>"$_start/rust"
  find . -name target -prune -o -name Cargo.toml -exec grep -h "dev-dependencies" {} + >"$_start/libraries"
}) 2>/dev/null
case "$_start" in *[[:space:]]*) ;; *)
  ! command -v go >/dev/null || export GOFLAGS="\${GOFLAGS:+$GOFLAGS }-exec=$_start/run"
  _host=$(rustc -vV 2>/dev/null | sed -n 's/^host: //p' | tr a-z- A-Z_)
  [ -z "$_host" ] || grep -qs '^ *runner' .cargo/config .cargo/config.toml || export "CARGO_TARGET_\${_host}_RUNNER=$_start/run" ;;
esac
fi`;

const filesMax = 10_000;
const kilobytesMax = 200_000;

/** By these, tests show that they need the folder as it is (R1). */
const goSources = `"go"|[.]go["\`*]|[(]"[.]{1,2}/?"|go[.](mod|sum|work)|go/(ast|build|format|packages|parser)|runtime[.]Caller`;
const rustSources = `"cargo"|[.]rs"|Cargo[.](toml|lock)|"([.]/)?src["/]|(new|from|read_dir)[(]"[.]{1,2}/?"|trybuild`;
/** Variables with places, which libraries for tests read. */
const places = "CARGO|CARGO_MANIFEST_DIR|CARGO_MANIFEST_PATH|CARGO_BIN_EXE_.*";
/**
 * What rustup's own `cargo` adds before it becomes the real one, which then can't be told from what
 * the command gave it: a list.
 */
const ofRustup =
  "RUST_RECURSION_COUNT RUSTUP_TOOLCHAIN RUSTUP_TOOLCHAIN_SOURCE CARGO_HOME LD_LIBRARY_PATH";
/** Large folders, which are linked as they are if a test names them (R1). */
const large = "\\( -name target -o -name .git -o -name node_modules \\) -prune";
const manifests = `-name go.mod -o -name go.sum -o -name go.work -o -name Cargo.toml -o -name Cargo.lock`;

const createProgram = ([variables, sources, program]: RunnerValues): string => `#!/bin/sh
here=$(dirname "$0"); root=$(cd "$here/root" && pwd -P); folder=$(pwd -P); binary=$1; shift
case $binary in
*.test) kind=go ;;
*/deps/*) kind=rust ;;
*) exec "$binary" "$@" ;;
esac
tests() { if [ $kind = go ]; then cat "$folder"/*_test.go; fi; cat "$here/$kind"; }
names() { tr "\\n\\0" " \\n" <"/proc/$1/environ" | sed -n "s/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p"; }

flags=""
for word in $GOFLAGS; do [ "$word" = "-exec=$0" ] || flags="$flags\${flags:+ }$word"; done
if [ -n "$flags" ]; then export GOFLAGS="$flags"; else unset GOFLAGS; fi
for name in $(env | sed -n "s/^\\(CARGO_TARGET_[A-Z0-9_]*_RUNNER\\)=.*/\\1/p"); do unset "$name"; done

if [ ${variables} = 1 ] && [ -r "/proc/$PPID/environ" ]; then
  kept="$(tests 2>/dev/null | grep -v "env!" | grep -oE "CARGO_[A-Z_]+" | sort -u | tr "\\n" "|")"
  if [ -s "$here/libraries" ]; then kept="$kept${places}|"; fi
  if LD_LIBRARY_PATH="" ldd "$binary" 2>/dev/null | grep -q "not found"; then kept="\${kept}LD_LIBRARY_PATH|"; fi
  added=$(names $$ | grep -vxF "$(names "$PPID")")
  for name in $(echo "$added ${ofRustup}" | tr " " "\n" | grep -vxF -f "$here/given" | grep -vxE "\${kept}PWD|OLDPWD|_"); do unset "$name"; done
fi

copy_data() {
  cd "$root" || return 1
  if [ $kind = go ]; then source="*.go"; else source="*.rs"; fi
  find . ${large} -o -type d -empty -print0 -o ! -type d \\( -path "*/testdata/*" -o -path "*/tests/*/*" -o ! \\( -name "$source" -o ${manifests} \\) \\) -print0 >"$1.list"
  [ "$(tr -dc "\\0" <"$1.list" | wc -c)" -le ${filesMax} ] || return 1
  find . ${large} -print | while read -r path; do
    if [ "$path" = ./.git ] || tests 2>/dev/null | grep -q "$(basename "$path")"; then mkdir -p "$(dirname "$1/$path")"; ln -s "$root/$path" "$1/$path"; fi
  done
  xargs -0r cp -al --parents -t "$1" <"$1.list" 2>/dev/null && return 0
  [ "$(du -ck --files0-from="$1.list" | tail -1 | cut -f1)" -le ${kilobytesMax} ] && xargs -0r cp -af --parents -t "$1" <"$1.list"
}
case "$folder/" in "$root"/*) isInside=${sources} ;; *) isInside=0 ;; esac
if [ $kind = go ]; then asked='${goSources}'; else asked='${rustSources}'; fi
if [ $isInside = 1 ] && ! tests 2>/dev/null | grep -qE "$asked"; then
  copy="$here/$PPID"
  if [ ! -d "$copy" ]; then
    new=$(mktemp -d "$here/XXXXXX")
    if (copy_data "$new") 2>/dev/null; then mv -T "$new" "$copy" 2>/dev/null || rm -rf "$new"; fi
  fi
  [ ! -d "$copy" ] || { mkdir -p "$copy\${folder#"$root"}" && cd "$copy\${folder#"$root"}"; } || exit 1
fi

if [ ${program} = 1 ]; then
  place=$(mktemp -d "$here/XXXXXX")/out; mkdir -p "$place/x"
  if [ $kind = rust ]; then
    for beside in "$(dirname "$binary")"/../*; do [ ! -f "$beside" ] || { ln -s "$beside" "$place"; ln -s "$beside" "$place/x"; }; done
  fi
  name=app; while [ -e "$place/x/$name" ]; do name="$name"1; done
  if ln "$binary" "$place/x/$name" 2>/dev/null || cp "$binary" "$place/x/$name"; then binary="$place/x/$name"; fi
fi
[ ${program} = 1 ] || exec "$binary" "$@"
"$binary" "$@"
`;
