package sqlitestore

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"strconv"
)

// format is the version of the store's form that this package writes. Every
// version keeps the table "manifest" with its columns format, body and crc, and
// what crc covers: that is how an older program knows a newer store.
const format = 1

// manifest is what holds for the store as a whole. It changes in every commit,
// together with the records that it speaks of.
type manifest struct {
	Store   string `json:"store"`   // random, 16 hex digits: a backup is another store
	Commits uint64 `json:"commits"` // never goes back
	Records int    `json:"records"`
	Sum     uint64 `json:"sum"`  // of the records' checksums, modulo 2^64
	Open    bool   `json:"open"` // a host has it, or had it and did not close it
}

// newManifest is that of an empty store.
func newManifest() manifest {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return manifest{Store: hex.EncodeToString(id[:])}
}

// encode returns the columns body and crc.
func (m manifest) encode() (body string, crc int64) {
	b, _ := json.Marshal(m) // plain members: never fails
	return string(b), int64(manifestSum(format, string(b)))
}

var errManifest = errors.New("its manifest does not match its checksum")

// decodeManifest is the inverse. The format of what it returns is known to be
// right, also where it is a newer one.
func decodeManifest(version int64, body string, crc int64) (manifest, error) {
	var m manifest
	if int64(manifestSum(version, body)) != crc {
		return m, errManifest
	}
	if version != format {
		return m, nil
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return m, err
	}
	return m, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func manifestSum(version int64, body string) uint32 {
	return crc32.Checksum(append(strconv.AppendInt(nil, version, 10), "\n"+body...), castagnoli)
}

// recordSum is the checksum of a record. The length of the key is part of it: no
// byte can move from the key to the value.
func recordSum(key, value []byte) uint32 {
	sum := crc32.Update(0, castagnoli, strconv.AppendInt(nil, int64(len(key)), 10))
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, value)
}
