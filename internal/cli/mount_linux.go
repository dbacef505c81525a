package cli

import "golang.org/x/sys/unix"

const noexecFlag = unix.ST_NOEXEC
