// An agent with none of this project's code that uses a site from its manifest to a paid
// call: fetch, viem and jose. Prints the address of its issuer of AAM ID, then reads lines
// from standard input: the site's address, and what its person brings. Prints a JSON line
// for each step.
import { createServer } from "node:http";
import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { SignJWT, exportJWK, generateKeyPair } from "jose";
import { privateKeyToAccount } from "viem/accounts";

const vendor = "node.example";
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const read = async () => (await lines.next()).value;
const say = (step, value) => console.log(JSON.stringify({ step, value }));

const { publicKey, privateKey } = await generateKeyPair("RS256");
const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: "RS256", use: "sig", kid: "n1" }] };
const issuer = createServer((_, res) => res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(jwks)));
await new Promise((resolve) => issuer.listen(0, "127.0.0.1", resolve));
const iss = `http://127.0.0.1:${issuer.address().port}`;
say("issuer", iss);

const origin = await read();
const manifest = await (await fetch(`${origin}/.well-known/agent-actions.json`)).json();
say("manifest", { version: manifest.aam_version, actions: manifest.actions.map((a) => a.id).sort() });
const at = (id) => new URL(manifest.actions.find((a) => a.id === id).endpoint ?? `/api/aam/actions/${id}`, origin);

async function invoke(id, params, credential, payment) {
  const res = await fetch(at(id), {
    method: "POST", body: JSON.stringify(params),
    headers: {
      "Content-Type": "application/json", "X-Agent-Vendor": vendor, "X-Agent-Run-Id": `run_${randomBytes(6).toString("hex")}`,
      ...(credential ? { Authorization: `Bearer ${credential}` } : {}), ...(payment ? { "X-Payment": payment } : {}),
    },
  });
  return { status: res.status, body: await res.json() };
}

// The agent is refused, and the person asks the owner on the site's page.
const stranger = await invoke("add_card", { title: "Milk" });
say("stranger", { status: stranger.status, code: stranger.body.error.code });
const page = new URL(stranger.body.consent_url);
page.searchParams.set("vendor", vendor);
const form = await (await fetch(page)).text();
const action = new URL(/<form[^>]* action="([^"]+)"/.exec(form)[1], page);
const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(([, name, value]) => [name, value]);
const filed = await fetch(action, { method: "POST", body: new URLSearchParams(fields), headers: { Origin: page.origin } });
say("number", /id="number">([^<]+)</.exec(await filed.text())[1]);

// The owner's code, a token, and a free call.
const token = await (await fetch(new URL(manifest.auth.token_url ?? "/api/aam/token", origin), {
  method: "POST", body: JSON.stringify({ code: await read() }), headers: { "Content-Type": "application/json" },
})).json();
const free = await invoke("add_card", { title: "Milk" }, token.access_token);
say("free", { status: free.status, data: free.body.data });

// 402, a payment that viem signs, and the same payment again.
const asked = await invoke("buy", {}, token.access_token);
const { network, asset, payTo, maxAmountRequired, maxTimeoutSeconds, extra } = asked.body.accepts[0];
say("asked", { status: asked.status, network, maxAmountRequired });
const account = privateKeyToAccount(`0x${randomBytes(32).toString("hex")}`);
const now = Math.floor(Date.now() / 1000);
const authorization = { from: account.address, to: payTo, value: maxAmountRequired, validAfter: "0", validBefore: String(now + maxTimeoutSeconds), nonce: `0x${randomBytes(32).toString("hex")}` };
const signature = await account.signTypedData({
  domain: { ...extra, chainId: 84532, verifyingContract: asset }, primaryType: "TransferWithAuthorization",
  types: { TransferWithAuthorization: [["from", "address"], ["to", "address"], ["value", "uint256"], ["validAfter", "uint256"], ["validBefore", "uint256"], ["nonce", "bytes32"]].map(([name, type]) => ({ name, type })) },
  message: { ...authorization, value: BigInt(authorization.value), validAfter: 0n, validBefore: BigInt(authorization.validBefore) },
});
const payment = Buffer.from(JSON.stringify({ x402Version: 1, scheme: "exact", network, payload: { signature, authorization } })).toString("base64");
const paid = await invoke("buy", {}, token.access_token, payment);
say("paid", { status: paid.status, ok: paid.body.ok });
const twice = await invoke("buy", {}, token.access_token, payment);
say("twice", { status: twice.status, error: twice.body.error });

// A credential of AAM ID that jose signs; then the owner revokes the token.
const jwt = await new SignJWT({ agent_vendor: vendor, scopes: ["write:cards"], email_verified: true })
  .setProtectedHeader({ alg: "RS256", typ: "JWT", kid: "n1" }).setIssuer(iss).setSubject("alice@example.com").setAudience(manifest.site.domain).setIssuedAt().setExpirationTime("1h").sign(privateKey);
const known = await invoke("add_card", { title: "Bread" }, jwt);
say("credential", { status: known.status, data: known.body.data });
await read();
const revoked = await invoke("add_card", { title: "Milk" }, token.access_token);
say("revoked", { status: revoked.status, code: revoked.body.error.code });
issuer.close();
process.exit(0);
