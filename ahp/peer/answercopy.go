package peer

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"
)

// answerCopier makes the message by which jsonrpc2 learns that a call has its
// answer. jsonrpc2 would decode each message three times, an eighth of the time of
// a call, to find an id that the reader knows. So it decodes only the first answer
// of a connection, and gets a copy with another id for every later one.
type answerCopier struct {
	message  reflect.Value      // jsonrpc2's decoded first answer
	response *jsonrpc2.Response // the response inside message, from OnRecv; nil before the first answer
}

// fill sets v, which jsonrpc2 passed to [stream.ReadObject], to an answer with id.
func (a *answerCopier) fill(v any, id uint64) error {
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
