package schema_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// clientSideChecks are the frames of the transcripts that test a client. The
// client's frames must be valid; the host's must be valid if the Go types
// accept them, which they do not for frames of a later protocol.
func clientSideChecks(t *testing.T) []check {
	t.Helper()
	transcripts, err := testcases.ClientTranscripts()
	if err != nil || len(transcripts) == 0 {
		t.Fatalf("%d transcripts: %v", len(transcripts), err)
	}
	var all []check
	for _, tr := range transcripts {
		toHost, toClient := map[string]string{}, map[string]string{} // methods by connection and id
		for _, step := range tr.Steps {
			fromClient := step.Op == testcases.OpSend || step.Op == testcases.OpMaybe
			if !fromClient && step.Op != testcases.OpExpect {
				continue
			}
			var f frame
			value := ahp.Value(step.Text)
			key := step.Conn + idOf(step.Text)
			if !fromClient {
				value = concrete(step.Text)
			}
			if err := ahp.Unmarshal(value, &f); err != nil {
				t.Fatalf("%s:%d: %v", tr.Name, step.Line, err)
			}
			c := check{Name: fmt.Sprintf("%s:%d", tr.Name, step.Line), Value: value, Valid: true, Open: fromClient}
			if fromClient {
				c.Schema = ownSchema(f, "Client", key, toHost, toClient, "ErrorResponse")
			} else {
				c.Schema = ownSchema(f, "Host", key, toClient, toHost, "HostErrorResponse")
				c.Valid = hostFits(f, toHost[key])
			}
			all = append(all, c)
		}
	}
	return all
}

// idOf returns the id of a frame verbatim, with or without quotes.
func idOf(text string) string {
	m := idMember.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

// ownSchema returns the definition of a frame and records its request.
func ownSchema(f frame, side, key string, own, others map[string]string, failure string) string {
	switch {
	case f.Method != nil && f.ID != nil:
		own[key] = unquote(f.Method)
		return side + "Request"
	case f.Method != nil:
		return side + "Notification"
	case f.Error != nil:
		return failure
	}
	return upper(others[key]) + "Response"
}

func hostFits(f frame, method string) bool {
	switch {
	case f.Method != nil:
		return message(f, ahp.HostToClient)
	case f.Error != nil:
		var e ahp.Error
		return ahp.Unmarshal(f.Error, &e) == nil && ahp.Codes[e.Code] != "" && errorDataFits(e)
	}
	return result(method, f.Result)
}

func errorDataFits(e ahp.Error) bool {
	switch e.Code {
	case ahp.CodeUnsupportedProtocolVersion:
		return fits(reflect.TypeFor[ahp.UnsupportedVersionData](), e.Data)
	case ahp.CodeCanvasProvider:
		return fits(reflect.TypeFor[ahp.ProviderErrorData](), e.Data)
	}
	return true
}

// bridgeChecks are the messages of the http/1 exchanges, with the verdict of
// the hand-written schema of canvas/bridge.
func bridgeChecks(t *testing.T) []check {
	t.Helper()
	original := bridgeSchema(t)
	files, err := filepath.Glob("../canvas/bridge/testdata/exchanges/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d exchanges: %v", len(files), err)
	}
	var all []check
	for _, file := range files {
		for i, m := range bridgeMessages(t, file) {
			valid := original.Validate(decoded(t, m)) == nil
			all = append(all, check{fmt.Sprint(filepath.Base(file), " message ", i), "BridgeMessage", m, valid, false})
		}
	}
	return all
}

func bridgeSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("../canvas/bridge/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("bridge.json", decoded(t, text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("bridge.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bridgeMessages are the messages of page and host in a file of exchanges.
func bridgeMessages(t *testing.T, file string) (all []ahp.Value) {
	t.Helper()
	var exchanges []struct {
		Steps []struct {
			Page ahp.Value `json:"page,omitzero"`
			Host ahp.Value `json:"host,omitzero"`
		} `json:"steps"`
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = ahp.Unmarshal(text, &exchanges)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, x := range exchanges {
		for _, s := range x.Steps {
			for _, m := range []ahp.Value{s.Page, s.Host} {
				if m != nil {
					all = append(all, m)
				}
			}
		}
	}
	return all
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
