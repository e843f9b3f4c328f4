package site_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
)

// A site with one public action, alone: no canvas, no host. httptest stands for
// http.ListenAndServe.
func Example() {
	var s *site.Site
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Handler().ServeHTTP(w, r) }))
	defer srv.Close()
	hours := func(_ context.Context, c site.Call) (ahp.Value, error) { return ahp.Value(`"10 to 22"`), nil }
	s, err := site.New(site.Config{
		Origin:  srv.URL,
		Site:    site.Info{Name: "Cafe Rosso", Domain: "caferosso.com"},
		Actions: []site.Action{{ID: "opening_hours", Description: "When is the cafe open?", Public: true}},
	}, site.Func(hours), site.Memory(), site.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	resp, err := http.Post(srv.URL+"/api/aam/actions/opening_hours", "application/json", strings.NewReader("{}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, strings.Contains(string(answer), `"data":"10 to 22"`))
	// Output: 200 OK true
}
