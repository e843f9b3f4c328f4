// Package sqlitestore is a channels.Store in one SQLite file (modernc.org/sqlite,
// which needs no C compiler).
//
// # What it promises
//
//   - Commit returns nil when the batch is in the log (-wal) and the log is synced
//     (WAL, synchronous=FULL). Batches that wait while another is synced share the
//     next sync; no lock is held meanwhile.
//   - Open reads and verifies everything. It returns the right state or refuses:
//     ErrStoreDamaged, ErrStoreNewer, ErrStoreBusy, ErrStoreReadOnly, ErrStoreFull,
//     ErrStoreBroken (the disk fails), each naming the file and what a person can do.
//     A store that is refused is left as it was, with its log.
//   - A full disk fails the batches for which there is no room (ErrStoreFull) and
//     no other, and the store goes on. Any other failure to write or sync is
//     ErrStoreBroken, for good: the system may have dropped what it could not
//     write, so that a second try that succeeds would prove nothing.
//   - After Close the file alone is the whole store.
//
// # The files
//
// store.db holds the two tables of tables.go: a record per row, with the CRC-32C
// of its key and value, and one manifest row, which is written in each commit:
// the store's id, how many batches were committed, how many records there are, the
// sum of their checksums, and whether a host has the store open; with a CRC-32C
// and the version of the format. store.db-wal is the log, which is laid out in
// zeros at the start (wal.go), store.db-shm its index. store.db-lock is locked while
// a host has the store, and holds its process id and the mark: the number of the
// last batch that was acknowledged.
//
// # What is noticed
//
//   - A flipped bit or a cut in a record, in the manifest, or in the pages around
//     them: by the checksums, by the manifest, and by SQLite's quick_check, which
//     also finds what no record shows and later writes would rely on, such as the
//     list of free pages.
//   - Rows that were lost, doubled or replaced by older ones: by the manifest.
//   - A log that is lost, cut, damaged or empty after the host was killed: SQLite
//     takes what is readable of a log and says nothing. The manifest then has a
//     lower number than the mark. The mark is not synced, so after a power cut it
//     may be older than the log; it is never ahead of it.
//   - The same where the lock file is lost, too, but only if no log is there: Open
//     says "open" in store.db itself before anything is acknowledged, so that a
//     file that was copied alone from a running or killed host is refused.
//   - The log of another store, or of an earlier time, beside a file: SQLite would
//     apply it. The file without the log is read first; ids and numbers must fit.
//   - A file that is empty or missing while its log is there. A new store is made
//     under another name and renamed, so that store.db is never half made.
//
// # What is not noticed
//
//   - A log whose end was cut, when the lock file is lost as well, or after a power
//     cut that left an old mark: the batches in that end are missing.
//   - A whole older copy of the store that somebody put back: that is a restore.
//   - Files that are removed or replaced while a host uses them: what is committed
//     from then on is lost with the removed file.
//   - A change that keeps all checksums: they guard against accidents, not against
//     somebody who can write the folder.
//   - A disk that says it synced and did not.
//
// # Who owns what
//
// Whoever has the turn in the writer's line (package groupcommit) has the connection,
// the map from keys to rows and everything else that changes: a caller who comes
// alone commits in its own goroutine, others wait and are taken along. A batch that
// waits is its caller's; Close refuses it, waits for its turn, and keeps that. A
// checkpoint runs in a goroutine that has the turn, so that nobody who was answered
// waits for it.
// Check, Dump and Backup use connections of their own; beside a host they are one
// more reader, and a store that a killed host left they recover in a copy.
//
// Nothing else in the process may open store.db as a file while a Store is open:
// closing it would take away the locks that SQLite has on it (POSIX).
//
// # Departures
//
//   - Design: rows by key. Here: rows by a number that the writer knows from
//     memory. Without an index a set writes fewer pages, and new records stand
//     together: at 64 callers that took the rate from about 12 to about 20 raw syncs.
//   - database/sql makes and holds the connection; commits run the driver's own
//     statements on it (statements.go), which take half of database/sql's time.
//   - SQLite's locking_mode=EXCLUSIVE would keep readers away. The lock file does
//     not.
//   - fsync, not fdatasync: it is what this SQLite is built with.
//
// # Figures
//
// The evidence is in the package's tests and benchmarks, which print what they
// measure; AHP_LONG=1 runs their long forms.
//
// The package imports channels, channels/lockfile, channels/groupcommit, modernc.org/sqlite and the standard library.
package sqlitestore
