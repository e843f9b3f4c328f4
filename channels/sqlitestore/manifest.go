package sqlitestore

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"strconv"
)

// format is the version of the format that this package reads and writes. Every
// version must keep the table "manifest" with its columns format, body and crc, and
// the way crc is computed, so that an older program recognizes a newer store.
const format = 1

// manifest describes the store as a whole. Every commit writes it.
type manifest struct {
	Store   string `json:"store"`   // random, 16 hex digits; a backup has another one
	Commits uint64 `json:"commits"` // only increases
	Records int    `json:"records"`
	Sum     uint64 `json:"sum"`  // of the records' checksums, modulo 2^64
	Open    bool   `json:"open"` // a host has it open, or did not close it
}

// newManifest returns the manifest of an empty store.
func newManifest() manifest {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return manifest{Store: hex.EncodeToString(id[:])}
}

// encode returns the columns body and crc.
func (m manifest) encode() (body string, crc int64) {
	b, _ := json.Marshal(m) // cannot fail for these fields
	return string(b), int64(manifestSum(format, string(b)))
}

var errManifest = errors.New("its manifest does not match its checksum")

// decodeManifest decodes and verifies a manifest. If it returns no error, the version
// is verified too, even if it is a newer one, whose body is not decoded.
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

// recordSum returns the checksum of a record. It covers the length of the key, so that
// it notices a byte that moved from the key to the value.
func recordSum(key, value []byte) uint32 {
	sum := crc32.Update(0, castagnoli, strconv.AppendInt(nil, int64(len(key)), 10))
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, value)
}
