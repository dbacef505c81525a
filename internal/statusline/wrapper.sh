#!/bin/sh
# Written by `ccreload statusline install`; `ccreload statusline uninstall`
# takes it away. Starts the newest ccreload there is, so that the status line
# survives updates of the plugins. Where none runs, your own command does.

home=${0%/*}
plugins=${home%/*}/plugins
first=$home/first
payload=$(cat) # kept for the next one to try

# show PROGRAM...: whether it showed the line.
show() { { printf '%s' "$payload" | "$@" statusline; } 2>/dev/null; }

@FIND@
[ -n "$root" ] && show /bin/sh "$root/bin/ccreload" && exit 0
for runtime in "${CCRELOAD_BIN:-}" "$(command -v ccreload)" @RUNTIME@; do
	[ -f "$runtime" ] && [ -x "$runtime" ] && show "$runtime" && exit 0
done
[ -f "$first" ] || exit 0
printf '%s' "$payload" | /bin/sh "$first"
