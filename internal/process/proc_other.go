//go:build unix && !linux

package process

const hasProc = false

func procMounted() bool { return false }
