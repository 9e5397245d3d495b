#!/usr/bin/env bash
# Switches the guards of one folder off one by one and demands that exactly the test of that name
# notices, and that docs/guards.md names it.
# Usage: mutants.sh <guard test binary of a build with TRUEUP_MUTANTS> <repository> <folder>
set -u
test_binary=$1
repository=$2
folder=$3
guards=$(grep -rhoE 'TRUEUP_GUARD\("[a-z_]+"\)' "$repository/$folder" |
    sed -E 's/.*"([a-z_]+)".*/\1/' | sort -u)
[ -n "$guards" ] || { echo "no guards found under $folder"; exit 1; }

failures=0
if ! out=$("$test_binary" 2>&1); then
    echo "fails with every guard in place:"
    echo "$out"
    exit 1
fi
for guard in $guards; do
    out=$(TRUEUP_MUTANT=$guard "$test_binary" 2>&1)
    failed=$(sed -nE 's/^\[  FAILED  \] Guard\.([A-Za-z0-9_]+) \(.*/\1/p' <<<"$out")
    if ! grep -q '^\[  PASSED  \]' <<<"$out"; then
        echo "NOT RIGHT $guard: the binary did not reach its end"
        failures=$((failures + 1))
    elif [[ $(wc -w <<<"$failed") -eq 1 && $failed == "Guard_${guard}_"* ]]; then
        echo "noticed   $guard: $failed"
    else
        echo "NOT RIGHT $guard: failed were: ${failed:-none}"
        failures=$((failures + 1))
    fi
    if ! grep -q "^| \`$guard\` .*| \`$failed\` | .* |$" "$repository/docs/guards.md"; then
        echo "NOT LISTED with that test in docs/guards.md: $guard"
        failures=$((failures + 1))
    fi
done
[ "$failures" -eq 0 ]
