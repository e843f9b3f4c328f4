package actionsbridge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// leeway is how long before its caller's deadline a call times out, so that the caller
// learns of a handler_timeout.
const leeway = 500 * time.Millisecond

// pending is a call in flight. Bridge.mu guards it until done is closed; the outcome is
// read after that.
type pending struct {
	id       string
	rt       *runtime
	manifest *Manifest // when the call began
	name     string
	step     string
	done     chan struct{}
	answer   Item
	err      *Error // if there is no answer
}

// finish ends the wait for an answer; done is closed when the events before it have been reported. The
// caller has removed p from Bridge.pending, so there is one outcome.
func (p *pending) finish(w *work, err *Error) {
	p.err = err
	p.rt.inFlight--
	w.finished = append(w.finished, p)
}

// surfaceActions change the page that a runtime works with: until its next status, it is
// not known which actions there are.
var surfaceActions = []string{"browser.claimed_tabs.activate", "browser.navigate", "browser.open_tab", "browser.close_tab"}

// Call calls an action and waits for its outcome. Everything that can be checked is checked
// before anything is sent: the runtime, the name, the policy, capabilities, the arguments,
// and how many calls are in flight. A call is sent at most once.
//
// If ctx has a deadline, the call times out half a second before it. If ctx ends, the
// answer is dropped; the action may have happened.
func (b *Bridge) Call(ctx context.Context, c Call) (ahp.Value, *Error) {
	start := b.opts.Now()
	if absent(c.Arguments) {
		c.Arguments = ahp.Value("{}")
	}
	c.ID = cmp.Or(c.ID, b.opts.NewID())
	rt, err := b.check(&c)
	if rt == nil {
		return nil, err.about(c.ID, c.RuntimeID)
	}
	var value ahp.Value
	if err == nil {
		value, err = b.run1(ctx, rt, c, start)
	}
	report := CallReport{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Elapsed: b.opts.Now().Sub(start)}
	if err != nil {
		err = err.about(c.ID, rt.id)
		report.Code = err.Code
	}
	b.mu.Lock()
	b.report(Event{Kind: Called, Runtime: rt.snapshot(), Report: report})
	b.mu.Unlock()
	b.flush()
	return value, err
}

// check checks a call before anything is sent. It returns no runtime if none fits.
func (b *Bridge) check(c *Call) (*runtime, *Error) {
	b.mu.Lock()
	rt, err := b.route(Selector{RuntimeID: c.RuntimeID})
	if err != nil || c.RuntimeID == "" {
		b.mu.Unlock()
		if err == nil {
			err = NewError(CodeRuntimeNotFound, notFound{c.RuntimeID, []candidate{}}, "the call names no runtime")
		}
		return nil, err
	}
	err = rt.usable()
	if err == nil && rt.stale && !strings.HasPrefix(c.Name, "browser.") {
		err = NewError(CodeRuntimeNotReady, map[string]string{"state": string(Stale)}, "the runtime has changed its page and not reported since")
	}
	manifest, o := rt.manifest, CheckOptions{Scripts: rt.mayScript(), Names: rt.actions}
	b.mu.Unlock()
	if err != nil {
		return rt, err
	}
	// Schemas take time, so they are applied without the lock.
	return rt, manifest.CheckCallWith(c.Name, c.Arguments, o)
}

// run1 sends a call and waits for its outcome.
func (b *Bridge) run1(ctx context.Context, rt *runtime, c Call, start time.Time) (ahp.Value, *Error) {
	timeout := b.timeout(ctx, c.Timeout)
	p, err := b.begin(rt, c)
	if err != nil {
		return nil, err
	}
	item := Item{Type: TypeCall, CallID: c.ID, RuntimeID: rt.id, Name: c.Name, Arguments: c.Arguments,
		Target: &Target{RuntimeID: rt.id}, TimeoutMs: max(1, int(timeout.Milliseconds()))}
	b.perform(&work{sends: []sending{{rt.conn, item.Encode()}}})
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		b.giveUp(p, func() *Error { return b.timedOut(p, start, timeout) })
	case <-ctx.Done():
		b.giveUp(p, func() *Error {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return b.timedOut(p, start, timeout)
			}
			return NewError(CodeTransportFailed, nil, "the caller gave up; the action may have happened")
		})
	}
	if p.err != nil {
		return nil, p.err
	}
	return b.outcome(p)
}

// outcome reads an answer. An answer can be large, so that happens without the lock.
func (b *Bridge) outcome(p *pending) (ahp.Value, *Error) {
	value, err := Outcome(p.answer)
	if err == nil {
		err = p.manifest.CheckResult(p.name, value)
	}
	if err != nil {
		return nil, err
	}
	if slices.Contains(surfaceActions, p.name) {
		w := &work{}
		b.mu.Lock()
		p.rt.stale = true
		b.report(Event{Kind: Changed, Runtime: p.rt.snapshot()})
		w.send(p.rt.conn, ping)
		b.mu.Unlock()
		b.perform(w)
	}
	return value, nil
}

// timeout returns how long a call may take.
func (b *Bridge) timeout(ctx context.Context, own time.Duration) time.Duration {
	if own <= 0 {
		own = b.opts.Timeout
	}
	own = min(own, maxTimeoutMs*time.Millisecond)
	if deadline, ok := ctx.Deadline(); ok {
		own = min(own, max(time.Until(deadline)-leeway, time.Millisecond))
	}
	return own
}

// begin registers a call.
func (b *Bridge) begin(rt *runtime, c Call) (*pending, *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runtimes[rt.id] != rt {
		return nil, NewError(CodeTransportFailed, nil, "the page disconnected before the call was sent")
	}
	if err := rt.usable(); err != nil { // a person may have refused it
		return nil, err
	}
	if len(c.ID) > maxString || b.pending[c.ID] != nil {
		e := NewError(CodeInvalidInput, pathEvidence{Path: "/call_id"}, "a call with the id %q is in flight", cleanText(c.ID, maxString))
		if len(c.ID) > maxString {
			e.Message = "a call_id has at most 256 bytes"
		}
		e.NextStep = "leave out call_id, or use another"
		return nil, e
	}
	if rt.inFlight >= b.limits.InFlight {
		return nil, NewError(CodeRuntimeNotReady, map[string]int{"in_flight": rt.inFlight}, "%d calls of this page have not ended", rt.inFlight)
	}
	p := &pending{id: c.ID, rt: rt, manifest: rt.manifest, name: c.Name, done: make(chan struct{})}
	rt.inFlight++
	b.pending[c.ID] = p
	return p, nil
}

// giveUp ends a call that has no answer, or takes the answer that came meanwhile.
func (b *Bridge) giveUp(p *pending, why func() *Error) {
	b.mu.Lock()
	waiting := b.pending[p.id] == p
	if waiting {
		delete(b.pending, p.id)
		p.rt.inFlight--
		p.err = why()
	}
	b.mu.Unlock()
	if !waiting {
		<-p.done
	}
}

type timeoutEvidence struct {
	ElapsedMs int64  `json:"elapsed_ms"`
	TimeoutMs int64  `json:"timeout_ms"`
	Step      string `json:"step,omitzero"`
	UnheardMs int64  `json:"unheard_ms,omitzero"`
}

// unheardAfter is how long a page sends nothing that leaves a ping unanswered.
const unheardAfter = pingEvery + 2*lookEvery

// timedOut is the error of a call without an answer. A browser can keep a page that was left,
// frozen and with its connection, for its Back button: such a page answers no ping either,
// and the error says so. The caller holds b.mu.
func (b *Bridge) timedOut(p *pending, start time.Time, timeout time.Duration) *Error {
	now := b.opts.Now()
	about := timeoutEvidence{ElapsedMs: now.Sub(start).Milliseconds(), TimeoutMs: timeout.Milliseconds(), Step: p.step}
	hint := ""
	if unheard := now.Sub(p.rt.seen); unheard >= unheardAfter {
		about.UnheardMs = unheard.Milliseconds()
		hint = "; it has sent nothing else either, so it was probably left, or it is frozen"
	}
	return NewError(CodeHandlerTimeout, about, "the page did not answer within %v%s; the action may have happened", timeout.Round(time.Millisecond), hint)
}

// answer handles an output or an error of a runtime. It counts only if the call is pending
// and was sent to this runtime, on this connection. The caller holds b.mu.
func (b *Bridge) answer(w *work, rt *runtime, item Item) {
	p := b.pending[item.CallID]
	if p == nil || p.rt != rt {
		b.stats.Answers++
		return
	}
	delete(b.pending, p.id)
	p.answer = item
	p.finish(w, nil)
}
