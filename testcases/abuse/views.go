package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// appName is the canvas of the web app that an attack on apps has.
const appName = "app"

// views opens seven Views of a web app, each with as many requests as a View may have, which
// the app does not answer. Each takes a connection to the app, and so a file of the host,
// which may open 1,500. Meanwhile people open the page.
var views = attack{name: "views", app: true, visit: people, run: func(ctx context.Context, t *target, _ scale, begun func()) error {
	canvas, err := t.openCanvas(ctx, appName)
	if err != nil {
		return err
	}
	const clients = 7
	var waiting sync.WaitGroup
	var began atomic.Int64
	waiting.Go(func() {
		repeat(ctx, clients, func(ctx context.Context, n int) error {
			return hang(ctx, t, canvas.Channel, n, func() { began.Add(1) })
		})
	})
	for began.Load() < clients && ctx.Err() == nil {
		pause(ctx)
	}
	wait(ctx, 300*time.Millisecond) // the host connects to the app for them
	begun()
	waiting.Wait()
	return nil
}}

// hanging is how many requests a View may have at a time.
const hanging = 256

// hang is a View whose requests hang. It begins again where the host refuses one.
func hang(ctx context.Context, t *target, channel string, n int, begun func()) error {
	c, err := t.join(ctx, fmt.Sprint("abuse-view-", n), false, channel)
	if err != nil {
		return err
	}
	defer c.closeWith(ctx)()
	for id := range hanging {
		request := map[string]any{"x-ahp": "http/1", "type": "request", "id": id + 1, "method": "GET", "path": "/hang", "headers": []any{}, "end": true}
		if _, err := c.dispatch(channel, map[string]any{"type": "canvas/message", "payload": request}); err != nil {
			return err
		}
	}
	begun()
	c.drain()
	return nil
}

// startApp starts a web app that does not answer requests for /hang, and returns the flag
// with which a host offers it.
func (t *target) startApp() ([]string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t.app = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, "<!doctype html><p>An app.</p>")
	})}
	t.appEnded = make(chan struct{})
	go func() {
		defer close(t.appEnded)
		_ = t.app.Serve(ln)
	}()
	return []string{"--canvas-url", appName + "=http://" + ln.Addr().String()}, nil
}

// stopApp ends the app.
func (t *target) stopApp() {
	if t.app != nil {
		_ = t.app.Close()
		<-t.appEnded
	}
}

// appFiles is how many files a host that offers an app may open.
const appFiles = 1500
