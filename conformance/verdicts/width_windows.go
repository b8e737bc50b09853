package main

import (
	"io"
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel32        = syscall.NewLazyDLL("kernel32.dll")
	setConsoleMode  = kernel32.NewProc("SetConsoleMode")
	getScreenBuffer = kernel32.NewProc("GetConsoleScreenBufferInfo")
)

// sequences is ENABLE_VIRTUAL_TERMINAL_PROCESSING: the console obeys the sequences that clear a line.
const sequences = 0x4

// screenBuffer is CONSOLE_SCREEN_BUFFER_INFO.
type screenBuffer struct {
	columns, rows, cursorX, cursorY int16
	attributes                      uint16
	left, top, right, bottom        int16
	mostColumns, mostRows           int16
}

// widthOf is the number of columns of the console that w is, 0 if it is none, or one that knows no
// sequences, as before Windows 10.
func widthOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	var mode uint32
	if syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) != nil {
		return 0
	}
	if done, _, _ := setConsoleMode.Call(f.Fd(), uintptr(mode|sequences)); done == 0 {
		return 0
	}
	var b screenBuffer
	if done, _, _ := getScreenBuffer.Call(f.Fd(), uintptr(unsafe.Pointer(&b))); done == 0 {
		return 80
	}
	return int(b.right-b.left) + 1
}
