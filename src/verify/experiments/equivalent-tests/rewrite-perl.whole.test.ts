import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { comparePlainly, findOverloadingClasses } from "./rewrite-perl.ts";

const hasPerl = spawnSync("perl", ["-MTest::More", "-e", "1"]).status === 0;
const passes = (text: string): boolean =>
  spawnSync("perl", ["-"], { input: text, stdio: ["pipe", "ignore", "ignore"] }).status === 0;
const rewritten = (body: string, overloading: readonly string[] = []): string =>
  comparePlainly(
    `use strict;\nuse warnings;\nuse Test::More;\n${body}\ndone_testing;\n`,
    "n1",
    overloading,
  ) ?? "";

const assertions = [
  "is 1, 1, 'no brackets'; is 1, 1; ok 1; ok(1, 'x') or diag 'no';",
  "is(join(',', 1, 2),\n  '1,2',\n  'lines');",
  "is undef, undef, 'nothing';",
  "is_deeply [1, { a => [2, undef] }], [1, { a => [2, undef] }], 'parts';\nis_deeply({ a => 1 }, { a => 1 });",
  "my @l = (1, 2); is @l, 2, 'in a scalar\\'s place'; is $#l, 1, 'last'; # is this a comment",
  "my %is = (is => 1); ok $is{is}; ok exists $is{is}, 'key' if 1;",
  "for my $c ([1, 1, 'one'], [2, 2, 'two']) { is $c->[0], $c->[1], $c->[2] }",
  "subtest 'outer' => sub { is 1, 1, 'inner' };",
  "my $f = sub { 1 }; is_deeply([$f], [$f], 'code');",
  "TODO: { local $TODO = 'later'; is 1, 2, 'later' }\nok 1;",
  "is(1.0, 1, 'numbers');\nis('a', \"a\");",
];

describe.runIf(hasPerl)("a test of Perl that compares by itself as well", () => {
  test("passes as before, with as many lines", () => {
    const body = assertions.join("\n");
    const text = rewritten(body);
    expect(text.split("$main::n1->(").length).toBeGreaterThan(assertions.length);
    expect(text.split("\n")).toHaveLength(`\n\n\n${body}\n\n`.split("\n").length);
    expect(passes(text)).toBe(true);
  });

  test.each([
    "is(1, 2, 'x');",
    "is_deeply([1, [2]], [1, [3]], 'x');",
    "is_deeply({ a => 1 }, { b => 1 }, 'x');",
    "is_deeply(['a', 'b,c'], ['a,b', 'c'], 'x');",
    "is(undef, '', 'x');",
    "ok(0, 'x');",
  ])("fails whatever has taken the place of its functions: %s", (body) => {
    const bent = `BEGIN { no warnings; *is = *is_deeply = *ok = sub { Test::More::pass($_[-1]) } }`;
    expect(passes(rewritten(`${bent} ${body}`))).toBe(false);
  });

  test.each([
    [
      "its own eq",
      "use overload 'eq' => sub { lc $_[0][0] eq lc $_[1] };",
      "is(Name->new('Ann'), 'ann');",
    ],
    [
      "its text",
      "use overload '\"\"' => sub { $_[0][0] };",
      "is_deeply([Name->new('a', 1)], [Name->new('a', 2)]);",
    ],
  ])("goes by %s of an object as Test::More does", (_way, overload, assertion) => {
    const body = `{ package Name; ${overload} sub new { my $class = shift; bless [@_], $class } }\n${assertion}`;
    expect(passes(rewritten(body))).toBe(true);
  });

  test("an object whose overloaded eq is the work's is only what its text says", () => {
    const body = "{ package Any; use overload 'eq' => sub { 1 }; }\nis((bless [], 'Any'), 'x');";
    expect(passes(rewritten(body))).toBe(true);
    expect(passes(rewritten(body, findOverloadingClasses(null, body)))).toBe(false);
    expect(findOverloadingClasses(body, body)).toEqual([]);
  });
});

test("a file without such assertions is left alone", () =>
  expect(comparePlainly("use Test::More;\nlike(f(), qr/x/);\n", "n1", [])).toBeNull());
