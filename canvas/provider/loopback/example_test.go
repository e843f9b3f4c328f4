package loopback_test

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
)

// What `serve --canvas-url tasks=http://127.0.0.1:3000/?view=board` makes.
func Example() {
	p, err := loopback.New("tasks", "http://127.0.0.1:3000/?view=board", loopback.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	// registration, err := service.Register(p.Extension(), p, p.Declarations()...)
	// p.Watch(registration)
	fmt.Println(p.Declarations()[0].CanvasID)

	_, err = loopback.New("far", "http://example.com/", loopback.Options{})
	fmt.Println(err)
	// Output:
	// tasks
	// loopback: the app's address is not on this machine; use localhost, 127.0.0.1 or [::1]
}
