root='' newest=-1
for dir in "$plugins"/cache/*/@PLUGIN@/*; do
	[ -f "$dir/ccreload.json" ] && [ -f "$dir/bin/ccreload" ] || continue
	[ ! -e "$dir/.orphaned_at" ] || continue # uninstalled or updated, says the host
	version=${dir##*/}
	case $version in
	*[!0-9.]* | *..* | .* | *. | 0[0-9]* | *.0[0-9]*) number=0 ;; # a commit, not a release
	*)
		IFS=.
		set -- $version
		unset IFS
		number=$((${1:-0} * 1000000 + ${2:-0} * 1000 + ${3:-0}))
		;;
	esac
	[ "$number" -gt "$newest" ] && newest=$number root=$dir
done
if [ -n "$root" ]; then
	market=${root%/*/*} plugin=${root%/*}
	export "@ROOT@=$root" "@DATA@=$plugins/data/${plugin##*/}-${market##*/}"
fi
