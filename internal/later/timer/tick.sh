#!/bin/sh
# Written by `ccreload later timer install`; `ccreload later timer uninstall`
# takes it away. @EVERY@
# Looks after what is queued, with the newest ccreload there is. Where there is
# none any more it does nothing.

@ENV@
(: >"${0%/*}/last") 2>/dev/null # when it last ran
plugins=@PLUGINS@
@FIND@
[ -z "$root" ] || exec /bin/sh "$root/bin/ccreload" later tick --background
for runtime in "${CCRELOAD_BIN:-}" @RUNTIME@; do
	[ -f "$runtime" ] && [ -x "$runtime" ] && exec "$runtime" later tick --background
done
exit 0
