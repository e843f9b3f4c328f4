package main

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// errors returns what went wrong in the app's documents since they were loaded: the
// browser keeps it, and repeats it when its domains are enabled.
func (t *tab) errors() ([]string, error) {
	var mu sync.Mutex
	var said []string
	add := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, general(text))
	}
	ctx, cancel := context.WithTimeout(t.frame, stepTime)
	defer cancel()
	err := chromedp.Listen(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.EntryLevelError {
				add(ev.Entry.Text + " " + ev.Entry.URL)
			}
		case *runtime.EventExceptionThrown:
			add(thrown(ev.ExceptionDetails))
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.ConsoleAPICalledTypeError {
				add(logged(ev.Args))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, c := range []cdp.Command[cdp.Empty, cdp.Empty]{log.Disable, log.Enable, runtime.Disable, runtime.Enable} {
		if _, err := chromedp.Call(ctx, c, cdp.Empty{}); err != nil {
			return nil, err
		}
	}
	if _, err := evaluate[int](t.frame, "new Promise((r) => setTimeout(() => r(0), 100))"); err != nil { // behind the events
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	return said, nil
}

func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception != nil && d.Exception.Description != "" {
		first, _, _ := strings.Cut(d.Exception.Description, "\n")
		return first
	}
	return d.Text
}

func logged(args []*runtime.RemoteObject) string {
	var parts []string
	for _, a := range args {
		text := a.Description
		if text == "" {
			text = strings.Trim(string(a.Value), `"`)
		}
		first, _, _ := strings.Cut(text, "\n")
		parts = append(parts, first)
	}
	return strings.Join(parts, " ")
}

var (
	origins = regexp.MustCompile(`(http|ws)s?://[^/\s"')]+`)
	digits  = regexp.MustCompile(`[0-9a-f]{8,}|[0-9]+`)
)

// general leaves out of an error what differs from visit to visit.
func general(text string) string {
	text = digits.ReplaceAllString(origins.ReplaceAllString(text, "ORIGIN"), "#")
	if len(text) > 200 {
		text = text[:200]
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, ""))
}
