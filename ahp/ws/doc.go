// Package ws is the WebSocket of the peer and of the relay, and the guard of every
// endpoint.
//
// gorilla/websocket performs the upgrade and reads. This package writes all bytes
// after the upgrade. Queued frames share one write to the socket, shared bytes are
// framed without copying them into gorilla's buffers, and a large message is written
// in pieces, so that progress can be measured. The same code masks a client's frames.
//
// # What it promises
//
//   - The reader never writes. Other goroutines, which Wait waits for, send pongs and
//     close frames. So a peer that does not read cannot stop this side from reading.
//   - Close returns at once, and a close frame never interrupts another frame. The
//     first cause of the end is kept, and every later read and write returns it as a
//     *[CloseError].
//   - Every wait is limited: a write without progress (10 s, or up to 20 s if the
//     socket took something in the first 10; CodeSlow), silence (60 s, CodeDead), and
//     the closing handshake (1 s for each half). A testing/synctest bubble sees all
//     these waits.
//   - A connection can be sealed (Seal): a codec encrypts each frame, and a frame that it
//     cannot decrypt ends the connection with CodeSealBroken. Nothing clear is written or
//     read from then on, except control frames.
//   - Forward copies from one accepted connection to another, with a separate
//     frame reader and bounded memory. It never completes a message that was cut. A
//     direction that waits for a message holds no buffer.
//   - ReadAhead sees the end of an accepted connection that nothing reads yet, and
//     Forward writes what it read.
//   - An idle connection holds 512 bytes of buffer, a timer, and no goroutine except
//     its reader.
//   - Compression is never negotiated. The size of a message is limited while it is
//     read.
//
// # Concurrency
//
// One goroutine at a time may call ReadMessage, NextMessage, ReadAhead or Forward. One at a time
// may write, with WriteBatch, TryWriteBatch, WriteFramed, TryWriteFramed, WriteParts or
// Stream. If a try begins a frame that the socket does not take, a goroutine that Wait
// waits for completes it before any other write. Close, SetReadLimit and Err may be
// called at any time. After a deadline has expired, a connection cannot be used any
// more, and is closed.
//
// # Why gorilla neither writes nor forwards
//
// gorilla writes control frames inside a read, for up to a second, and a client's
// long message as many small fragments. One writer for both sides is less code and
// keeps the first two promises.
//
// Forward reads the sockets directly and does not use gorilla's NextReader and
// NextWriter: all bytes that have arrived leave in one write, however many frames
// they are, and unmasking uses the machine's widest registers. So it is nearly as fast
// as the kernel's splice (see ahp/relay's benchmark).
//
// The package imports gorilla/websocket and ahp/heavy.
package ws
