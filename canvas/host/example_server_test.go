package host_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// A host as a handler in a program's own server, beside other handlers. Their patterns
// name a host, so that they do not answer on the names below localhost that canvases get.
// Under a prefix, the host needs http.StripPrefix, a path in Options.Origins, and "/.ahp/"
// without the prefix: canvases have their frames there, on separate names.
func ExampleHost_ServeHTTP() {
	h, err := host.New(host.Options{})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("shop.localhost/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "the shop") })
	mux.Handle("/", h)

	server := httptest.NewServer(mux)
	get(server.URL+"/healthz", "")
	get(server.URL+"/", "shop.localhost")
	get(server.URL+"/healthz", "elsewhere.example")

	fmt.Println(h.Close()) // before the server
	server.Close()
	// Output:
	// 200 ok
	// 200 the shop
	// 421 this host is not known under that name: without host.Options.Origins the host answers only on localhost, at the port of the connection
	// <nil>
}

// A host behind a proxy that terminates TLS. Origins has the public address, under which
// the host then makes its links; the proxy forwards the Host header.
func Example_reverseProxy() {
	h, err := host.New(host.Options{Origins: []string{"https://canvas.example"}, ViewToken: "secret"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Link(host.DefaultSession))
	inside := httptest.NewServer(h)
	target, err := url.Parse(inside.URL)
	if err != nil {
		log.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}})
	get(proxy.URL+"/healthz", "canvas.example")
	get(proxy.URL+"/healthz", "")

	fmt.Println(h.Close())
	proxy.Close()
	inside.Close()
	// Output:
	// https://canvas.example/#tkn=secret&session=ahp-session%3A%2Fdefault
	// 200 ok
	// 421 the host does not serve this name
	// <nil>
}

// get prints the response for a URL, with another Host header if name is not empty.
func get(url, name string) {
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		log.Fatal(err)
	}
	req.Host = name
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Print(resp.StatusCode, " ", string(body))
	http.DefaultClient.CloseIdleConnections()
}
