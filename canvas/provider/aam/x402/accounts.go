package x402

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Nodes checks smart accounts by nodes' JSON-RPC (eth_call of isValidSignature). It
// implements [Accounts].
type Nodes struct {
	// URLs has a node's address for each network by name.
	URLs map[string]string
	// HTTP sends the requests.
	HTTP Doer
}

// selector and magic are isValidSignature(bytes32,bytes) of ERC-1271: what is called, and
// what a contract answers that accepts.
const selector = "1626ba7e"

// Valid implements Accounts. The node must be one of the network: its chain id is asked
// with every check.
func (n *Nodes) Valid(ctx context.Context, on Network, account Address, digest [32]byte, sig []byte) (bool, error) {
	url := n.URLs[on.Name]
	if url == "" {
		return false, fmt.Errorf("no node is configured for %s", on.Name)
	}
	chain, err := n.call(ctx, url, "eth_chainId", ahp.Value("[]"))
	if err != nil {
		return false, err
	}
	id, ok := new(big.Int).SetString(strings.TrimPrefix(chain, "0x"), 16)
	if !ok || !id.IsUint64() || id.Uint64() != on.ChainID {
		return false, fmt.Errorf("the node is not one of %s", on.Name)
	}
	type call struct {
		To   Address `json:"to"`
		Data string  `json:"data"`
	}
	params := ahp.MustMarshal([]any{call{account, callData(digest, sig)}, "latest"})
	out, err := n.call(ctx, url, "eth_call", params)
	if errors.Is(err, errReverted) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return out == "0x"+selector+strings.Repeat("0", 56), nil
}

// callData is the call's selector and arguments: the digest, and the signature as bytes.
func callData(digest [32]byte, sig []byte) string {
	offset, size := number(64), number(uint64(len(sig)))
	padded := make([]byte, (len(sig)+31)/32*32)
	copy(padded, sig)
	return "0x" + selector + hex.EncodeToString(digest[:]) + hex.EncodeToString(offset[:]) +
		hex.EncodeToString(size[:]) + hex.EncodeToString(padded)
}

// errReverted is a contract's refusal.
var errReverted = errors.New("the call was reverted")

// reverted is the code of nodes for a call that was reverted.
const reverted = 3

func (n *Nodes) call(ctx context.Context, url, method string, params ahp.Value) (string, error) {
	raw, _, err := exchange(ctx, n.HTTP, url, ahp.MustMarshal(struct {
		Version string    `json:"jsonrpc"`
		ID      int       `json:"id"`
		Method  string    `json:"method"`
		Params  ahp.Value `json:"params"`
	}{"2.0", 1, method, params}))
	if err != nil {
		return "", err
	}
	var out struct {
		Result string `json:"result,omitzero"`
		Error  *struct {
			Code int       `json:"code"`
			Rest ahp.Value `json:",embed"`
		} `json:"error,omitzero"`
		Rest ahp.Value `json:",embed"`
	}
	if err := ahp.Unmarshal(raw, &out); err != nil {
		return "", errors.New("the node's answer is not JSON-RPC")
	}
	switch {
	case out.Error != nil && out.Error.Code == reverted:
		return "", errReverted
	case out.Error != nil:
		return "", fmt.Errorf("the node answers error %d", out.Error.Code)
	}
	return out.Result, nil
}
