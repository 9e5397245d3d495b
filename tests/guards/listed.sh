#!/usr/bin/env bash
# Demands that every guard of the product lies in a folder whose guards are switched off by a test,
# and that docs/guards.md lists these guards and no others.
# Usage: listed.sh <repository> <folder that mutants.sh is run on>...
set -u
repository=$1
shift
cd "$repository" || exit 1

failures=0
complain() {
    echo "$1"
    failures=$((failures + 1))
}
names() { sed -E 's/.*"([a-z_]+)".*/\1/' | sort -u; }

while IFS=: read -r file guard; do
    covered=false
    for folder in "$@"; do
        [[ $file == "$folder/"* ]] && covered=true
    done
    $covered || complain "no test switches off $guard of $file"
done < <(grep -roE 'TRUEUP_GUARD\("[^"]*"\)' --include='*.cpp' --include='*.h' \
    api apps connectors engine executors projections sandbox)

used=$(grep -rhoE 'TRUEUP_GUARD\("[^"]*"\)' api apps connectors engine executors projections \
    sandbox | names)
# shellcheck disable=SC2016  # backquotes are what is looked for
listed=$(grep -oE '^\| `[a-z_]+` ' docs/guards.md | sed -E 's/.*`([a-z_]+)`.*/\1/' | sort)
for guard in $(comm -23 <(echo "$used") <(sort -u <<<"$listed")); do
    complain "docs/guards.md does not list $guard"
done
for guard in $(comm -13 <(echo "$used") <(sort -u <<<"$listed")); do
    complain "docs/guards.md lists $guard, which is no guard"
done
for guard in $(uniq -d <<<"$listed"); do
    complain "docs/guards.md lists $guard twice"
done
[ "$failures" -eq 0 ] && echo "$(wc -w <<<"$used") guards"
