// Package sqlitestore is a channels.Store in one SQLite file. It uses
// modernc.org/sqlite, which needs no C compiler.
//
// # Guarantees
//
//   - Commit returns nil after the batch was written to the log (-wal) and the log was
//     synced (WAL, synchronous=FULL). Batches that wait during a sync share the next
//     one. No lock is held during a sync.
//   - Open reads and verifies the whole store. It returns the right state, or fails
//     with ErrStoreDamaged, ErrStoreNewer, ErrStoreBusy, ErrStoreReadOnly,
//     ErrStoreFull or ErrStoreBroken. The error names the file and says what to do.
//     If Open fails, it leaves the file and its log unchanged.
//   - If the disk is full, only the batches that do not fit fail (ErrStoreFull), and
//     the store continues. Any other failed write or sync is ErrStoreBroken for all
//     later calls. The system might have dropped the data that it could not write, so
//     the success of a retry would prove nothing.
//   - After Close, the file without any other is the whole store.
//
// # Files
//
// store.db has the two tables of tables.go. One has a row for each record, with the
// CRC-32C of key and value. The other has a single row, the manifest, which every
// commit writes. The manifest holds the store's id, the number of commits, the number
// of records, the sum of their checksums, and whether a host has the store open; it
// has the format's version and is protected by a CRC-32C. store.db-wal is the log, which
// Open fills with zeros (wal.go), and store.db-shm its index. store.db-lock is locked
// while a host has the store. It holds the host's process id and the mark, which is
// the number of the last acknowledged commit.
//
// # Detected damage
//
//   - A flipped bit or a truncation in a record, the manifest, or the pages around
//     them: by the checksums, the manifest, and SQLite's quick_check. The last also
//     checks structures such as the list of free pages, which no record shows and on
//     which later writes rely.
//   - Rows that were lost, doubled, or replaced by older ones: by the manifest.
//   - A log that was lost, truncated, damaged or emptied after the host was killed.
//     SQLite applies the readable part of a log without an error; the manifest then has
//     a lower number than the mark. The mark is not synced, so after a power failure it
//     might be older than the log. It is never newer.
//   - The same if the lock file is lost too, but only if there is no log. Open marks
//     store.db itself as open before it acknowledges any commit, so a copy of the file
//     alone, from a running or killed host, is refused.
//   - The log of another store, or of an earlier time, beside the file. SQLite would
//     apply it. So the file is first read without the log, and their ids and numbers
//     are compared.
//   - A file that is empty or missing while its log exists. A new store is written
//     under another name and then renamed, so store.db is never incomplete.
//
// # Undetected damage
//
//   - A log whose end was truncated, if the lock file is lost too or a power failure
//     left an old mark. The commits in the lost part are missing.
//   - An older copy of the whole store: that is a restored backup.
//   - Files that are removed or replaced while a host uses them. Later commits are lost
//     with the removed file.
//   - A change that keeps all checksums valid. The checksums protect against accidents,
//     not against an attacker who can write the folder.
//   - A disk that reports a sync and did not do it.
//
// # Concurrency
//
// The leader of the writer's queue (package groupcommit) owns the connection, the map
// from keys to rows and all other mutable state. A lone caller leads at once and
// commits in its own goroutine; concurrent callers wait and are committed as a group. A
// batch that waits is not yet accepted: Close refuses it, waits until it leads, and
// keeps the lead. A checkpoint runs in a goroutine that keeps the lead, so that no
// acknowledged caller waits for it.
//
// Check, Dump and Backup use their own connections. If a host has the store, they are
// one more reader. If a killed host left its log, they recover a copy.
//
// No other code in the process may open store.db as a file while a Store is open:
// closing that file would release SQLite's locks on it (POSIX).
//
// # Design choices
//
//   - A record's row has a number that the writer knows from memory. Without an index
//     on the key, setting a record writes fewer pages, and new records are on the same
//     pages. With 64 callers, that raised the rate from 12 to 20 times that of raw
//     syncs.
//   - database/sql opens the connection, but commits run the driver's own statements on
//     it (statements.go), which takes half the time.
//   - SQLite's locking_mode=EXCLUSIVE would exclude readers. The lock file does not.
//   - SQLite is built to use fsync, not fdatasync.
//
// The tests and benchmarks print what they measure. AHP_LONG=1 runs their long forms.
//
// The package imports channels, channels/lockfile, channels/groupcommit, modernc.org/sqlite and the standard library.
package sqlitestore
