package peer

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// badInput has the messages that are answered without Handle, with the exact answer,
// or "" for none, and some that Handle receives. The connection stays open after
// each.
var badInput = []struct{ name, send, receive string }{
	{"empty", ``, parseError},
	{"white space", " \n", parseError},
	{"half an object", `{"jsonrpc":"2.0","id":1,"method":"x"`, parseError},
	{"two values", `{"jsonrpc":"2.0","id":1,"method":"x"} {}`, parseError},
	{"trailing comma", `{"jsonrpc":"2.0","id":1,"method":"x",}`, parseError},
	{"leading zero", `{"jsonrpc":"2.0","id":01,"method":"x"}`, parseError},
	{"byte order mark", "\uFEFF{}", parseError},
	{"single quotes", `{'jsonrpc':'2.0'}`, parseError},
	{"bare control character", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\nb\"}", parseError},
	{"bad escape", `{"jsonrpc":"2.0","id":1,"method":"\x41"}`, parseError},
	{"bad batch", `[{]`, parseError},
	{"broken UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", limit("invalid UTF-8")},
	{"overlong UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc0\xaf\"}", limit("invalid UTF-8")},
	{"lone surrogate", `{"jsonrpc":"2.0","id":1,"method":"\ud800"}`, limit("invalid UTF-8")},
	{"duplicate at the top", `{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}`, limit("duplicate member name")},
	{"duplicate inside", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[{"b":1,"b":1}]}}`, limit("duplicate member name")},
	{"duplicate by escape", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1,"\u0061":1}}`, limit("duplicate member name")},
	{"duplicate among many", `{"jsonrpc":"2.0","id":1,"method":"x","params":{` + numbered(100) + `,"m\u00373":0}}`, limit("duplicate member name")},
	{"too deep", `{"jsonrpc":"2.0","id":1,"method":"x","params":` + tooDeep + `}`, beyond("1", "nested too deep")},
	{"too deep before the id", `{"jsonrpc":"2.0","method":"x","params":` + tooDeep + `,"\u0069d":1.50}`, beyond("1.50", "nested too deep")},
	{"too deep, no id", `{"jsonrpc":"2.0","method":"x","params":` + tooDeep + `}`, limit("nested too deep")},
	{"too deep, two ids", `{"jsonrpc":"2.0","id":1,"method":"x","params":` + tooDeep + `,"id":2}`, limit("nested too deep")},
	{"too deep, bad id", `{"jsonrpc":"2.0","method":"x","params":` + tooDeep + `,"id":0x1}`, limit("nested too deep")},
	{"too deep, broken id", `{"jsonrpc":"2.0","method":"x","params":` + tooDeep + ",\"id\":\"\xff\"}", limit("nested too deep")},
	{"too deep, id too long", `{"jsonrpc":"2.0","method":"x","params":` + tooDeep + `,"id":"` + strings.Repeat("x", 255) + `"}`, limit("nested too deep")},
	{"too deep, id is an object", `{"jsonrpc":"2.0","id":{},"method":"x","params":` + tooDeep + `}`, limit("nested too deep")},
	{"too deep, cut off", `{"jsonrpc":"2.0","id":1,"method":"x","params":` + tooDeep, limit("nested too deep")},
	{"too deep, two values", `{"jsonrpc":"2.0","id":1,"method":"x","params":` + tooDeep + `} {}`, limit("nested too deep")},
	{"too deep, an array", "[" + tooDeep + "]", limit("nested too deep")},
	{"too deep, no method", `{"jsonrpc":"2.0","id":1,"x":` + tooDeep + `}`, beyond("1", "nested too deep")},
	{"too many values", `{"jsonrpc":"2.0","id":"a","method":"x","params":{"a":[` + strings.Repeat("0,", 16384-6) + `0]}}`, beyond(`"a"`, "too many values")},
	{"too many values before the id", `{"params":{"a":[` + strings.Repeat("0,", 16384-6) + `0]},"jsonrpc":"2.0","id":"a","method":"x"}`, beyond(`"a"`, "too many values")},

	{"batch", `[{"jsonrpc":"2.0","id":1,"method":"x"}]`, invalid("null", "batches are not part of the protocol: send one object per message")},
	{"empty batch", `[]`, invalid("null", "batches are not part of the protocol: send one object per message")},
	{"string", `"x"`, invalid("null", "a message is a JSON object")},
	{"number", `1`, invalid("null", "a message is a JSON object")},
	{"null", `null`, invalid("null", "a message is a JSON object")},
	{"empty object", `{}`, invalid("null", "/method: required")},
	{"no method", `{"jsonrpc":"2.0","id":7}`, invalid("7", "/method: required")},
	{"method in another case", `{"jsonrpc":"2.0","id":7,"Method":"x"}`, invalid("7", "/method: required")},
	{"method is a number", `{"jsonrpc":"2.0","id":7,"method":1}`, invalid("7", "/method: want a string")},
	{"method is null", `{"jsonrpc":"2.0","id":7,"method":null}`, invalid("7", "/method: want a string")},
	{"method is a number, no id", `{"jsonrpc":"2.0","method":1}`, invalid("null", "/method: want a string")},
	{"no version", `{"id":7,"method":"x"}`, invalid("7", `/jsonrpc: required, \"2.0\"`)},
	{"version 1.0", `{"jsonrpc":"1.0","id":7,"method":"x"}`, invalid("7", `/jsonrpc: want \"2.0\"`)},
	{"version is a number", `{"jsonrpc":2.0,"id":7,"method":"x"}`, invalid("7", `/jsonrpc: want \"2.0\"`)},
	{"id null", `{"jsonrpc":"2.0","id":null,"method":"x"}`, invalid("null", "/id: want a number or a string")},
	{"id true", `{"jsonrpc":"2.0","id":true,"method":"x"}`, invalid("null", "/id: want a number or a string")},
	{"id object", `{"jsonrpc":"2.0","id":{},"method":"x"}`, invalid("null", "/id: want a number or a string")},
	{"id array", `{"jsonrpc":"2.0","id":[1],"method":"x"}`, invalid("null", "/id: want a number or a string")},
	{"id too long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 255) + `","method":"x"}`, invalid("null", "/id: longer than 256 bytes")},
	{"method and result", `{"jsonrpc":"2.0","id":7,"method":"x","result":1}`, invalid("7", "a message has a method, or a result or an error, never both")},
	{"method and error", `{"jsonrpc":"2.0","id":7,"method":"x","error":{"code":1,"message":""}}`, invalid("7", "a message has a method, or a result or an error, never both")},
	{"params is null", `{"jsonrpc":"2.0","id":7,"method":"x","params":null}`, invalid("7", "/params: want an object")},
	{"params is a string", `{"jsonrpc":"2.0","id":7,"method":"x","params":"a"}`, invalid("7", "/params: want an object")},
	{"params by position", `{"jsonrpc":"2.0","id":7,"method":"x","params":[1]}`, answerError("7", -32602, "/params: want an object, have an array: params are by name")},

	{"notification, params by position", `{"jsonrpc":"2.0","method":"x","params":[1]}`, ``},
	{"notification, no version", `{"method":"x"}`, ``},
	{"answer to nothing", `{"jsonrpc":"2.0","id":99,"result":1}`, ``},
	{"error to nothing", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"?"}}`, ``},
	{"answer with an odd id", `{"jsonrpc":"2.0","id":"a","result":1}`, ``},
	{"answer with result and error", `{"jsonrpc":"2.0","id":99,"result":1,"error":{}}`, ``},
	{"answer without version", `{"id":99,"result":1}`, ``},
	{"answer to nothing, too deep", `{"jsonrpc":"2.0","id":99,"result":` + tooDeep + `}`, ``},

	{"id echo: negative", `{"jsonrpc":"2.0","id":-1,"method":"x"}`, `{"jsonrpc":"2.0","id":-1,"result":null}`},
	{"id echo: fraction", `{"jsonrpc":"2.0","id":1.0,"method":"x"}`, `{"jsonrpc":"2.0","id":1.0,"result":null}`},
	{"id echo: exponent", `{"jsonrpc":"2.0","id":1e3,"method":"x"}`, `{"jsonrpc":"2.0","id":1e3,"result":null}`},
	{"id echo: large", `{"jsonrpc":"2.0","id":12345678901234567890123,"method":"x"}`, `{"jsonrpc":"2.0","id":12345678901234567890123,"result":null}`},
	{"id echo: string", `{"jsonrpc":"2.0","id":"<a&b>é\u0041","method":"x"}`, `{"jsonrpc":"2.0","id":"<a&b>é\u0041","result":null}`},
	{"id echo: empty string", `{"jsonrpc":"2.0","id":"","method":"x"}`, `{"jsonrpc":"2.0","id":"","result":null}`},
	{"params pass untouched", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":9007199254740993, "h":"<&>\u2028", "z":1.0}}`, `{"jsonrpc":"2.0","id":1,"result":{"n":9007199254740993, "h":"<&>\u2028", "z":1.0}}`},
	{"other members are ignored", `{"a":1,"jsonrpc":"2.0","ID":2,"id":1,"method":"x","Params":3}`, `{"jsonrpc":"2.0","id":1,"result":null}`},
	{"escaped names", `{"\u006asonrpc":"2\u002e0","\u0069d":1,"method":"x"}`, `{"jsonrpc":"2.0","id":1,"result":null}`},
	{"white space around", " \t\r\n{ \"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"method\" : \"x\" } ", `{"jsonrpc":"2.0","id":1,"result":null}`},
	{"as deep as may be", `{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat(`{"a":`, 63) + `1` + strings.Repeat(`}`, 63) + `}`, `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat(`{"a":`, 63) + `1` + strings.Repeat(`}`, 63) + `}`},
	{"as many values as may be", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[` + strings.Repeat("0,", 16384-7) + `0]}}`, `{"jsonrpc":"2.0","id":1,"result":{"a":[` + strings.Repeat("0,", 16384-7) + `0]}}`},
	{"schemas count apart", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"inputSchema":[` + strings.Repeat("0,", 20000) + `0]}}`, `{"jsonrpc":"2.0","id":1,"result":{"inputSchema":[` + strings.Repeat("0,", 20000) + `0]}}`},
}

const parseError = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not one JSON value"}}`

var tooDeep = strings.Repeat(`{"a":`, 64) + `1` + strings.Repeat(`}`, 64)

func limit(why string) string { return beyond("null", why) }

func beyond(id, why string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32700,"message":"cannot read the message: ` + why + `"}}`
}

func invalid(id, text string) string { return answerError(id, -32600, text) }

func answerError(id string, code int, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + itoa(code) + `,"message":"` + text + `"}}`
}

func TestBadInput(t *testing.T) {
	s := newStack(t, echo, Options{})
	host, c := s.raw(t)
	silent := uint64(0)
	for _, in := range badInput {
		t.Run(in.name, func(t *testing.T) {
			c.t = t
			c.send(in.send)
			c.send(`{"jsonrpc":"2.0","id":"next","method":"x"}`)
			if in.receive != "" {
				if diff := cmp.Diff(in.receive, c.receive()); diff != "" {
					t.Error(diff)
				}
			} else {
				silent++
			}
			if diff := cmp.Diff(`{"jsonrpc":"2.0","id":"next","result":null}`, c.receive()); diff != "" {
				t.Fatal(diff)
			}
		})
	}
	if got := host.Stats(); got.UnreadableNotifications+got.LateAnswers != silent {
		t.Errorf("%+v, want %d in sum", got, silent)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// numbered returns n members m0 to m(n-1).
func numbered(n int) string {
	var members []string
	for i := range n {
		members = append(members, `"m`+itoa(i)+`":0`)
	}
	return strings.Join(members, ",")
}
