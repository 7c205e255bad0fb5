//go:build js && wasm

// Command wasm is the program of the page's workers: it answers the questions of package page.
package main

import (
	"runtime"
	"syscall/js"

	"eccbench/internal/page"
)

// mostMemory is the address space of a module of 32-bit WebAssembly.
const mostMemory = 4 << 30

func main() {
	session := page.Session{
		Progress: func(what string, done float64) { js.Global().Call("progress", what, done) },
		Memory: func() int64 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return mostMemory - int64(m.HeapAlloc)
		},
	}
	questions := make(chan js.Value, 64)
	js.Global().Call("ready", js.FuncOf(func(_ js.Value, args []js.Value) any {
		questions <- args[0]
		return nil
	}))
	for q := range questions {
		reply, more := session.Reply([]byte(q.String()))
		bytes := js.Global().Get("Uint8Array").New(len(more))
		js.CopyBytesToJS(bytes, more)
		js.Global().Call("reply", string(reply), bytes)
	}
}
