package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progressDelay is how long a person waits before a word is due.
const progressDelay = 500 * time.Millisecond

// progress says on a terminal what is being waited for, when it takes long. done
// takes the words away again.
func (a *app) progress(what string) (done func()) {
	if !isTerminal(a.errs) {
		return func() {}
	}
	return showProgress(a.errs, what)
}

func showProgress(w io.Writer, what string) (done func()) {
	var mu sync.Mutex
	var shown, over bool
	timer := time.AfterFunc(progressDelay, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			fmt.Fprintf(w, "%s…", what)
			shown = true
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
		if shown {
			fmt.Fprint(w, eraseLine)
			shown = false
		}
	}
}

// eraseLine begins the present line of a terminal anew.
const eraseLine = "\r\x1b[K"
