// Package storetest is what every channels.Store must pass, in one call:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) func() (channels.Store, error) {
//			path := filepath.Join(t.TempDir(), "store.db")
//			return func() (channels.Store, error) { return Open(path) }
//		})
//	}
//
// It asks for what the interface promises while a machine stays up: that a batch
// is whole, that batches keep their order, that what was acknowledged is there
// when the store is opened again, that concurrent batches do not harm each other,
// the bounds of records, the refusals, and all of it against a model. What a
// crash, a full disk or a damaged file leaves is each implementation's own to
// prove.
//
// The package imports channels and the standard library.
package storetest
