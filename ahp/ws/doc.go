// Package ws is what the peer and the relay need of a WebSocket, and the guard
// of every door.
//
// gorilla/websocket does the upgrade and reads; all bytes after the upgrade are
// written here. Frames that are queued together leave in one write to the
// socket, shared bytes are framed without a copy of gorilla's buffers, and a
// large message leaves piecewise, so that progress can be measured. A client's
// frames are masked by the same code.
//
// # What it promises
//
//   - The reader never writes: pongs and close frames are sent by goroutines of
//     their own, which Wait waits for. Nothing that the peer does with its
//     reading side can stop us from reading.
//   - Close returns at once and a close frame is never put inside another frame.
//     The first cause wins, and every read and write after it returns that
//     cause as a *[CloseError].
//   - Every wait has an end: a write without progress (10 s, and up to 20 where the
//     socket took something in the first of them; CodeSlow), silence (60 s, CodeDead),
//     a closing handshake (1 s each way). The waits are such that testing/synctest's
//     clock sees them.
//   - Forward copies from one accepted connection to another with its own frame
//     reader, through bounded memory, and never completes what was cut. While a
//     direction waits for a message it holds no buffer.
//   - An idle connection holds 512 bytes of buffer, a timer, and no goroutine
//     but its reader.
//   - Compression is never negotiated; a message is bounded while it is read.
//
// # Ownership
//
// One goroutine calls ReadMessage, NextMessage or Forward, one writes: WriteBatch,
// TryWriteBatch, WriteFramed, TryWriteFramed, WriteParts and Stream. What a try has begun and
// the socket did not take is completed by a goroutine that Wait waits for, before
// anything else. Close, SetReadLimit and Err are anybody's. A deadline that fires spoils the
// connection for good: it is closed.
//
// # Departures from the design
//
// The design lets gorilla write a client's masked frames and its own control
// frames. gorilla writes control frames from inside a read, with a second of
// patience, and a client's long message as many small fragments; one writer for
// both sides is less code and keeps the two promises above.
//
// The design copies a relay's messages by gorilla's NextReader and NextWriter.
// Forward reads the sockets itself: all that has arrived leaves in one write,
// however many frames it is, and a mask is undone with the machine's widest
// registers. That is what reaches the kernel's splice (ahp/relay's benchmark).
//
// The package imports gorilla/websocket and nothing of ours.
package ws
