#!/bin/sh
# includes.sh SOURCE_DIR: each folder of src/ includes only what its row of docs/map.md allows ("all of these"
# allows all); src/mech does without <assert.h>.
set -eu
cd "$1"
rows=$(sed -n '/^## Who may include whom/,/^## A change/p' docs/map.md | grep '^| `')
rules=0
bad=0
for dir in src/*/; do
    dir=$(basename "$dir")
    row=$(printf '%s\n' "$rows" | grep "^|[^|]*\`$dir\`[^|]*|" || true)
    if [ -z "$row" ]; then
        echo "docs/map.md has no row for src/$dir"
        bad=1
        continue
    fi
    rules=$((rules + 1))
    allowed=$(printf '%s\n' "$row" | cut -d'|' -f3)
    case $allowed in *all*) continue ;; esac
    case $allowed in *include/heddle*) public="heddle" ;; *) public="" ;; esac
    names=" base $dir $public $(printf '%s' "$allowed" | grep -o '`[a-z]*`' | tr -d '`' | tr '\n' ' ') "
    included=$(find src/"$dir" -name '*.[ch]' -exec sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' {} + | sort -u)
    for used in $included; do
        case $names in
        *" $used "*) ;;
        *)
            echo "src/$dir includes $used/, which docs/map.md does not allow:"
            grep -rn "^#include \"$used/" src/"$dir"
            bad=1
            ;;
        esac
    done
done
if grep -rn '^#include <assert.h>' src/mech; then
    echo "src/mech has mech_assert, which does not depend on NDEBUG"
    bad=1
fi
[ "$rules" -ge 10 ] || {
    echo "only $rules folders have a row: is the table of docs/map.md still there?"
    bad=1
}
[ "$bad" = 0 ] && echo "$rules folders include what they may"
exit "$bad"
