package conform_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// TestReportHasNoAddress: a case that fails at the address of a canvas reports the failure
// without the address.
func TestReportHasNoAddress(t *testing.T) {
	h := startHost(t, true)
	failing, err := testcases.ParseTranscript("x", `# title: address
# rule: OURS ahp/PROTOCOL.md section 15.2
open a
a> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientId":"http://g-0123456789abcdef0123456789abcdef.localhost/?~t=address-secret","protocolVersions":["x"]}}
a< {"jsonrpc":"2.0","id":1,"result":{"url":"http://g-0123456789abcdef0123456789abcdef.localhost/?~t=address-secret"}}
`)
	if err != nil {
		t.Fatal(err)
	}
	report, err := conform.Run(t.Context(), conform.Options{URL: h.url, Token: agentToken, Cases: []*testcases.Transcript{failing}, Ours: true})
	if err != nil || len(report.Results) != 1 || report.Results[0].Want == "" {
		t.Fatalf("%v %+v", err, report)
	}
	got := report.Results[0]
	for _, text := range append(got.Exchange, got.Want, got.Have, got.Problem) {
		if strings.Contains(text, "0123456789abcdef") || strings.Contains(text, "address-secret") {
			t.Errorf("the report has %s", text)
		}
	}
}
