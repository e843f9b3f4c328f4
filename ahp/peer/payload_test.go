package peer

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
)

// CallPayload removes the payload from its place and changes nothing else: neither
// the rest of the result nor which answers are malformed.
func TestCallPayload(t *testing.T) {
	long := strings.Repeat(`a \"line\" ä\n`, 20_000)
	text := strings.Repeat("a \"line\" ä\n", 20_000)
	blob := strings.Repeat("\xff\x00\x9d", 40_000)
	encoded := base64.StdEncoding.EncodeToString([]byte(blob))
	where := Payload{Text: "/contents/0/text", Base64: "/contents/0/blob"}
	for name, c := range map[string]struct {
		result, rest string // rest is the result without the payload, or "" if it has none
		data         string
		fails        bool
	}{
		"text":            {`{"contents":[{"uri":"u","text":"` + long + `"}],"n":1}`, `{"contents":[{"uri":"u","text":""}],"n":1}`, text, false},
		"blob":            {`{"contents":[{"blob":"` + encoded + `"}]}`, `{"contents":[{"blob":""}]}`, blob, false},
		"no base64":       {`{"contents":[{"blob":"` + encoded + `="}]}`, "", "", true},
		"short":           {`{"contents":[{"text":"x"}]}`, "", "", false},
		"elsewhere":       {`{"contents":[{"x":"` + long + `"}]}`, "", "", false},
		"deeper":          {`{"contents":[{"a":{"text":"` + long + `"}}]}`, "", "", false},
		"the second":      {`{"contents":[{},{"text":"` + long + `"}]}`, "", "", false},
		"a name of parts": {`{"contents/0":{"text":"` + long + `"}}`, "", "", false},
		"a twin":          {`{"contents":[{"text":"` + long + `","text":""}]}`, "", "", true},
		"control":         {`{"contents":[{"text":"` + long + "\n" + `"}]}`, "", "", true},
		"no UTF-8":        {`{"contents":[{"text":"` + long + "\xff" + long + `"}]}`, "", "", true},
		"half a pair":     {`{"contents":[{"text":"` + long + `\ud83d` + `"}]}`, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStack(t, echo, Options{})
			host, raw := s.raw(t)
			said := make(chan struct{})
			defer func() { <-said }()
			go func() {
				defer close(said)
				raw.receive()
				raw.send(`{"jsonrpc":"2.0","id":1,"result":` + c.result + `}`)
				if !c.fails {
					return
				}
				raw.send(`{"jsonrpc":"2.0","id":1,"result":"late, or what ends a call whose answer was none"}`)
			}()
			result, data, err := host.CallPayload(context.Background(), "m", nil, where)
			want := c.rest
			if want == "" {
				want = c.result
			}
			switch {
			case c.fails && err == nil && !strings.Contains(string(result), "late"):
				t.Errorf("the answer was taken: %.80s", result)
			case c.fails:
			case err != nil || string(result) != want || string(data) != c.data || (data == nil) != (c.rest == ""):
				t.Errorf("%v: %.80s and %d bytes, want %.80s and %d", err, result, len(data), want, len(c.data))
			}
		})
	}
}
