package extension_test

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/extension"
)

// A host that shows the extensions of a folder.
func Example() {
	h, err := host.New(host.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	runner, err := extension.New(extension.Options{Service: h.Canvases(), Session: host.DefaultSession})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := extension.Find("testdata")
	for _, f := range found {
		fmt.Println(f.ID)
		_, err = runner.Add(f)
	}
	fmt.Println(err)
	fmt.Println(h.Close())
	runner.Close()
	// Output:
	// counter
	// example-files
	// token
	// <nil>
	// <nil>
}
