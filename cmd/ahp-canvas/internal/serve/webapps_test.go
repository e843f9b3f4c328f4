package serve

import "testing"

func TestCookiesOf(t *testing.T) {
	for _, tt := range []struct {
		arg, url string
		shared   bool
		ok       bool
	}{
		{"http://127.0.0.1:3000/", "http://127.0.0.1:3000/", false, true},
		{"http://127.0.0.1:3000/?a=1,2", "http://127.0.0.1:3000/?a=1,2", false, true},
		{"http://127.0.0.1:3000/,cookies=shared", "http://127.0.0.1:3000/", true, true},
		{"http://127.0.0.1:3000/?x=,cookies=a,cookies=browser", "http://127.0.0.1:3000/?x=,cookies=a", false, true},
		{"http://127.0.0.1:3000/,cookies=", "", false, false},
	} {
		if url, shared, err := cookiesOf(tt.arg); url != tt.url || shared != tt.shared || (err == nil) != tt.ok {
			t.Errorf("%s: %q, %v, %v", tt.arg, url, shared, err)
		}
	}
}
