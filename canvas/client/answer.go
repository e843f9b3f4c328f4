package client

import (
	"context"
	"errors"
	"io/fs"

	"github.com/segmentio/asm/base64"
	"github.com/segmentio/asm/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// maxAnswer limits a result for the host, in bytes: a frame above 4 MiB would end
// the connection (canvas/PROTOCOL.md section 8).
const maxAnswer = 4<<20 - 1<<10

// handle starts a request of the host. It runs on the reader and does not wait.
func (p *provided) handle(l *link, req *peer.Request) {
	switch {
	case !p.c.declarations.hasProvided():
		req.Fail(ahp.Errorf(ahp.CodeMethodNotFound, "this client provides no canvases"))
	case req.Method == canvas.CanvasOpen.Name:
		answer(p, l, req, func(q canvas.CanvasOpenParams) instanceKey { return instanceKey{q.Channel, q.InstanceID} }, p.open)
	case req.Method == canvas.CanvasInvokeAction.Name:
		answer(p, l, req, func(q canvas.CanvasInvokeActionParams) instanceKey { return instanceKey{q.Channel, q.InstanceID} }, p.invoke)
	case req.Method == canvas.CanvasClose.Name:
		answer(p, l, req, func(q canvas.CanvasCloseParams) instanceKey { return instanceKey{q.Channel, q.InstanceID} }, p.close)
	case req.Method == ahp.ResourceRead.Name:
		req.GoContent(func(ctx context.Context) { p.content(ctx, req) })
	default:
		req.Fail(ahp.Errorf(ahp.CodeMethodNotFound, "this client does not support %s", req.Method))
	}
}

// answer runs a request of an instance after the earlier ones.
func answer[P, R any](p *provided, l *link, req *peer.Request, keyOf func(P) instanceKey, run func(context.Context, instanceKey, *slot, P) (R, error)) {
	var params P
	if err := req.Decode(&params); err != nil {
		req.Fail(err)
		return
	}
	key := keyOf(params)
	s, prev, done := p.enter(key, l)
	req.Go(func(ctx context.Context) {
		defer p.leave(key, s, done)
		ctx, cancel := context.WithTimeout(ctx, p.c.opts.Timeout)
		defer cancel()
		select {
		case <-prev:
		case <-ctx.Done():
			// The earlier request still runs, and later ones must wait for it.
			req.Fail(wireError(ctx.Err()))
			<-prev
			return
		}
		result, err := run(ctx, key, s, params)
		reply(req, result, err)
	})
}

func reply(req *peer.Request, result any, err error) {
	if err != nil {
		req.Fail(wireError(err))
		return
	}
	raw, err := ahp.Marshal(result)
	switch {
	case err != nil:
		req.Fail(wireError(err))
	case len(raw) > maxAnswer:
		req.Fail(wireError(canvas.Errorf(canvas.CodeLimitExceeded, "the answer has %d bytes, at most %d are allowed", len(raw), maxAnswer)))
	default:
		req.ReplyContent(raw)
	}
}

// wireError returns a provider's error as -32012 with its code.
func wireError(err error) *ahp.Error {
	e, ok := errors.AsType[*canvas.Error](err)
	if !ok || e.Code == "" {
		e = canvas.Errorf(canvas.CodeHandlerError, "%s", err)
	}
	wire := e.Wire()
	wire.Code = ahp.CodeCanvasProvider // also for canvas_already_open, which a host sends as -32010
	return wire
}

func (p *provided) open(ctx context.Context, key instanceKey, s *slot, q canvas.CanvasOpenParams) (canvas.CanvasOpenResult, error) {
	var none canvas.CanvasOpenResult
	provider := p.c.declarations.provider(q.Channel, q.CanvasID)
	if provider == nil {
		return none, canvas.Errorf(canvas.CodeNotFound, "this client does not provide %q", q.CanvasID)
	}
	i := p.at(s)
	isNew := i == nil
	if isNew {
		i = newInstance(p.c, key)
	}
	opened, err := i.open(trace.FromMeta(ctx, q.Meta), provider, q)
	if err == nil && isNew && ctx.Err() != nil {
		err = ctx.Err() // the host no longer waits
		p.closeLate(opened.Instance)
	}
	if err != nil {
		if isNew {
			i.end()
		}
		return none, err
	}
	p.add(s, i)
	return canvas.CanvasOpenResult{URL: opened.URL, Title: opened.Title, Status: opened.Status}, nil
}

func (p *provided) invoke(ctx context.Context, _ instanceKey, s *slot, q canvas.CanvasInvokeActionParams) (canvas.CanvasInvokeActionResult, error) {
	i := p.at(s)
	if i == nil {
		return canvas.CanvasInvokeActionResult{}, canvas.Errorf(canvas.CodeInstanceNotFound, "%q is not open here", q.InstanceID)
	}
	value, err := i.now().Invoke(trace.FromMeta(ctx, q.Meta), q.ActionName, q.Input)
	return canvas.CanvasInvokeActionResult{Value: value}, err
}

// close succeeds if nothing is open: that is what the host wants.
func (p *provided) close(ctx context.Context, _ instanceKey, s *slot, _ canvas.CanvasCloseParams) (ahp.None, error) {
	i := p.remove(s)
	if i == nil {
		return ahp.None{}, nil
	}
	err := i.now().Close(ctx)
	i.end()
	if i.isListed() {
		p.c.Unsubscribe(i.channel)
	}
	return ahp.None{}, err
}

// content answers resourceRead. The request names no session, so an instance id
// that two sessions have is not found.
func (p *provided) content(ctx context.Context, req *peer.Request) {
	ctx, cancel := context.WithTimeout(ctx, p.c.opts.Timeout)
	defer cancel()
	result, err := p.read(ctx, req)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ahp.ErrNotFound) {
		req.Fail(ahp.ErrNotFound)
		return
	}
	reply(req, result, err)
}

func (p *provided) read(ctx context.Context, req *peer.Request) (ahp.ResourceReadResult, error) {
	var q ahp.ResourceReadParams
	var none ahp.ResourceReadResult
	if req.Decode(&q) != nil {
		return none, ahp.ErrNotFound
	}
	id, path, err := canvas.ParseContentURI(q.URI)
	if err != nil {
		return none, ahp.ErrNotFound
	}
	r, ok := p.byID(id).(canvas.Reader)
	if !ok {
		return none, ahp.ErrNotFound
	}
	content, err := r.Read(ctx, canvas.ReadRequest{Path: path})
	if err != nil {
		return none, err
	}
	result := ahp.ResourceReadResult{Data: string(content.Data), Encoding: ahp.EncodingUTF8, ContentType: content.ContentType}
	if q.Encoding == ahp.EncodingBase64 || !utf8.Valid(content.Data) {
		result.Data, result.Encoding = base64.StdEncoding.EncodeToString(content.Data), ahp.EncodingBase64
	}
	return result, nil
}
