package extension

import "github.com/ahp-canvas/ahp-canvas/ahp"

// raise publishes an event to the session's agent. The event names no canvas, because
// the wire does not. raise runs on the process's reader, which keeps events in order.
func (p *process) raise(event any) error {
	raw, err := ahp.Marshal(event)
	if err != nil {
		return err
	}
	return p.worker.ext.runner.opts.Service.Raise(p.worker.session, raw)
}
