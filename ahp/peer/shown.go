package peer

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"
)

// shown is how jsonrpc2 is told that a call has its answer. It decodes what it is
// given three times, which was an eighth of what a call costs, to find an id that
// the reader knows already. So it decodes the first answer of a connection alone;
// of every other one it gets a copy of that, with its own id. The zero value has
// seen none.
type shown struct {
	message  reflect.Value      // what the library made of the first answer
	response *jsonrpc2.Response // which it points to, and which OnRecv has shown
}

// show fills in what [stream.ReadObject] is given.
func (a *shown) show(v any, id uint64) error {
	if a.response != nil {
		a.response.ID = jsonrpc2.ID{Num: id}
		reflect.ValueOf(v).Elem().Set(a.message)
		return nil
	}
	var space [48]byte
	skeleton := append(space[:0], `{"id":`...)
	skeleton = strconv.AppendUint(skeleton, id, 10)
	skeleton = append(skeleton, `,"result":null}`...)
	if err := v.(json.Unmarshaler).UnmarshalJSON(skeleton); err != nil {
		return err
	}
	made := reflect.ValueOf(v).Elem()
	a.message = reflect.New(made.Type()).Elem()
	a.message.Set(made)
	return nil
}
