package scan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// stumble walks over any text. It must end, without a panic.
func stumble(data []byte) {
	_, _ = Measure(data)
	w := Walk(data)
	for w.Enter(); w.More('}'); {
		w.Name()
		w.Value()
	}
	w.Enter()
	w.Value()
	Skim(data, ignored{})
}

type ignored struct{}

func (ignored) Member(_, _ []byte) {}

// TestSkim: the members of the top object, at any depth below it.
func TestSkim(t *testing.T) {
	deep := strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)
	for text, want := range map[string]string{
		` {"a":` + deep + `,"\u0062":"]}","a":1.0} `: "a b a true",
		`{}`: "true", `{"a":`: "a false", `{"a":[}`: "a false", `{"a":1}}`: "a false", `{"a":1`: "a false",
		`{"a"}`: "false", `[1]`: "false", ``: "false", `{"a":1,]`: "a false",
	} {
		var got names
		ok := Skim([]byte(text), &got)
		if have := strings.Join(append(got, fmt.Sprint(ok)), " "); have != want {
			t.Errorf("%.40s: have %q, want %q", text, have, want)
		}
	}
}

type names []string

func (n *names) Member(name, _ []byte) { *n = append(*n, string(name)) }

// FuzzWalker: on well-formed text, the walker and a decoder are at the same place
// after each member of the top value.
func FuzzWalker(f *testing.F) {
	f.Add([]byte(`{"a":"\\\"","b\u0022":[1,{"c":"]}"}],"d":{}, "e" : -1.5e3 ,"f":null}`))
	f.Add([]byte(`{"\\":"\\\\","":""}`))
	f.Add([]byte(`{1:"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		stumble(data)
		if !jsontext.Value(data).IsValid() || jsontext.Value(data).Kind() != '{' {
			return
		}
		dec := jsontext.NewDecoder(bytes.NewReader(data))
		w := Walk(data)
		if _, err := dec.ReadToken(); err != nil {
			t.Fatal(err)
		}
		w.Enter()
		for w.More('}') {
			name, err := dec.ReadToken()
			if err != nil || name.Kind() != '"' || name.String() != string(w.Name()) {
				t.Fatalf("%s: the decoder is at %s (%v)", data, name, err)
			}
			w.Peek()
			start := w.pos
			w.Value()
			v, err := dec.ReadValue()
			if err != nil || !bytes.Equal(v, data[start:w.pos]) {
				t.Fatalf("%s: value %s, walked over %s", data, v, data[start:w.pos])
			}
		}
		if dec.PeekKind() != '}' {
			t.Fatalf("%s: the walker left early", data)
		}
	})
}

func TestMeasure(t *testing.T) {
	for in, want := range map[string][2]int{
		`1`:          {0, 1},
		`"a:b"`:      {0, 1},
		`{}`:         {1, 1},
		`[[],[[1]]]`: {3, 5},
		`{"a" : {"b":[1,"c:d",null]} , "e\":":true }`: {3, 7},
	} {
		if depth, values := Measure([]byte(in)); depth != want[0] || values != want[1] {
			t.Errorf("%s: depth %d, %d values, want %v", in, depth, values, want)
		}
	}
}
