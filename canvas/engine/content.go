package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine/contentjson"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// CanvasReadResource answers the request of that name: one resource of a canvas
// whose channel the connection is subscribed to (canvas.md section 6). The result
// is encoded; it must not be changed. Absent, closed, foreign and forbidden are
// one answer, -32008.
func (s *Engine) CanvasReadResource(ctx context.Context, from *channels.Subscriber, p canvas.CanvasReadResourceParams) (ahp.Value, error) {
	v, write, err := s.StreamResource(ctx, from, p)
	if err != nil || write == nil {
		return v, err
	}
	var b bytes.Buffer
	err = write(&b)
	return b.Bytes(), err
}

// StreamResource is CanvasReadResource whose result is not encoded where it is
// large (1 MiB of content): write does that piece by piece when its turn to leave
// comes, so that the resource is never in memory a second time. What is read
// again and has a validator is encoded as a whole after all, one at a time, and
// kept in the cache. Exactly one of value, write and err is set.
func (s *Engine) StreamResource(ctx context.Context, from *channels.Subscriber, p canvas.CanvasReadResourceParams) (v ahp.Value, write func(io.Writer) error, err error) {
	id, path, err := canvas.ParseContentURI(p.URI)
	if err != nil {
		return nil, nil, ahp.ErrNotFound
	}
	target, err := s.readable(func(tx *channels.ReadTx) (*instance, bool) {
		i := s.byChannel[p.Channel]
		return i, i != nil && i.key.instance == id && tx.Subscribed(from, p.Channel)
	})
	if err != nil {
		return nil, nil, err
	}
	have := p.ETag()
	var large *contentjson.Resource
	v, etag, err := s.read(ctx, target, path, have, "read", func(r *contentjson.Resource, again bool) ahp.Value {
		if len(r.Data) < streamFrom {
			return r.Read()
		}
		if again && s.cache.holds(r.EncodedSize()) && s.cache.filling.TryLock() {
			defer s.cache.filling.Unlock()
			return r.Read()
		}
		large = r
		return nil
	})
	switch {
	case err != nil:
		return nil, nil, err
	case large != nil:
		return nil, large.WriteRead, nil
	case v == nil:
		return contentjson.NotModified(etag), nil, nil
	}
	return v, nil, nil
}

// ResourceRead answers the request of that name for content URIs, resolved among
// the channels that the connection subscribes to; other schemes are refused.
func (s *Engine) ResourceRead(ctx context.Context, from *channels.Subscriber, p ahp.ResourceReadParams) (ahp.Value, error) {
	target, path, err := s.resolveURI(from, p.URI)
	if err != nil {
		return nil, err
	}
	form := ahp.EncodingUTF8
	if p.Encoding == ahp.EncodingBase64 {
		form = ahp.EncodingBase64
	}
	v, _, err := s.read(ctx, target, path, "", form, func(r *contentjson.Resource, _ bool) ahp.Value {
		r.Text = r.Text && form == ahp.EncodingUTF8
		return r.ResourceRead()
	})
	return v, err
}

// ResourceResolve answers the request of that name for content URIs.
func (s *Engine) ResourceResolve(ctx context.Context, from *channels.Subscriber, p ahp.ResourceURIParams) (ahp.ResourceResolveResult, error) {
	if ahp.SchemeOf(p.URI) != ahp.SchemeContent {
		return ahp.ResourceResolveResult{}, ahp.ErrNotFound // nothing else is there (ahp-host.md section 1a)
	}
	target, path, err := s.resolveURI(from, p.URI)
	if err != nil {
		return ahp.ResourceResolveResult{}, err
	}
	r, err := s.fetch(ctx, target, canvas.ReadRequest{Path: path})
	if err != nil {
		return ahp.ResourceResolveResult{}, err
	}
	size := int64(len(r.Data))
	return ahp.ResourceResolveResult{URI: r.URI, Type: "file", Size: &size, ContentType: r.ContentType, ETag: r.ETag}, nil
}

// streamFrom is the size from which content is encoded while it is sent, each time;
// smaller content is encoded whole, and cached.
const streamFrom = 1 << 20

// readTarget is an instance's content as it was when it was looked up.
type readTarget struct {
	channel  string
	instance string
	reader   canvas.Reader
}

// resolveURI finds the one canvas that a content URI means to a connection.
func (s *Engine) resolveURI(from *channels.Subscriber, uri string) (readTarget, canvas.ContentPath, error) {
	if ahp.SchemeOf(uri) != ahp.SchemeContent {
		return readTarget{}, canvas.ContentPath{}, ahp.Errorf(ahp.CodePermissionDenied, "only %s: resources can be read here", ahp.SchemeContent)
	}
	id, path, err := canvas.ParseContentURI(uri)
	if err != nil {
		return readTarget{}, canvas.ContentPath{}, ahp.ErrNotFound
	}
	target, err := s.readable(func(tx *channels.ReadTx) (found *instance, ok bool) {
		for _, sub := range tx.Subscriptions(from) {
			if i := s.byChannel[sub]; i != nil && i.key.instance == id {
				if found != nil {
					return nil, false
				}
				found = i
			}
		}
		return found, found != nil
	})
	return target, path, err
}

// readable finds an instance and its content in one transaction.
func (s *Engine) readable(find func(tx *channels.ReadTx) (*instance, bool)) (t readTarget, err error) {
	err = s.locked(func(tx *channels.ReadTx) error {
		i, ok := find(tx)
		if !ok {
			return ahp.ErrNotFound
		}
		if i.current == nil {
			return errUnavailable.Wire() // restored, and not opened again yet
		}
		reader, ok := i.current.(canvas.Reader)
		if !ok {
			return ahp.ErrNotFound
		}
		t = readTarget{i.channel, i.key.instance, reader}
		return nil
	})
	return t, err
}

// read returns an encoded resource, from the cache where the provider says that
// it still holds. The value is nil where the reader's own validator holds.
// encode is told whether the same was read before; it may return nil.
func (s *Engine) read(ctx context.Context, t readTarget, path canvas.ContentPath, have, form string, encode func(r *contentjson.Resource, again bool) ahp.Value) (v ahp.Value, etag string, err error) {
	k := cacheKey{t.channel, path.String(), form}
	kept, known := s.cache.get(k)
	ask := have
	if kept.value != nil {
		ask = kept.etag
	}
	r, err := s.fetch(ctx, t, canvas.ReadRequest{Path: path, ETag: ask})
	switch {
	case err != nil:
		return nil, "", err
	case r == nil && ask == have, r != nil && have != "" && r.ETag == have:
		return nil, have, nil
	case r == nil:
		return kept.value, kept.etag, nil
	}
	v = encode(r, known && kept.etag == r.ETag)
	s.cache.put(k, r.ETag, v)
	return v, r.ETag, nil
}

// fetch asks the instance and checks its answer. It returns nil where the
// request's validator still holds.
func (s *Engine) fetch(ctx context.Context, t readTarget, req canvas.ReadRequest) (*contentjson.Resource, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeouts.Read, errTimeout)
	defer cancel()
	c, err := t.reader.Read(ctx, req)
	if err != nil {
		return nil, s.readError(ctx, t, err)
	}
	if c.NotModified && req.ETag != "" {
		return nil, nil
	}
	if len(c.Data) > s.limits.ContentBytes {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "the resource has %d bytes, at most %d are given out", len(c.Data), s.limits.ContentBytes).Wire()
	}
	found := req.Path
	if !c.Path.Empty() {
		found = c.Path
	}
	r := &contentjson.Resource{URI: found.URI(t.instance), ContentType: c.ContentType, ETag: c.ETag, Data: c.Data}
	if r.ContentType == "" {
		r.ContentType = canvas.ContentType(found)
	}
	r.Text = contentjson.IsText(r.ContentType, c.Data)
	return r, nil
}

// readError is what a reader learns of a failure: that there is nothing, or a
// provider's code. Anything else stays in the log.
func (s *Engine) readError(ctx context.Context, t readTarget, err error) error {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e.Wire()
	}
	if errors.Is(err, ahp.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) {
		return ahp.ErrNotFound
	}
	if ctx.Err() != nil {
		if e, ok := errors.AsType[*canvas.Error](ended(ctx)); ok {
			return e.Wire()
		}
		return ended(ctx)
	}
	s.logger.Warn("content not read", "channel", t.channel, "id", t.instance, "err", err)
	return canvas.Errorf(canvas.CodeHandlerError, "the canvas could not read this resource").Wire()
}
