package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/heavy"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine/contentjson"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Content serves what instances show, to the connections that are subscribed to them.
// Its methods may be called concurrently.
type Content struct {
	engine *Engine
	cache  contentjson.Cache
	pins   *contentjson.Pins
	files  map[string]canvas.Content // of every instance, by path
}

// CanvasReadResource answers the request of that name: one resource of a canvas whose
// channel the connection is subscribed to (canvas/PROTOCOL.md section 6). The result is
// encoded and must not be changed. Content that is absent, closed, of another canvas or
// forbidden has one answer, -32008.
func (c *Content) CanvasReadResource(ctx context.Context, from *channels.Subscriber, p canvas.CanvasReadResourceParams) (ahp.Value, error) {
	v, write, done, err := c.StreamResource(ctx, from, p)
	if err != nil {
		return nil, err
	}
	defer done()
	if write == nil {
		return v, nil
	}
	var b bytes.Buffer
	err = write(&b)
	return b.Bytes(), err
}

// StreamResource is CanvasReadResource for content of any size. Content of 1 MiB and more
// is encoded piece by piece when the result is sent, so it is never in memory twice. If it
// has a validator and is read again, it is encoded whole and cached, one at a time. Exactly
// one of v, write and err is set. Without err, the caller calls done once the result is not
// needed any more: until then it counts in the host's memory.
func (c *Content) StreamResource(ctx context.Context, from *channels.Subscriber, p canvas.CanvasReadResourceParams) (v ahp.Value, write func(io.Writer) error, done func(), err error) {
	id, path, err := canvas.ParseContentURI(p.URI)
	if err != nil {
		return nil, nil, nil, ahp.ErrNotFound
	}
	target, err := c.readable(func(tx *channels.ReadTx) (*instance, bool) {
		i := c.engine.instances.byChannel[p.Channel]
		return i, i != nil && i.key.instance == id && tx.Subscribed(from, p.Channel)
	})
	if err != nil {
		return nil, nil, nil, err
	}
	key := contentjson.Key{Channel: target.channel, Path: path.String(), Form: "read"}
	end, err := c.begin(ctx, from, key)
	if err != nil {
		return nil, nil, nil, err
	}
	defer end()
	have := p.ETag()
	var large *contentjson.Resource
	v, etag, err := c.read(ctx, target, path, have, "read", func(r *contentjson.Resource, again bool) ahp.Value {
		if len(r.Data) < streamFrom {
			return r.Read()
		}
		if again && c.cache.Holds(r.EncodedSize()) && c.cache.Filling.TryLock() {
			defer c.cache.Filling.Unlock()
			return r.Read()
		}
		large = r
		return nil
	})
	switch {
	case err != nil:
		return nil, nil, nil, err
	case large != nil:
		return nil, large.WriteRead, c.pins.HoldResource(from.Account, key, large), nil
	case v == nil:
		return contentjson.NotModified(etag), nil, func() {}, nil
	}
	return v, nil, c.pins.Hold(from.Account, key, v), nil
}

// begin waits until content can be read. Above the host's memory it is refused.
func (c *Content) begin(ctx context.Context, from *channels.Subscriber, k contentjson.Key) (end func(), err error) {
	end, err = c.pins.Begin(ctx, c.engine.timeouts.Read, from.Account, k)
	if err != nil { // or the connection ended, and no answer is read
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "%v", budget.ErrFull).Wire()
	}
	return end, nil
}

// ResourceRead answers the request of that name for content URIs, which it resolves among
// the channels that the connection is subscribed to. It refuses other schemes.
func (c *Content) ResourceRead(ctx context.Context, from *channels.Subscriber, p ahp.ResourceReadParams) (ahp.Value, error) {
	target, path, err := c.resolveURI(from, p.URI)
	if err != nil {
		return nil, err
	}
	form := ahp.EncodingUTF8
	if p.Encoding == ahp.EncodingBase64 {
		form = ahp.EncodingBase64
	}
	end, err := c.begin(ctx, from, contentjson.Key{Channel: target.channel, Path: path.String(), Form: form})
	if err != nil {
		return nil, err
	}
	defer end()
	v, _, err := c.read(ctx, target, path, "", form, func(r *contentjson.Resource, _ bool) ahp.Value {
		r.Text = r.Text && form == ahp.EncodingUTF8
		return r.ResourceRead()
	})
	return v, err
}

// ResourceResolve answers the request of that name for content URIs.
func (c *Content) ResourceResolve(ctx context.Context, from *channels.Subscriber, p ahp.ResourceURIParams) (ahp.ResourceResolveResult, error) {
	if ahp.SchemeOf(p.URI) != ahp.SchemeContent {
		return ahp.ResourceResolveResult{}, ahp.ErrNotFound // no other scheme exists here (ahp/PROTOCOL.md section 1a)
	}
	target, path, err := c.resolveURI(from, p.URI)
	if err != nil {
		return ahp.ResourceResolveResult{}, err
	}
	end, err := c.begin(ctx, from, contentjson.Key{Channel: target.channel, Path: path.String(), Form: "resolve"})
	if err != nil {
		return ahp.ResourceResolveResult{}, err
	}
	defer end()
	r, err := c.fetch(ctx, target, canvas.ReadRequest{Path: path})
	if err != nil {
		return ahp.ResourceResolveResult{}, err
	}
	size := int64(len(r.Data))
	return ahp.ResourceResolveResult{URI: r.URI, Type: "file", Size: &size, ContentType: r.ContentType, ETag: r.ETag}, nil
}

// streamFrom is the size from which content is encoded while it is sent, each time;
// smaller content is encoded whole, and cached.
const streamFrom = 1 << 20

// readTarget is an instance's content at the time of the lookup.
type readTarget struct {
	channel  string
	instance string
	reader   canvas.Reader
}

// resolveURI finds the one canvas that a content URI means to a connection. An instance id
// that two subscribed sessions share means none.
func (c *Content) resolveURI(from *channels.Subscriber, uri string) (readTarget, canvas.ContentPath, error) {
	if ahp.SchemeOf(uri) != ahp.SchemeContent {
		return readTarget{}, canvas.ContentPath{}, ahp.Errorf(ahp.CodePermissionDenied, "only %s: resources can be read here", ahp.SchemeContent)
	}
	id, path, err := canvas.ParseContentURI(uri)
	if err != nil {
		return readTarget{}, canvas.ContentPath{}, ahp.ErrNotFound
	}
	target, err := c.readable(func(tx *channels.ReadTx) (found *instance, ok bool) {
		for _, sub := range tx.Subscriptions(from) {
			if i := c.engine.instances.byChannel[sub]; i != nil && i.key.instance == id {
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
func (c *Content) readable(find func(tx *channels.ReadTx) (*instance, bool)) (t readTarget, err error) {
	err = c.engine.locked(func(tx *channels.ReadTx) error {
		i, ok := find(tx)
		if !ok {
			return ahp.ErrNotFound
		}
		if i.current == nil {
			return errUnavailable.Wire() // restored, but not opened again yet
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

// read returns an encoded resource, from the cache if the provider says that it is still
// valid. The value is nil if the reader's own validator is. encode receives whether the
// same content was read before; it may return nil.
func (c *Content) read(ctx context.Context, t readTarget, path canvas.ContentPath, have, form string, encode func(r *contentjson.Resource, again bool) ahp.Value) (v ahp.Value, etag string, err error) {
	ctx, span := c.engine.trace.Start(ctx, "canvas read")
	defer func() { span.End(codeOf(err)) }()
	k := contentjson.Key{Channel: t.channel, Path: path.String(), Form: form}
	kept, known := c.cache.Get(k)
	ask, sent := have, c.pins.Current(k)
	switch {
	case kept.Value != nil:
		ask, sent = kept.ETag, nil
	case sent != nil:
		ask = sent.ETag
	}
	r, err := c.fetch(ctx, t, canvas.ReadRequest{Path: path, ETag: ask})
	if err == nil && r == nil && sent != nil && ask != have {
		own := *sent
		r = &own // what others receive now, and what the reader does not have
	}
	switch {
	case err != nil:
		return nil, "", err
	case r == nil && ask == have, r != nil && have != "" && r.ETag == have:
		return nil, have, nil
	case r == nil:
		return kept.Value, kept.ETag, nil
	}
	heavy.Do(len(r.Data), func() { v = encode(r, known && kept.ETag == r.ETag) })
	c.cache.Put(k, r.ETag, v)
	return v, r.ETag, nil
}

// fetch reads from the instance and checks the answer. It returns nil if the request's
// validator is still valid.
func (c *Content) fetch(ctx context.Context, t readTarget, req canvas.ReadRequest) (*contentjson.Resource, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.engine.timeouts.Read, errTimeout)
	defer cancel()
	found, err := c.find(ctx, t, req)
	if err != nil {
		return nil, c.readError(ctx, t, err)
	}
	if found.NotModified && req.ETag != "" {
		return nil, nil
	}
	if len(found.Data) > c.engine.limits.ContentBytes {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "the resource has %d bytes, at most %d are allowed", len(found.Data), c.engine.limits.ContentBytes).Wire()
	}
	at := req.Path
	if !found.Path.Empty() {
		at = found.Path
	}
	r := &contentjson.Resource{URI: at.URI(t.instance), ContentType: found.ContentType, ETag: found.ETag, Data: found.Data}
	if r.ContentType == "" {
		r.ContentType = canvas.ContentType(at)
	}
	heavy.Do(len(found.Data), func() { r.Text = contentjson.IsText(r.ContentType, found.Data) })
	return r, nil
}

// find reads a file that every instance has, or asks the instance.
func (c *Content) find(ctx context.Context, t readTarget, req canvas.ReadRequest) (canvas.Content, error) {
	file, ok := c.files[strings.Join(req.Path.Segments, "/")]
	if !ok || req.Path.Dir {
		return t.reader.Read(ctx, req)
	}
	file.NotModified = req.ETag == file.ETag
	return file, nil
}

// readError returns what a reader learns about a failure: that there is no such content,
// or a provider's code. Everything else is only logged.
func (c *Content) readError(ctx context.Context, t readTarget, err error) error {
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
	c.engine.logger.Warn("content not read", "channel", t.channel, "id", t.instance, "err", withoutPath(err))
	return canvas.Errorf(canvas.CodeHandlerError, "the canvas could not read this resource").Wire()
}

// withoutPath returns the cause of an error that names a path or an address: they can be
// from a client's URI, and the log has none. A cause that is not an error of the standard
// library is the provider's own text.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Op, withoutPath(e.Err))
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Errorf("%s: %w", e.Op, withoutPath(e.Err))
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", e.Op, withoutPath(e.Err))
	}
	return err
}
