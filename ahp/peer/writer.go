package peer

import "sync"

// Only the goroutine with the writer role writes. The role begins when a frame is
// queued (takeRole) and ends when the queue is empty (endRole). A goroutine with the
// role is one of these:
//
//   - A goroutine that runs write. It might wait for the socket.
//   - The runner or a caller (flush), or a flusher. They run tryWrite, which never
//     waits. It starts a goroutine with write for bytes that the socket does not take
//     at once, for frames that are not encoded yet and for large results.

// batchSize is about how many bytes are passed to the connection at once.
const batchSize = 64 << 10

// startWriter passes the caller's writer role to another goroutine. It may be called
// under any lock.
func (o *outbox) startWriter() {
	if o.conn.CanTry() && o.rewrite.Load() == nil {
		flushers.add(o)
	} else {
		go o.write(nil, 0, nil)
	}
}

// flush writes the frames that pushUnflushed has queued. The caller must hold no
// lock. If it is busy, another goroutine writes.
func (o *outbox) flush(busy bool) {
	o.mu.Lock()
	begin := o.pooled != nil && o.takeRole()
	o.mu.Unlock()
	switch {
	case !begin:
	case busy || !o.conn.CanTry() || o.rewrite.Load() != nil:
		o.startWriter()
	default:
		o.tryWrite()
	}
}

// tryWrite writes the queue without waiting, and then once more the frames that were
// queued meanwhile. The caller has the writer role and loses it.
func (o *outbox) tryWrite() {
	for range 2 {
		queue, result, drained := o.take()
		switch {
		case queue != nil:
			taken := o.tryQueue(*queue)
			if taken < len(*queue) {
				go o.write(queue, taken, nil)
				return
			}
			recycle(queue)
		case result != nil:
			go o.write(nil, 0, result)
			return
		default:
			o.endRole(drained)
			return
		}
	}
	o.startWriter()
}

// tryQueue writes frames without waiting, and returns how many were taken.
func (o *outbox) tryQueue(frames []Frame) (taken int) {
	if o.rewrite.Load() != nil {
		return 0 // rewriting takes a while
	}
	batch := batches.Get().(*[][]byte)
	defer recycleBatch(batch)
	for taken < len(frames) {
		n := o.tryRun(frames[taken:], batch)
		if taken += n; n < len(*batch) || n == 0 {
			break
		}
	}
	return taken
}

// tryRun is tryQueue for the leading frames that are all JSON texts, or all framed.
func (o *outbox) tryRun(frames []Frame, batch *[][]byte) (taken int) {
	clear(*batch)
	*batch = (*batch)[:0]
	framed := isFramed(frames[0])
	for _, f := range frames {
		if f.Size() == 0 || isFramed(f) != framed {
			break
		}
		*batch = append(*batch, f.Bytes())
	}
	if framed {
		taken = o.conn.TryWriteFramed(*batch)
	} else {
		taken = o.conn.TryWriteBatch(*batch)
	}
	for i, f := range frames[:taken] {
		o.wrote(f, (*batch)[i])
	}
	return taken
}

// write writes until nothing is queued, and waits for the socket if it must. It has
// the writer role. It begins with the frames that tryWrite left: queue[from:] or a
// large result.
func (o *outbox) write(queue *[]Frame, from int, result *bulk) {
	for {
		var err error
		switch {
		case queue != nil:
			err = o.writeQueue((*queue)[from:])
			recycle(queue)
		case result != nil:
			err = o.conn.Stream(result.stream)
			result.after()
		}
		if err != nil {
			o.stop()
		}
		var drained func()
		if queue, result, drained = o.take(); queue == nil && result == nil {
			o.endRole(drained)
			return
		}
		from = 0
	}
}

// endRole ends the writer role, after take found nothing.
func (o *outbox) endRole(drained func()) {
	if drained != nil {
		drained()
	}
	o.writers.Done()
}

// recycle returns a queue to the pool.
func recycle(queue *[]Frame) {
	if cap(*queue) > keepFrames {
		return
	}
	clear(*queue)
	*queue = (*queue)[:0]
	queues.Put(queue)
}

var batches = sync.Pool{New: func() any { b := make([][]byte, 0, 64); return &b }}

func recycleBatch(batch *[][]byte) {
	clear(*batch)
	*batch = (*batch)[:0]
	batches.Put(batch)
}

// writeQueue passes frames to the connection in batches, and counts the written bytes.
func (o *outbox) writeQueue(frames []Frame) error {
	batch := batches.Get().(*[][]byte)
	defer recycleBatch(batch)
	if rewrite := o.rewrite.Load(); rewrite != nil {
		return o.writeRewritten(frames, *rewrite)
	}
	for len(frames) > 0 {
		if inParts(frames[0]) && !o.conn.Masks() {
			j, _ := asParts(frames[0])
			if err := o.conn.WriteParts(j.size, j.parts); err != nil {
				return err
			}
			o.wrote(frames[0], nil)
			frames = frames[1:]
			continue
		}
		n, err := o.fill(batch, frames)
		if err == nil {
			err = o.writeRun(frames[:n], *batch)
		}
		if err != nil {
			return err
		}
		frames = frames[n:]
	}
	return nil
}

// writeRewritten passes what rewrite makes of each frame to the connection.
func (o *outbox) writeRewritten(frames []Frame, rewrite func([]byte) [][]byte) error {
	for _, f := range frames {
		b := f.Bytes()
		if f.Size() == 0 && !isExempt(f) && !o.charge(len(b), o.opts.QueueBytes) {
			o.tooSlow()
			return o.conn.Err()
		}
		if sent := rewrite(b); len(sent) > 0 {
			if err := o.conn.WriteBatch(sent); err != nil {
				return err
			}
		}
		o.wrote(f, b)
	}
	return nil
}

// fill makes a batch of the leading frames that are all JSON texts, or all framed, and
// returns how many they are. It encodes lazy frames, which count from then on, so
// that at most one large one is in memory.
func (o *outbox) fill(batch *[][]byte, frames []Frame) (int, error) {
	clear(*batch)
	*batch = (*batch)[:0]
	size, framed := 0, isFramed(frames[0])
	for n, f := range frames {
		if size >= batchSize || isFramed(f) != framed || n > 0 && inParts(f) {
			return n, nil
		}
		b := f.Bytes()
		if f.Size() == 0 && !isExempt(f) && !o.charge(len(b), o.opts.QueueBytes) {
			o.tooSlow()
			return 0, o.conn.Err()
		}
		*batch = append(*batch, b)
		size += len(b)
	}
	return len(frames), nil
}

// writeRun writes the batch that fill made of frames.
func (o *outbox) writeRun(frames []Frame, batch [][]byte) error {
	write := o.conn.WriteBatch
	if isFramed(frames[0]) {
		write = o.conn.WriteFramed
	}
	if err := write(batch); err != nil {
		return err
	}
	for i, f := range frames {
		o.wrote(f, batch[i])
	}
	return nil
}
