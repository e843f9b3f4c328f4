package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progressDelay is how long an operation runs before Progress says so.
const progressDelay = 500 * time.Millisecond

// eraseLine moves to the beginning of a terminal's line and erases it.
const eraseLine = "\r\x1b[K"

// Progress shows on a terminal what the command is waiting for, if it takes longer than
// half a second. Calling done, once or more, removes the text.
func (e *Env) Progress(what string) (done func()) {
	if !IsTerminal(e.Err) {
		return func() {}
	}
	return showProgress(e.Err, what)
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

// ShowCount replaces the last line of standard error with a text, if it is a terminal
// and the command prints for people; "" only erases the line.
func (e *Env) ShowCount(text string) {
	if IsTerminal(e.Err) && !e.JSON {
		fmt.Fprint(e.Err, eraseLine+text)
	}
}
