package aap_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// A program serves AAP with net/http alone. It must decide who reaches the handler: here,
// requests with a token.
func Example() {
	root, err := os.MkdirTemp("", "agents")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	if err := os.Mkdir(filepath.Join(root, "builder"), 0o700); err != nil {
		log.Fatal(err)
	}
	store, err := aap.Open(aap.Options{Root: root})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	store.Watch(func(c aap.Change) {
		if c.Kind == aap.RecordStored {
			fmt.Println(aap.Line(c.Record))
		}
	})
	api := aap.NewHandler(store, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "a token is required", http.StatusUnauthorized)
			return
		}
		api.ServeHTTP(w, r)
	}))
	defer srv.Close()

	body := strings.NewReader(`{"action":"click","element":"approve","canvasFile":"page.html","data":{"id":42}}`)
	req, err := http.NewRequest("POST", srv.URL+"/api/agents/builder/canvas/interactions", body)
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	_, summary, _ := strings.Cut(string(answer), `"summary":`)
	fmt.Println(resp.Status, summary)
	// Output:
	// [CANVAS] page.html: User click 'approve' on page.html with data: {"id":42}
	// 201 Created "User click 'approve' on page.html with data: {\"id\":42}"}
}
