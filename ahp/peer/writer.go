package peer

import "sync"

// The writer's role: who has it is the only one that writes. It is taken when
// something is queued (takeRole) and ends when nothing is. Its holder is
//
//   - a goroutine of its own, which may wait for the socket (write);
//   - the runner or a caller at the end of what it does (flush), or a flusher.
//     They never wait (tryWrite): what the socket does not take at once, a frame
//     that is not encoded yet and a bulk result go on in a goroutine.

// batchSize is how many bytes are handed to the connection at once.
const batchSize = 64 << 10

// startWriter gives the caller's role to somebody else. It may be called under
// any lock.
func (p *Peer) startWriter() {
	if p.conn.CanTry() {
		flushers.add(p)
	} else {
		go p.write(nil, 0, nil)
	}
}

// flush sees to what was queued quietly. The caller holds no lock, for it may
// write; one that is busy leaves that to somebody else.
func (p *Peer) flush(busy bool) {
	o := &p.out
	o.mu.Lock()
	begin := o.pooled != nil && p.takeRole()
	o.mu.Unlock()
	switch {
	case !begin:
	case busy || !p.conn.CanTry():
		p.startWriter()
	default:
		p.tryWrite()
	}
}

// tryWrite holds the role for a queue, and for one that came meanwhile.
func (p *Peer) tryWrite() {
	for range 2 {
		queue, result, drained := p.out.take()
		switch {
		case queue != nil:
			taken := p.tryQueue(*queue)
			if taken < len(*queue) {
				go p.write(queue, taken, nil)
				return
			}
			recycle(queue)
		case result != nil:
			go p.write(nil, 0, result)
			return
		default:
			p.endRole(drained)
			return
		}
	}
	p.startWriter()
}

// tryQueue returns how many of the frames are on their way.
func (p *Peer) tryQueue(frames []Frame) (taken int) {
	batch := batches.Get().(*[][]byte)
	defer recycleBatch(batch)
	for taken < len(frames) {
		n := p.tryRun(frames[taken:], batch)
		if taken += n; n < len(*batch) || n == 0 {
			break
		}
	}
	return taken
}

// tryRun is tryQueue for the first frames of a sort: texts, or what is framed.
func (p *Peer) tryRun(frames []Frame, batch *[][]byte) (taken int) {
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
		taken = p.conn.TryWriteFramed(*batch)
	} else {
		taken = p.conn.TryWriteBatch(*batch)
	}
	for i, f := range frames[:taken] {
		p.out.wrote(f, (*batch)[i])
	}
	return taken
}

// write holds the role until there is nothing more. It begins with what a try
// has left: a queue from a frame on, or a bulk result.
func (p *Peer) write(queue *[]Frame, from int, result *bulk) {
	for {
		var err error
		switch {
		case queue != nil:
			err = p.writeQueue((*queue)[from:])
			recycle(queue)
		case result != nil:
			err = p.conn.Stream(result.stream)
			result.after()
		}
		if err != nil {
			p.out.stop()
		}
		var drained func()
		if queue, result, drained = p.out.take(); queue == nil && result == nil {
			p.endRole(drained)
			return
		}
		from = 0
	}
}

// endRole comes after the take that found nothing.
func (p *Peer) endRole(drained func()) {
	if drained != nil {
		drained()
	}
	p.wg.Done()
}

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

// writeQueue hands the frames to the connection in batches and counts how many
// bytes of the budget they were.
func (p *Peer) writeQueue(frames []Frame) error {
	batch := batches.Get().(*[][]byte)
	defer recycleBatch(batch)
	for len(frames) > 0 {
		if j, ok := asJoined(frames[0]); ok && !p.conn.Masks() {
			if err := p.conn.WriteParts(j.size, j.parts); err != nil {
				return err
			}
			frames = frames[1:]
			continue
		}
		n, err := p.fill(batch, frames)
		if err == nil {
			err = p.writeRun(frames[:n], *batch)
		}
		if err != nil {
			return err
		}
		frames = frames[n:]
	}
	return nil
}

// fill makes a batch of the first frames of a sort and returns how many they are.
// Lazy frames are encoded when their turn comes, so that at most one large one is in
// memory, and count from then on.
func (p *Peer) fill(batch *[][]byte, frames []Frame) (int, error) {
	clear(*batch)
	*batch = (*batch)[:0]
	size, framed := 0, isFramed(frames[0])
	for n, f := range frames {
		if _, parts := asJoined(f); size >= batchSize || isFramed(f) != framed || n > 0 && parts {
			return n, nil
		}
		b := f.Bytes()
		if f.Size() == 0 && !isExempt(f) && !p.out.charge(len(b), p.opts.QueueBytes) {
			p.tooSlow()
			return 0, p.Err()
		}
		*batch = append(*batch, b)
		size += len(b)
	}
	return len(frames), nil
}

// writeRun writes the bytes of frames of one sort.
func (p *Peer) writeRun(frames []Frame, batch [][]byte) error {
	write := p.conn.WriteBatch
	if isFramed(frames[0]) {
		write = p.conn.WriteFramed
	}
	if err := write(batch); err != nil {
		return err
	}
	for i, f := range frames {
		p.out.wrote(f, batch[i])
	}
	return nil
}
