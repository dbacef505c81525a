package cli

import "golang.org/x/sys/unix"

const noexecFlag = unix.MNT_NOEXEC
