package actionsbridge_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// TestModel plays random sequences of connections that come, go, fall silent, repeat ids
// and answer late. No call is answered twice or by another runtime, none is pending without
// a runtime, nothing is sent twice, and a runtime is ready only while it is connected.
func TestModel(t *testing.T) {
	sequences := 1_000
	if os.Getenv("AHP_LONG") != "" {
		sequences = 10_000
	}
	synctest.Test(t, func(t *testing.T) {
		for n := range sequences {
			seed := uint64(n)
			m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 1)), sent: map[string]int{}, running: map[string]*modelCall{}}
			m.play()
			if t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, strings.Join(m.steps, "\n"))
			}
		}
	})
}

type model struct {
	t       *testing.T
	rng     *rand.Rand
	b       *ab.Bridge
	socks   []*modelSocket
	sent    map[string]int // how often each call id was sent
	running map[string]*modelCall
	old     []ab.Item // calls that were sent, also those that have ended
	steps   []string
	calls   int
}

// modelSocket is a connection: the runtimes that it should have, by id.
type modelSocket struct {
	m    *model
	name string
	who  ab.Principal
	conn *ab.Conn
	has  map[string]time.Time // when each was seen last
	gone bool
}

type modelCall struct {
	id, runtime string
	sock        *modelSocket // that was asked; nil if nothing was sent
	want        string       // the answer that counts; "" if none came yet
	ended       chan outcome
}

func (s *modelSocket) Send(raw []byte) error {
	item, _ := ab.DecodeItem(raw)
	if item.Type != ab.TypeCall {
		return nil
	}
	s.m.sent[item.CallID]++
	s.m.old = append(s.m.old, item)
	if c := s.m.running[item.CallID]; c != nil {
		c.sock = s
	}
	return nil
}

func (s *modelSocket) Close(string) { s.gone = true }

func (m *model) step(format string, args ...any) {
	m.steps = append(m.steps, fmt.Sprintf(format, args...))
}

func (m *model) play() {
	m.b = ab.New(ab.Options{})
	for range 25 {
		m.next()
		synctest.Wait()
		m.collect()
		m.check()
	}
	m.b.Close()
	synctest.Wait()
	for id, c := range m.running {
		select {
		case o := <-c.ended:
			m.ended(c, o)
		default:
			m.t.Errorf("%s is pending after the end", id)
		}
	}
}

func (m *model) next() {
	switch m.rng.IntN(12) {
	case 0, 1:
		m.connect()
	case 2, 3:
		m.ready()
	case 4:
		m.leave()
	case 5, 6, 7:
		m.call()
	case 8, 9:
		m.answer()
	case 10:
		m.answerOld()
	case 11:
		d := time.Duration(m.rng.IntN(20)) * time.Second
		m.step("%v pass", d)
		time.Sleep(d)
	}
}

func (m *model) connect() {
	if len(m.socks) >= 4 {
		return
	}
	who := []ab.Principal{trusted, {Kind: ab.Program, Trusted: true}}[m.rng.IntN(2)]
	s := &modelSocket{m: m, name: fmt.Sprint("s", len(m.steps)), who: who, has: map[string]time.Time{}}
	m.step("%s connects as %s", s.name, who.Kind)
	s.conn = m.b.Attach(s, who)
	m.socks = append(m.socks, s)
}

func (m *model) anySocket() *modelSocket {
	if len(m.socks) == 0 {
		return nil
	}
	return m.socks[m.rng.IntN(len(m.socks))]
}

// owner is the socket that should have a runtime.
func (m *model) owner(id string) *modelSocket {
	for _, s := range m.socks {
		if _, ok := s.has[id]; ok {
			return s
		}
	}
	return nil
}

func (m *model) ready() {
	s := m.anySocket()
	if s == nil {
		return
	}
	id := fmt.Sprint("r", m.rng.IntN(4))
	m.step("%s: runtime_ready %s", s.name, id)
	switch o := m.owner(id); {
	case o == nil || o == s:
		s.has[id] = time.Now()
	case o.who == s.who: // taken over
		delete(o.has, id)
		s.has[id] = time.Now()
	}
	s.conn.Receive(ready(id, "https://a.example/"))
}

func (m *model) leave() {
	s := m.anySocket()
	if s == nil {
		return
	}
	if m.rng.IntN(2) == 0 {
		id := fmt.Sprint("r", m.rng.IntN(4))
		m.step("%s: runtime_removed %s", s.name, id)
		delete(s.has, id)
		s.conn.Receive(fmt.Appendf(nil, `{"type":"runtime_removed","runtime_id":%q}`, id))
		return
	}
	m.step("%s closes", s.name)
	s.has = map[string]time.Time{}
	s.conn.Close()
	m.socks = without(m.socks, s)
}

func without(all []*modelSocket, s *modelSocket) (out []*modelSocket) {
	for _, o := range all {
		if o != s {
			out = append(out, o)
		}
	}
	return out
}

func (m *model) call() {
	m.calls++
	c := &modelCall{id: fmt.Sprint("c", m.calls), runtime: fmt.Sprint("r", m.rng.IntN(4)), ended: make(chan outcome, 2)}
	m.running[c.id] = c
	m.step("call %s of %s", c.id, c.runtime)
	go func() {
		v, err := m.b.Call(context.Background(), ab.Call{ID: c.id, RuntimeID: c.runtime, Name: "a", Timeout: time.Duration(1+m.calls%30) * time.Second})
		c.ended <- outcome{v, err}
	}()
	synctest.Wait()
	if c.sock != nil && m.owner(c.runtime) != c.sock {
		m.t.Errorf("%s was sent to %s", c.id, c.sock.name)
	}
}

// answer answers a sent call: from the right socket and runtime, or from others.
func (m *model) answer() {
	for _, c := range m.running {
		if c.sock == nil {
			continue
		}
		s, id := c.sock, c.runtime
		if m.rng.IntN(2) == 0 {
			s = m.anySocket()
		}
		if m.rng.IntN(3) == 0 {
			id = fmt.Sprint("r", m.rng.IntN(4))
		}
		if s == nil {
			return
		}
		value := fmt.Sprintf(`"%s by %s of %s"`, c.id, s.name, id)
		m.step("%s answers %s as %s", s.name, c.id, id)
		_, has := s.has[id]
		if s == c.sock && id == c.runtime && has && c.want == "" {
			c.want = value
		}
		if has {
			s.has[id] = time.Now()
		}
		s.conn.Receive(output(ab.Item{CallID: c.id, RuntimeID: id}, value))
		return
	}
}

// answerOld answers a call that was sent at any time.
func (m *model) answerOld() {
	s := m.anySocket()
	if s == nil || len(m.old) == 0 {
		return
	}
	item := m.old[m.rng.IntN(len(m.old))]
	if m.running[item.CallID] != nil {
		return
	}
	m.step("%s answers %s late", s.name, item.CallID)
	if _, has := s.has[item.RuntimeID]; has {
		s.has[item.RuntimeID] = time.Now()
	}
	s.conn.Receive(output(item, `"late"`))
}

// collect takes the calls that have ended.
func (m *model) collect() {
	for id, c := range m.running {
		select {
		case o := <-c.ended:
			m.ended(c, o)
			delete(m.running, id)
		default:
		}
	}
	for _, s := range m.socks {
		if s.gone {
			m.t.Errorf("%s was closed", s.name)
		}
	}
}

func (m *model) ended(c *modelCall, o outcome) {
	if o.err == nil && string(o.value) != c.want {
		m.t.Errorf("%s ended with %s, want %s", c.id, o.value, c.want)
	}
	if o.err != nil && c.want != "" {
		m.t.Errorf("%s ended with %v although it was answered", c.id, o.err)
	}
	if n := m.sent[c.id]; n > 1 {
		m.t.Errorf("%s was sent %d times", c.id, n)
	}
	select {
	case again := <-c.ended:
		m.t.Errorf("%s ended again with %+v", c.id, again)
	default:
	}
}

// check compares the runtimes with those that there should be, and that each pending call
// has its runtime.
func (m *model) check() {
	want := map[string]time.Time{}
	for _, s := range m.socks {
		maps.Copy(want, s.has)
	}
	all := m.b.Runtimes()
	if len(all) != len(want) {
		m.t.Errorf("%d runtimes, want %v", len(all), want)
	}
	for _, r := range all {
		seen, ok := want[r.ID]
		if !ok {
			m.t.Errorf("there is a runtime %s", r.ID)
		}
		quiet := time.Since(seen)
		if quiet < 35*time.Second && r.State != ab.Ready || quiet > 37*time.Second && r.State != ab.Silent {
			m.t.Errorf("%s is %s after %v", r.ID, r.State, quiet)
		}
	}
	for id, c := range m.running {
		if c.sock == nil {
			m.t.Errorf("%s was not sent and has not ended", id)
		} else if _, ok := c.sock.has[c.runtime]; !ok {
			m.t.Errorf("%s is pending without its runtime", id)
		}
	}
}
