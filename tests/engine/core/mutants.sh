#!/usr/bin/env bash
# Switches the guards off one by one and demands that exactly the test of that name notices
# (docs/guards.md). Usage: mutants.sh <guard test binary of a build with TRUEUP_MUTANTS> <repository>
set -u
test_binary=$1
repository=$2
guards=$(grep -rhoE 'TRUEUP_GUARD\("[a-z_]+"\)' "$repository/engine/core" |
    sed -E 's/.*"([a-z_]+)".*/\1/' | sort -u)
[ -n "$guards" ] || { echo "no guards found under $repository/engine/core"; exit 1; }

failures=0
if ! out=$("$test_binary" 2>&1); then
    echo "fails with every guard in place:"
    echo "$out"
    exit 1
fi
for guard in $guards; do
    failed=$(TRUEUP_MUTANT=$guard "$test_binary" 2>&1 |
        sed -nE 's/^\[  FAILED  \] Guard\.([A-Za-z0-9_]+) \(.*/\1/p')
    if [[ $(wc -w <<<"$failed") -eq 1 && $failed == "Guard_${guard}_"* ]]; then
        echo "noticed   $guard: $failed"
    else
        echo "NOT RIGHT $guard: failed were: ${failed:-none}"
        failures=$((failures + 1))
    fi
    if ! grep -q "^| \`$guard\` " "$repository/docs/guards.md"; then
        echo "NOT LISTED in docs/guards.md: $guard"
        failures=$((failures + 1))
    fi
done
[ "$failures" -eq 0 ]
