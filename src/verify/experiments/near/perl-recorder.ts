// perl-recorder: functions of a Perl module that write down what they answer to the inputs of tests and to inputs near those. Pure.

import type { Recorder } from "./recorder.ts";
import { numberSteps } from "./near-inputs.ts";

export const recordPerl: Recorder = ({ files, isWanted, near, nonce }) => {
  const found = files.flatMap(({ path, text }) => {
    const end = text.search(/^(?:1;\s*$|__(?:END|DATA)__)/m);
    const names = [...text.matchAll(/^sub (\w+)\b/gm)].map(([, name = ""]) => name).filter(isWanted);
    const at = end === -1 ? text.length : end;
    return names.length === 0 ? [] : [{ path, text: `${text.slice(0, at)}\n${install(nonce, names, near)}\n${text.slice(at)}`, names }];
  });
  return { edits: found.map(({ path, text }) => ({ path, text })), functions: found.flatMap(({ names }) => names) };
};

const quote = (text: string): string => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;

const install = (n: string, names: readonly string[], near: ReadonlyMap<string, readonly string[]>): string => `
{
    no strict 'refs';
    no warnings;
    my %texts = (${[...near].map(([text, others]) => `${quote(text)} => [${others.map(quote).join(", ")}]`).join(", ")});
    my ($busy, %seen) = (0);
    my $plain = sub { my ($v) = @_; $v = '' unless defined $v; $v =~ s/[\\t\\n\\r]/ /g; $v };
    my $key = sub { join "\\x1f", map { $plain->($_) } @_ };
    my $answer = sub {
        my ($f, @args) = @_;
        my @it = eval { local $SIG{__DIE__}; local $SIG{__WARN__} = sub {}; scalar $f->(@args) };
        return '' if $@ || !@it || !defined $it[0] || ref $it[0];
        return $it[0] eq '' ? "''" : $plain->($it[0]);
    };
    my $tell = sub { open my $file, '>>', $ENV{${quote(n)}} or return; print $file join("\\t", @_), "\\n"; close $file };
    my $near = sub {
        my ($v) = @_;
        return map { $v + $_ } grep { $_ > 0 || $v > 1 } (${numberSteps.join(", ")}) if $v =~ /^\\d{1,9}(?:\\.\\d+)?$/;
        return @{ $texts{$v} || [] };
    };
    for my $name ($ENV{${quote(n)}} ? (${names.map(quote).join(", ")}) : ()) {
        my $f = defined &{ __PACKAGE__ . "::$name" } ? \\&{ __PACKAGE__ . "::$name" } : next;
        my $calls = 0;
        *{ __PACKAGE__ . "::$name" } = sub {
            if (!$busy && $calls++ < 200 && !grep { ref || !defined } @_) {
                my @args = @_;
                my $saved = $@;
                $busy = 1;
                eval {
                    my $tested = $key->(@args);
                    if (!$seen{"$name\\t$tested"}++) {
                        my $was = $answer->($f, @args);
                        $tell->($name, 0, 'is', $tested, $was, '');
                        for my $at ($was eq '' ? () : 0 .. $#args) {
                            for my $other ($near->($args[$at])) {
                                my @others = @args;
                                $others[$at] = $other;
                                $tell->($name, $at, 'near', $key->(@others), $answer->($f, @others), $tested);
                            }
                        }
                    }
                };
                $busy = 0;
                $@ = $saved;
            }
            goto &$f;
        };
    }
}
`;
