package x402

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// walletTimeout is how long a person has to confirm in the wallet.
const walletTimeout = 2 * time.Minute

// maxWalletOutput is more than the longest signature.
const maxWalletOutput = 8 << 10

// Wallet is a person's wallet as a program, for any network of this package. It implements
// [Signer]. The program is executed directly, without a shell:
//
//	PROGRAM address NETWORK   prints the address that pays there
//	PROGRAM sign              reads typed data (EIP-712) as JSON, prints the signature
//
// Both print one line that begins with 0x. Another exit status than 0 is a refusal.
type Wallet struct {
	// Program is the path of the program.
	Program string
	// Accounts has the address of each network by name; see OpenWallet.
	Accounts map[string]Address
}

// OpenWallet asks the program for its addresses. A network for which it fails is one where
// it does not pay.
func OpenWallet(ctx context.Context, program string) (*Wallet, error) {
	w := &Wallet{Program: program, Accounts: map[string]Address{}}
	var last error
	for _, name := range []string{Base, BaseSepolia} {
		line, err := w.run(ctx, nil, "address", name)
		if err != nil {
			last = err
			continue
		}
		if w.Accounts[name], err = ParseAddress(line); err != nil {
			return nil, fmt.Errorf("wallet: %w", err)
		}
	}
	if len(w.Accounts) == 0 {
		return nil, fmt.Errorf("wallet has no address: %w", last)
	}
	return w, nil
}

// Address implements Signer.
func (w *Wallet) Address(n Network) (Address, bool) {
	a, ok := w.Accounts[n.Name]
	return a, ok
}

// Sign implements Signer. A signature of 65 bytes must be the account's.
func (w *Wallet) Sign(ctx context.Context, data TypedData) ([]byte, error) {
	line, err := w.run(ctx, data.JSON(), "sign")
	if err != nil {
		return nil, err
	}
	sig, err := hex.DecodeString(strings.TrimPrefix(line, "0x"))
	if err != nil || len(sig) < 65 || len(sig) > maxSignature {
		return nil, errors.New("the wallet printed no signature")
	}
	if signer, ok := Recover(data.Digest(), sig); len(sig) == 65 && (!ok || signer != data.Authorization.From) {
		return nil, errors.New("the wallet signed with another account, or something else")
	}
	return sig, nil
}

// run executes the program and returns the line that it printed. What it writes to its
// standard error is not kept.
func (w *Wallet) run(ctx context.Context, in []byte, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, walletTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.Program, args...)
	cmd.Stdin = bytes.NewReader(in)
	out := &limited{max: maxWalletOutput}
	cmd.Stdout = out
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return "", fmt.Errorf("the wallet refused: exit status %d", exit.ExitCode())
		}
		return "", errors.New("the wallet program cannot be run")
	}
	line := strings.TrimSpace(string(out.b))
	if !strings.HasPrefix(line, "0x") || strings.ContainsAny(line, "\r\n") {
		return "", errors.New("the wallet printed no line that begins with 0x")
	}
	return line, nil
}

// limited keeps the first bytes that are written to it.
type limited struct {
	b   []byte
	max int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	l.b = append(l.b, p[:min(len(p), l.max-len(l.b))]...)
	return len(p), nil
}
