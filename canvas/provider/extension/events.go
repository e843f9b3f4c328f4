package extension

import "github.com/ahp-canvas/ahp-canvas/ahp"

// raise tells the session's agent what the extension said. The wire does not say
// which canvas it is about. It runs on the reader of one process, which keeps the
// order.
func (p *process) raise(event any) error {
	raw, err := ahp.Marshal(event)
	if err != nil {
		return err
	}
	return p.worker.ext.runner.opts.Service.Raise(p.worker.session, raw)
}
