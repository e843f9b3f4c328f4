package main

import (
	"fmt"
	"net/http"
	"io"
	"os"
	"testing"
)

func TestZZIdle(t *testing.T) {
	o := options{binary: os.Getenv("BIN"), memory: 2048}
	tg, err := reach(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.stop()
	get := func(name string) {
		resp, err := http.Get("http://127.0.0.1:6061/debug/pprof/heap?gc=1")
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		os.WriteFile(name, b, 0o600)
	}
	var all []*conn
	for i := range 2100 {
		if i == 100 {
			get("/tmp/h/heap0.pb")
		}
		c, err := tg.join(t.Context(), fmt.Sprint("idle-", i), false, "ahp-session:/default")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	get("/tmp/h/heap0b.pb")
	get("/tmp/h/heap1.pb")
	for _, c := range all {
		c.close()
	}
}
