package engine

import (
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// encode produces the same bytes as ahp.Marshal, and they decode to the same record.
func TestRecordIsEncodedAsTheEncoderDoes(t *testing.T) {
	title, status := "A \"title\" \u2028 <", ""
	plain := instanceRecord{Session: "ahp-session:/s", InstanceID: "i", ExtensionID: "e", CanvasID: "c", Opened: time.Unix(1785000000, 123456000).UTC()}
	plain.Provider.Kind = "server"
	records := []instanceRecord{plain}
	for _, change := range []func(*instanceRecord){
		func(r *instanceRecord) { r.ExtensionName = "named\n" },
		func(r *instanceRecord) { r.DisplayName = "no UTF-8: \xff" },
		func(r *instanceRecord) { r.Provider.Kind, r.Provider.ClientID = "client", "me" },
		func(r *instanceRecord) { r.Input = ahp.Value(` { "n" : 1.50 } `) },
		func(r *instanceRecord) { r.HTTP = true },
		func(r *instanceRecord) { r.Sockets = true },
		func(r *instanceRecord) { r.Links = true },
		func(r *instanceRecord) { r.Opened = r.Opened.In(time.FixedZone("", 5400)) },
		func(r *instanceRecord) { r.Shown.Title = &title },
		func(r *instanceRecord) { r.Shown.Status = &status },
	} {
		one, all := plain, records[0]
		change(&one)
		change(&all)
		records[0] = all // with all fields
		records = append(records, one)
	}
	records = append(records, plain)
	for _, r := range records {
		got := string(r.encode())
		if want := string(ahp.MustMarshal(r)); got != want {
			t.Errorf("have %s\nwant %s", got, want)
		}
		var back instanceRecord
		if err := ahp.Unmarshal([]byte(got), &back); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
}
