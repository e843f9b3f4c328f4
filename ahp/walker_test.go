package ahp

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// The walker jumps where a decoder reads: on whatever is well formed, both must
// be at the same place after each member of the top value.
func FuzzWalker(f *testing.F) {
	f.Add([]byte(`{"a":"\\\"","b\u0022":[1,{"c":"]}"}],"d":{}, "e" : -1.5e3 ,"f":null}`))
	f.Add([]byte(`{"\\":"\\\\","":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !jsontext.Value(data).IsValid() || jsontext.Value(data).Kind() != '{' {
			return
		}
		dec := jsontext.NewDecoder(bytes.NewReader(data))
		w := &walker{data: data}
		if _, err := dec.ReadToken(); err != nil {
			t.Fatal(err)
		}
		w.enter()
		for w.more('}') {
			name, err := dec.ReadToken()
			if err != nil || name.Kind() != '"' || name.String() != string(w.name()) {
				t.Fatalf("%s: the decoder is at %s (%v)", data, name, err)
			}
			w.peek()
			start := w.pos
			w.skip()
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
		if depth, values := Measure(Value(in)); depth != want[0] || values != want[1] {
			t.Errorf("%s: depth %d, %d values, want %v", in, depth, values, want)
		}
	}
}
